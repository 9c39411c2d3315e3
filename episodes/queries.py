"""Read what has happened: by time, or by meaning."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from episodes.models import Episode, Scene, Session
from episodes.schemas import EpisodeOut, EpisodePrivate, When, Who
from episodes.sql import rows
from retrieval.search import Mode, search
from worlds.audiences import Audience, Visibility
from worlds.callers import Caller
from worlds.models import Party, World

LATEST = Path(__file__).parent / "sql" / "latest.sql"
MARK = "…"


@dataclass
class EpisodeHits:
    """Episodes for an answer; `degraded` and `truncated` as in every answer."""

    episodes: list[EpisodeOut]
    degraded: list[str] = field(default_factory=list)
    truncated: bool = False


def latest_episodes(
    caller: Caller, party: str, *, k: int, scene: UUID | None = None
) -> list[EpisodeOut] | None:
    """The latest episodes of the party with this slug, in one statement; None when there is none for this caller."""
    audience = caller.audience
    found = rows(
        LATEST,
        {
            "world": caller.world.pk,
            "party": party,
            "campaign": caller.campaign.pk if caller.campaign else None,
            "scene": scene,
            "gm": audience.is_gm,
            "own": audience.slug if audience.kind == "party" else "",
            "audience": json.dumps([str(audience)]),
            "k": k,
        },
    )
    return [present_row(row, gm=audience.is_gm) for row in found if row["id"]] if found else None


def present_row(row: dict[str, Any], *, gm: bool) -> EpisodeOut:
    return EpisodeOut(
        id=str(row["id"]),
        title=row["scene_title"] or row["place"] or row["external_id"],
        text=row["text"],
        summary_id=row["external_id"],
        campaign_id=row["campaign"],
        party_id=row["party"],
        scene_id=row["scene"],
        session_id=row["session"],
        when=When(
            in_world_at=row["in_world_at"],
            in_world_label=row["in_world_label"],
            real=row["happened_at"],
        ),
        who=Who(players=row["players"], npcs=row["npcs"] if gm else []),
        where=row["place"],
        version=row["version"],
        source=f"episode {row['external_id']} v{row['version']}",
        updated_at=row["updated_at"],
        private=EpisodePrivate(
            what=row["what"],
            flags=row["flags"],
            relations_delta=json.loads(row["relations_delta"]),
            notes=row["notes"],
            visibility=row["visibility"],
        )
        if gm
        else None,
    )


def search_episodes(
    episodes: Any, query: str, *, k: int, world: World, audience: Audience
) -> EpisodeHits:
    """The `k` of `episodes` that fit `query` best."""
    asked: dict[str, Any] = {
        "scopes": [str(world.pk)],
        "hidden": audience.is_gm,
        "language": world.language,
    }
    found = search(episodes, query, limit=k, **asked)
    scores = {hit.id: hit.score for hit in found}
    if len(scores) < k:  # what has no vector yet is found by its words
        by_words = search(
            episodes.exclude(pk__in=scores),
            query,
            limit=k - len(scores),
            mode=Mode.KEYWORD,
            **asked,
        )
        scores |= {hit.id: hit.score for hit in by_words}
    by_id = episodes.with_source().in_bulk(list(scores))
    best = [
        present_episode(by_id[pk], audience, score=score)
        for pk, score in scores.items()
        if pk in by_id
    ]
    return EpisodeHits(best, list(found.degraded))


def present_episode(
    episode: Episode, audience: Audience, *, score: float | None = None
) -> EpisodeOut:
    """Tell of an episode field by field: players read the open text, and not who else was there."""
    scene = episode.scene if is_visible(episode.scene, episode, audience) else None
    session = episode.session if is_visible(episode.session, episode, audience) else None
    return EpisodeOut(
        id=str(episode.pk),
        title=(scene.title if scene else "") or episode.place or episode.external_id,
        text=episode.text,
        summary_id=episode.external_id,
        campaign_id=episode.campaign.slug,
        party_id=episode.party.slug,
        scene_id=scene.external_id if scene else None,
        session_id=session.external_id if session else None,
        when=When(
            in_world_at=episode.in_world_at,
            in_world_label=episode.in_world_label,
            real=episode.happened_at,
        ),
        who=Who(players=episode.players, npcs=episode.npcs if audience.is_gm else []),
        where=episode.place,
        version=episode.version,
        source=f"episode {episode.external_id} v{episode.version}",
        updated_at=episode.updated_at,
        score=score,
        private=_private(episode) if audience.is_gm else None,
    )


def is_visible(row: Scene | Session | None, episode: Episode, audience: Audience) -> bool:
    """What `visible_to` says, for a row that came along with an episode."""
    if row is None or audience.is_gm or row.visibility == Visibility.PUBLIC:
        return True
    own = row.party_id == episode.party_id and audience == Audience("party", episode.party.slug)
    return row.visibility == Visibility.REVEALED and (own or str(audience) in row.known_to)


def _private(episode: Episode) -> EpisodePrivate:
    return EpisodePrivate(
        what=episode.what,
        flags=episode.flags,
        relations_delta=episode.relations_delta,
        notes=episode.notes,
        visibility=episode.visibility,
    )


def fit_to_budget(episodes: Sequence[EpisodeOut], most: int) -> tuple[list[EpisodeOut], bool]:
    """Keep texts up to `most` characters in all; what is cut ends with a mark, what does not fit is left out."""
    kept: list[EpisodeOut] = []
    left = most
    for episode in episodes:
        if left <= 0:
            return kept, True
        if len(episode.text) > left:
            return [
                *kept,
                episode.model_copy(update={"text": episode.text[: left - 1] + MARK}),
            ], True
        kept.append(episode)
        left -= len(episode.text)
    return kept, False


def episodes_of_party(world: World, party: Party, audience: Audience) -> Any:
    return Episode.objects.in_world(world).of_party(party).visible_to(audience).not_retracted()
