"""The tool that tells what has happened."""

from typing import Annotated

from pydantic import BaseModel, Field

from episodes.finding import find_party_for, find_scene
from episodes.reading import latest, nearest, of_party, within
from episodes.schemas import EpisodeOut
from retrieval.problems import NotFound
from retrieval.schemas import DEFAULT_CHARS, LARGEST_K, MaxChars
from worlds.asking import Ask
from worlds.callers import Caller

Reference = Annotated[str | None, Field(max_length=200)]


class SessionFetch(Ask):
    party_id: Annotated[str, Field(min_length=1, max_length=200, description="Id or name of the party.")]
    k: Annotated[int, Field(ge=1, le=LARGEST_K, description="How many summaries.")] = 8
    campaign_id: Reference = None
    scene_id: Reference = None
    query: Annotated[str | None, Field(max_length=100_000, description="What to look for; without it the latest.")] = (
        None
    )
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
    party = find_party_for(caller, ask.party_id)
    rows = of_party(caller.world, party, caller.audience)
    if ask.campaign_id and ask.campaign_id not in (party.campaign.slug, party.campaign.name, str(party.campaign.pk)):
        raise NotFound(f"{party.name} does not play in {ask.campaign_id!r}.", candidates=[party.campaign.slug])
    if ask.scene_id:
        rows = rows.filter(scene=find_scene(caller.world, ask.scene_id, caller.audience))
    degraded: list[str] = []
    if ask.query and ask.query.strip():
        found = nearest(rows, ask.query, k=ask.k, world=caller.world, audience=caller.audience)
        episodes, degraded = found.episodes, found.degraded
    else:
        episodes = latest(rows, k=ask.k, audience=caller.audience)
    kept, cut = within(episodes, ask.max_chars or DEFAULT_CHARS)
    return SessionFetched(party_id=party.slug, episodes=kept, truncated=cut, degraded=degraded)
