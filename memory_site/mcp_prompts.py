"""MCP prompts: what a person asks a host to do with this world. Each brings what is known of its
subject, as the caller may know it."""

from collections.abc import Callable
from dataclasses import dataclass

import mcp_types as types

from memory_site import toolbox
from memory_site.mcp_resources import MOST_COMPLETIONS, complete
from memory_site.mcp_text import to_text
from npcs.lookup import find_npc
from retrieval.errors import Invalid, NotFound
from worlds.callers import Caller
from worlds.lookup import find_party
from worlds.models import Party

Arguments = dict[str, str]
PARTY = types.PromptArgument(name="party", description="Id or name of the party.", required=True)
NPC_NAME = types.PromptArgument(name="npc", description="Id or name of the NPC.", required=True)


@dataclass(frozen=True)
class PromptTemplate:
    name: str
    title: str
    description: str
    arguments: tuple[types.PromptArgument, ...]
    write: Callable[[Arguments, Caller], str]

    def as_mcp(self) -> types.Prompt:
        return types.Prompt(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=list(self.arguments),
        )


def ask_tool(name: str, arguments: dict[str, object], caller: Caller) -> str:
    return to_text(toolbox.call_tool(name, arguments, caller, via="mcp").as_compact_json())


def known_past(reference: str, episodes: int, caller: Caller) -> str:
    """Return the last episodes as the party knows them, also for game masters: players read or hear
    what a model makes of it."""
    arguments: dict[str, object] = {"party_id": reference, "k": episodes}
    if caller.audience.is_gm:
        arguments["as"] = f"party:{find_party(caller.world, reference, caller.campaign).slug}"
    return ask_tool("session_fetch", arguments, caller)


def write_scene(arguments: Arguments, caller: Caller) -> str:
    party = arguments["party"]
    return SCENE.format(
        party=party,
        past=known_past(party, 3, caller),
        action=arguments.get("action") or "They look around.",
    )


def write_recap(arguments: Arguments, caller: Caller) -> str:
    party = arguments["party"]
    return RECAP.format(party=party, past=known_past(party, 5, caller))


def write_portrait(arguments: Arguments, caller: Caller) -> str:
    """Of a game master's caller with what the NPC knows itself: it has secrets that it does not."""
    asked: dict[str, object] = {"npc_id": arguments["npc"]}
    if caller.audience.is_gm:
        npc = find_npc(caller.world, arguments["npc"], resembling=True)
        asked |= {"npc_id": npc.slug, "as": f"npc:{npc.slug}"}
    if party := arguments.get("party"):
        asked["party_id"] = party
    return PORTRAIT.format(profile=ask_tool("npc_profile", asked, caller))


def write_check(arguments: Arguments, _caller: Caller) -> str:
    return CHECK.format(text=arguments["text"])


SCENE = """\
You are the game master for the party {party}. Look up every rule (rules_lookup), place or thing \
(lore_search) and person (npc_profile) with the tools before you state it, with the party as the \
audience. What the tools do not show, you do not know. Answer in two to five sentences.

What happened last:
{past}

The players: {action}"""
RECAP = """\
Tell the players of {party} what happened last time, in one paragraph that can be read aloud in a \
minute. Use this alone; invent nothing and explain no secret:

{past}"""
PORTRAIT = """\
Speak as this character, in the first person and in their voice. What they think of the party \
decides how much they say. They know what stands here and nothing else:

{profile}"""
CHECK = """\
Compare this text with the world. Take its statements one by one: check each with lore_assert, and \
rules with rules_lookup. List what contradicts the world with its source, then what the world does \
not know, then what agrees. Change nothing.

{text}"""

PROMPTS = (
    PromptTemplate(
        "scene",
        "Play a scene",
        "The game master's answer to what the players do.",
        (
            PARTY,
            types.PromptArgument(name="action", description="What the players say or do."),
        ),
        write_scene,
    ),
    PromptTemplate(
        "recap",
        "What happened last time",
        "A recap to read aloud, with what the party knows.",
        (PARTY,),
        write_recap,
    ),
    PromptTemplate(
        "portrait",
        "Speak as an NPC",
        "The NPC in their own voice, with what they think of the party.",
        (NPC_NAME, types.PromptArgument(name="party", description="Id or name of the party.")),
        write_portrait,
    ),
    PromptTemplate(
        "check",
        "Check a text against the world",
        "What of a draft contradicts the lore or the rules.",
        (types.PromptArgument(name="text", description="The draft.", required=True),),
        write_check,
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def get(name: str, arguments: Arguments, caller: Caller) -> types.GetPromptResult:
    """Return the prompt called `name`; raises `NotFound` or `Invalid`."""
    if name not in _BY_NAME:
        raise NotFound(f"There is no prompt {name[:80]!r}.", candidates=list(_BY_NAME))
    prompt = _BY_NAME[name]
    for argument in prompt.arguments:
        if argument.required and not arguments.get(argument.name, "").strip():
            raise Invalid(f"The prompt {name} needs the argument {argument.name}.")
    text = types.TextContent(text=prompt.write(arguments, caller))
    message = types.PromptMessage(role="user", content=text)
    return types.GetPromptResult(description=prompt.description, messages=[message])


def complete_argument(argument: str, start: str, caller: Caller) -> list[str]:
    """Return the ids of parties or NPCs that begin with `start`; none for other arguments."""
    if argument == "npc":
        return complete("npc", start, caller)
    if argument != "party":
        return []
    rows = Party.objects.filter(campaign__world=caller.world, slug__istartswith=start)
    if caller.campaign:
        rows = rows.filter(campaign=caller.campaign)
    if not caller.audience.is_gm:
        rows = rows.filter(slug=caller.audience.party_slug)
    return list(rows.order_by("slug").values_list("slug", flat=True)[:MOST_COMPLETIONS])
