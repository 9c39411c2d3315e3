"""MCP resources: m37://rules/{id}, m37://lore/{id}, m37://npc/{id}, m37://episode/{id}."""

from collections.abc import Callable

import mcp_types as types

from episodes.lookup import find_episode
from episodes.queries import present_episode
from knowledge.models import Lore, LorePassage
from memory_site import toolbox
from memory_site.mcp_text import to_text
from retrieval.errors import NotFound
from worlds.callers import Caller

Reader = Callable[[str, Caller], str]

TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"m37://{kind}/{{id}}", name=kind, title=title, mime_type="text/markdown"
    )
    for kind, title in {
        "rules": "A rule",
        "lore": "A lore entry",
        "npc": "A character",
        "episode": "A scene",
    }.items()
]
PAGE = 50


def read(uri: str, caller: Caller) -> str:
    """Return the text at `uri` as far as `caller` may know it; raises `NotFound`."""
    kind, _slash, reference = uri.removeprefix("m37://").partition("/")
    if not uri.startswith("m37://") or not reference or kind not in _READERS:
        raise NotFound(
            f"There is no resource {uri[:200]!r}.",
            candidates=[each.uri_template for each in TEMPLATES],
        )
    return _READERS[kind](reference, caller)


def tool_reader(tool: str, argument: str) -> Reader:
    return lambda reference, caller: to_text(
        toolbox.call_tool(tool, {argument: reference}, caller, via="mcp").as_json()
    )


def read_lore(reference: str, caller: Caller) -> str:
    """Return the passages of an entry that the caller may know, in their order."""
    rows = LorePassage.objects.in_world(caller.world).only_published().visible_to(caller.audience)
    rows = rows.known_in(caller.campaign, caller.audience).filter(lore__slug=reference)
    texts = list(rows.order_by("lore", "position").values_list("text", flat=True))
    if not texts:
        raise NotFound(f"There is no lore entry {reference[:200]!r} here.")
    return "\n\n".join(texts)


def read_episode(reference: str, caller: Caller) -> str:
    episode = find_episode(caller.world, reference, caller.audience, campaign=caller.campaign)
    if episode.retracted_at:
        raise NotFound(f"There is no episode {reference[:200]!r} here.")
    return to_text(present_episode(episode, caller.audience).model_dump(mode="json"))


_READERS: dict[str, Reader] = {
    "rules": tool_reader("rules_lookup", "rule_id"),
    "npc": tool_reader("npc_profile", "npc_id"),
    "lore": read_lore,
    "episode": read_episode,
}


def page(caller: Caller, cursor: str | None) -> tuple[list[types.Resource], str | None]:
    """Return the next lore entries that `caller` may know of, and the cursor of the next page."""
    entries = Lore.objects.in_world(caller.world).only_published().visible_to(caller.audience)
    entries = entries.known_in(caller.campaign, caller.audience)
    if cursor:
        entries = entries.filter(slug__gt=cursor)
    rows = list(entries.order_by("slug").values_list("slug", "title")[: PAGE + 1])
    resources = [
        types.Resource(uri=f"m37://lore/{slug}", name=slug, title=title, mime_type="text/markdown")
        for slug, title in rows[:PAGE]
    ]
    return resources, rows[PAGE - 1][0] if len(rows) > PAGE else None
