"""The tool `session_fetch`: what has happened to a party."""

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import BaseModel, Field

from episodes.lookup import find_scene
from episodes.models import Episode
from episodes.queries import find_episodes, fit_to_budget, latest_episodes
from episodes.schemas import EpisodeOut
from retrieval.errors import NotFound
from worlds.base_schemas import DEFAULT_CHARS, MAX_K, MaxChars, ReadAs
from worlds.callers import Caller
from worlds.lookup import find_party, misread
from worlds.models import Party
from worlds.tool_args import ToolRequest

Reference = Annotated[str | None, Field(max_length=200)]


class SessionFetch(ToolRequest):
    party_id: Annotated[
        str, Field(min_length=1, max_length=200, description="Id or name of the party.")
    ]
    k: Annotated[int, Field(ge=1, le=MAX_K, description="How many summaries.")] = 8
    campaign_id: Reference = None
    scene_id: Reference = None
    query: Annotated[
        str | None,
        Field(max_length=100_000, description="What to look for; without it the latest."),
    ] = None
    max_chars: MaxChars = None


class SessionFetched(BaseModel):
    """Summaries, the latest or the best matching first."""

    party_id: str
    episodes: list[EpisodeOut]
    truncated: bool = False
    degraded: list[str] = []
    read_as: ReadAs = {}


def session_fetch(ask: SessionFetch, caller: Caller) -> SessionFetched:
    """What has happened to a party: its latest episodes, or with `query` those that match it best.

    Use it to recall earlier scenes, promises and events. Not for lasting facts of the world: that
    is `lore_search`. Example: {"party_id": "lanternbearers", "query": "the deal with the smuggler"}
    """
    if caller.audience.kind == "npc":
        # An episode is the party's. The same for every party, so that nothing is told of one.
        detail = _(
            "Episodes of a party are not for NPCs. What an NPC remembers is in memory_ask, and in "
            "npc_profile with `about`."
        )
        raise NotFound(detail)
    scene = (
        find_scene(
            caller.world,
            ask.scene_id,
            caller.audience,
            campaign=caller.campaign,
            resembling=True,
        )
        if ask.scene_id
        else None
    )
    scene_id = scene.pk if scene else None
    party_id, degraded = ask.party_id, list[str]()
    read_as = misread(ask.scene_id, scene.title, scene.external_id) if scene else {}
    if ask.query and ask.query.strip():
        party = find_asked_party(ask, caller)
        read_as |= misread(ask.party_id, party.name, party.slug)
        party_id = party.slug
        rows = Episode.objects.in_world(caller.world).of_party(party).visible_to(caller.audience)
        rows = rows.not_retracted().filter(**({"scene": scene} if scene else {}))
        hits = find_episodes(rows, ask.query, k=ask.k, world=caller.world, audience=caller.audience)
        episodes, degraded = hits.episodes, hits.degraded
    else:
        # A party named by its slug needs one statement only; any other name is resolved first.
        latest = None
        if not ask.campaign_id:
            latest = latest_episodes(caller, party_id, k=ask.k, scene=scene_id)
        if latest is None:
            party = find_asked_party(ask, caller)
            party_id, read_as = party.slug, read_as | misread(ask.party_id, party.name, party.slug)
            latest = latest_episodes(caller, party_id, k=ask.k, scene=scene_id)
        episodes = latest or []
    episodes, truncated = fit_to_budget(episodes, ask.max_chars or DEFAULT_CHARS)
    return SessionFetched(
        party_id=party_id,
        episodes=episodes,
        truncated=truncated,
        degraded=degraded,
        read_as=read_as,
    )


def find_asked_party(ask: SessionFetch, caller: Caller) -> Party:
    """Return the party that `ask` names; raises NotFound when it does not play in the campaign
    named beside it.
    """
    party = find_party(
        caller.world, ask.party_id, caller.campaign, audience=caller.audience, resembling=True
    )
    names = (party.campaign.slug, party.campaign.name, str(party.campaign.pk))
    if ask.campaign_id and ask.campaign_id not in names:
        raise NotFound(
            f"{party.name} does not play in {ask.campaign_id!r}.", candidates=[party.campaign.slug]
        )
    return party
