"""The tool that tells what has happened."""

from typing import Annotated

from pydantic import BaseModel, Field

from episodes.lookup import find_scene
from episodes.models import Scene
from episodes.queries import episodes_of_party, fit_to_budget, latest_episodes, search_episodes
from episodes.schemas import EpisodeOut
from retrieval.errors import NotFound
from worlds.base_schemas import DEFAULT_CHARS, LARGEST_K, MaxChars
from worlds.callers import Caller
from worlds.lookup import find_party
from worlds.models import Party
from worlds.tool_args import Ask

Reference = Annotated[str | None, Field(max_length=200)]


class SessionFetch(Ask):
    party_id: Annotated[
        str, Field(min_length=1, max_length=200, description="Id or name of the party.")
    ]
    k: Annotated[int, Field(ge=1, le=LARGEST_K, description="How many summaries.")] = 8
    campaign_id: Reference = None
    scene_id: Reference = None
    query: Annotated[
        str | None,
        Field(max_length=100_000, description="What to look for; without it the latest."),
    ] = None
    max_chars: MaxChars = None


class SessionFetched(BaseModel):
    """Summaries, the latest or the best fitting first."""

    party_id: str
    episodes: list[EpisodeOut]
    truncated: bool = False
    degraded: list[str] = []


def session_fetch(ask: SessionFetch, caller: Caller) -> SessionFetched:
    """What has happened to a party: its latest episodes, or with `query` those that fit it best.

    Use it to recall earlier scenes, promises and events. Not for lasting facts of the world: that is `lore_search`.
    Example: {"party_id": "lanternbearers", "query": "the deal with the smuggler"}
    """
    scene = find_scene(caller.world, ask.scene_id, caller.audience) if ask.scene_id else None
    way = _by_meaning if ask.query and ask.query.strip() else _by_time
    told = way(ask, caller, scene)
    told.episodes, told.truncated = fit_to_budget(told.episodes, ask.max_chars or DEFAULT_CHARS)
    return told


def _by_time(ask: SessionFetch, caller: Caller, scene: Scene | None) -> SessionFetched:
    """One statement when the party is named by its id; by another name it is looked up first."""
    party_id, scene_id = ask.party_id, scene.pk if scene else None
    found = None if ask.campaign_id else latest_episodes(caller, party_id, k=ask.k, scene=scene_id)
    if found is None:
        party_id = _party(ask, caller).slug
        found = latest_episodes(caller, party_id, k=ask.k, scene=scene_id) or []
    return SessionFetched(party_id=party_id, episodes=found)


def _by_meaning(ask: SessionFetch, caller: Caller, scene: Scene | None) -> SessionFetched:
    party = _party(ask, caller)
    rows = episodes_of_party(caller.world, party, caller.audience)
    if scene:
        rows = rows.filter(scene=scene)
    found = search_episodes(
        rows, ask.query or "", k=ask.k, world=caller.world, audience=caller.audience
    )
    return SessionFetched(party_id=party.slug, episodes=found.episodes, degraded=found.degraded)


def _party(ask: SessionFetch, caller: Caller) -> Party:
    party = find_party(caller.world, ask.party_id, caller.campaign, audience=caller.audience)
    names = (party.campaign.slug, party.campaign.name, str(party.campaign.pk))
    if ask.campaign_id and ask.campaign_id not in names:
        raise NotFound(
            f"{party.name} does not play in {ask.campaign_id!r}.", candidates=[party.campaign.slug]
        )
    return party
