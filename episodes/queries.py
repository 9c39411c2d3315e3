"""Read episodes by time or by meaning, and present them to an audience."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from episodes.asked_sessions import find_evening, read_asked_session
from episodes.field_types import WhenOut
from episodes.models import Episode
from episodes.schemas import EpisodeOut, EpisodePrivate, Who
from episodes.sql import fetch_rows
from episodes.titles import is_visible, title_of
from retrieval.search import Mode, SearchRequest, search
from worlds.audiences import NAMES_NO_CHARACTER, Audience
from worlds.callers import Caller
from worlds.models import World

LATEST = Path(__file__).parent / "sql" / "latest.sql"
ELLIPSIS = "…"


@dataclass
class EpisodeHits:
    """The episodes of an answer; `degraded` names the search legs that failed."""

    episodes: list[EpisodeOut]
    degraded: list[str] = field(default_factory=list)


def latest_episodes(
    caller: Caller, party: str, *, k: int, scene: UUID | None = None
) -> list[EpisodeOut] | None:
    """Return the latest episodes of the party with this slug, or None when the caller knows no such
    party.

    This is one hand-written statement (docs/decisions/0022).
    """
    audience = caller.audience
    values = {
        "world": caller.world.pk,
        "party": party,
        "campaign": caller.campaign.pk if caller.campaign else None,
        "scene": scene,
        "gm": audience.is_gm,
        "own": audience.party_slug,
        "audience": audience.known_path,
        "no_character": NAMES_NO_CHARACTER,
        "k": k,
    }
    rows = fetch_rows(LATEST, values)
    # No row means no such party; a party without episodes yields one row whose episode columns are
    # null.
    return [present_row(row, gm=audience.is_gm) for row in rows if row["id"]] if rows else None


def present_row(row: dict[str, Any], *, gm: bool) -> EpisodeOut:
    """Like `present_episode`, for a row of `latest.sql`, which has already hidden the scene and
    session.
    """
    private = None
    if gm:
        deltas = json.loads(row["relations_delta"])
        plain = {name: row[name] for name in ("what", "flags", "notes", "visibility")}
        private = EpisodePrivate(**plain, relations_delta=deltas)
    return EpisodeOut(
        id=str(row["id"]),
        title=row["scene_title"] or row["place"] or row["external_id"],
        text=row["text"],
        summary_id=row["external_id"],
        campaign_id=row["campaign"],
        party_id=row["party"],
        scene_id=row["scene"],
        session_id=row["session"],
        when=WhenOut(
            in_world_at=row["in_world_at"],
            in_world_label=row["in_world_label"],
            real=row["happened_at"],
        ),
        who=Who(players=row["players"], npcs=row["npcs"] if gm else []),
        where=row["place"],
        private=private,
        **present_state(row["external_id"], row["version"], row["updated_at"], gm=gm),
    )


def find_episodes(
    episodes: Any, question: str, *, k: int, world: World, audience: Audience
) -> EpisodeHits:
    """Answer `question` from the queryset `episodes` of one party. If it names a session ("last
    time"), the episodes of that one come first; if it asks for nothing else, they are the answer,
    latest first."""
    asked = read_asked_session(question)
    evening = find_evening(episodes, asked) if asked else None
    if not asked or not evening:
        return search_episodes(episodes, question, k=k, world=world, audience=audience)
    inside = episodes.filter(pk__in=evening.episodes)
    if not asked.rest:
        rows = inside.with_source().latest_first()[:k]
        return EpisodeHits([present_episode(row, audience) for row in rows])
    hits = search_episodes(inside, asked.rest, k=k, world=world, audience=audience)
    if (left := k - len(hits.episodes)) > 0:
        # Who asks may be wrong about the evening.
        outside = episodes.exclude(pk__in=evening.episodes)
        more = search_episodes(outside, asked.rest, k=left, world=world, audience=audience)
        hits.episodes += more.episodes
    return hits


def search_episodes(
    episodes: Any, query: str, *, k: int, world: World, audience: Audience
) -> EpisodeHits:
    """Return the `k` of the queryset `episodes` that match `query` best."""
    request = SearchRequest(
        query=query,
        scopes=[world.pk],
        hidden=audience.is_gm,
        language=world.language,
        limit=k,
    )
    hits = search(episodes, request)
    # A dict keeps the order of its keys: vector hits first, then those by words.
    scores = {hit.id: hit.score for hit in hits}
    if len(scores) < k:
        # Episodes recorded a moment ago have no vector yet: fill up with keyword hits.
        request = replace(request, limit=k - len(scores), mode=Mode.KEYWORD)
        scores |= {hit.id: hit.score for hit in search(episodes.exclude(pk__in=scores), request)}
    by_id = episodes.with_source().in_bulk(list(scores))
    return EpisodeHits(
        [present_episode(by_id[pk], audience, score=scores[pk]) for pk in scores if pk in by_id],
        list(hits.degraded),
    )


def present_episode(
    episode: Episode, audience: Audience, *, score: float | None = None
) -> EpisodeOut:
    """Return the fields that `audience` may read: players get the open text and not the NPCs who
    were there.
    """
    scene = episode.scene if is_visible(episode.scene, episode, audience) else None
    session = episode.session if is_visible(episode.session, episode, audience) else None
    private = EpisodePrivate(
        what=episode.what,
        flags=episode.flags,
        relations_delta=episode.relations_delta,
        notes=episode.notes,
        visibility=episode.visibility,
    )
    return EpisodeOut(
        id=str(episode.pk),
        title=title_of(episode, audience),
        text=episode.text,
        summary_id=episode.external_id,
        campaign_id=episode.campaign.slug,
        party_id=episode.party.slug,
        scene_id=scene.external_id if scene else None,
        session_id=session.external_id if session else None,
        when=WhenOut(
            in_world_at=episode.in_world_at,
            in_world_label=episode.in_world_label,
            real=episode.happened_at,
        ),
        who=Who(players=episode.players, npcs=episode.npcs if audience.is_gm else []),
        where=episode.place,
        score=score,
        private=private if audience.is_gm else None,
        **present_state(
            episode.external_id, episode.version, episode.updated_at, gm=audience.is_gm
        ),
    )


def present_state(
    reference: str, version: int, updated_at: datetime, *, gm: bool
) -> dict[str, Any]:
    """Return the fields that count changes. Players do not get them: they would learn when the
    notes of the game master were changed."""
    source = f"episode {reference}"
    if not gm:
        return {"source": source}
    return {"source": f"{source} v{version}", "version": version, "updated_at": updated_at}


def fit_to_budget(episodes: Sequence[EpisodeOut], most: int) -> tuple[list[EpisodeOut], bool]:
    """Return the episodes whose texts fit into `most` characters, and whether anything was cut or
    left out.
    """
    fitting: list[EpisodeOut] = []
    left = most
    for episode in episodes:
        if left <= 0:
            return fitting, True
        if len(episode.text) > left:
            text = episode.text[: left - 1] + ELLIPSIS
            return [*fitting, episode.model_copy(update={"text": text})], True
        fitting.append(episode)
        left -= len(episode.text)
    return fitting, False
