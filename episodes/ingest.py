"""Take in what happened: one transaction for the summary and everything that follows from it.

The same version again changes nothing; a newer one replaces the effects of the older exactly; an older one that comes
late is kept as history and does nothing; a retraction takes the effects along. Writers of one party take turns.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from episodes.effects import effects
from episodes.lookup import find_episode
from episodes.models import Episode, EpisodeVersion
from episodes.scenes import scene_and_session
from episodes.schemas import EpisodeIn, IngestReport
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.indexing import normalize_episode
from retrieval.text import guess_language
from worlds.lookup import find_campaign, find_party
from worlds.models import Campaign, Party, World

DEADLOCK_TRIES = 3
P = ParamSpec("P")
R = TypeVar("R")


class VersionReused(Conflict):
    code, title = "version_reused", "The version is taken by another text"


class WrongParty(Invalid):
    code, title = "wrong_party", "The episode belongs to another party"


def retry_deadlocks(write: Callable[P, R]) -> Callable[P, R]:
    """Episodes of two parties may touch the same lore and facts. PostgreSQL ends one of two that wait in a circle."""

    @wraps(write)
    def written(*args: P.args, **kwargs: P.kwargs) -> R:
        for tries_left in reversed(range(DEADLOCK_TRIES)):
            try:
                return write(*args, **kwargs)
            except OperationalError as error:
                deadlock = isinstance(error.__cause__, DeadlockDetected)
                if not (deadlock and tries_left) or connection.in_atomic_block:
                    raise
        raise AssertionError("unreachable")

    return written


@retry_deadlocks
@transaction.atomic
def ingest_episode(
    world: World, summary: EpisodeIn, *, came_from: str = "", campaign: Campaign | None = None
) -> IngestReport:
    """Record `summary` with its effects; raises a `Problem` and writes nothing when any part of it cannot be.

    With `campaign`, only its parties are known.
    """
    party = lock_party(_party_of(world, summary, campaign))
    episode = (
        Episode.objects.select_for_update()
        .filter(world=world, external_id=summary.summary_id)
        .first()
    )
    if episode is None:
        return _create(party, summary, came_from)
    if episode.party_id != party.pk:
        raise WrongParty(
            f"{summary.summary_id} was recorded for another party; summaries cannot change hands."
        )
    known = _check_version(episode, summary)
    if summary.version > episode.version:
        return _replace(episode, party, summary, came_from)
    if not known:
        _keep_version(episode, summary, came_from)
    return _report(
        episode, summary, "superseded" if summary.version < episode.version else "unchanged"
    )


@retry_deadlocks
@transaction.atomic
def retract_episode(world: World, reference: str, *, reason: str = "") -> IngestReport:
    """Take an episode back with its effects. The text stays as history; a newer version brings the episode back."""
    episode = _locked(world, reference)
    if episode.retracted_at:
        return _report(episode, None, "unchanged")
    episode.retracted_at, episode.retracted_why = timezone.now(), reason
    episode.save(update_fields=["retracted_at", "retracted_why", "updated_at"])
    for effect in effects():
        effect.withdraw(episode)
    return _report(episode, None, "retracted")


@retry_deadlocks
@transaction.atomic
def restore_episode(world: World, reference: str) -> IngestReport:
    """Undo a retraction: the version that stood stands again, with its effects."""
    episode = _locked(world, reference)
    if not episode.retracted_at:
        return _report(episode, None, "unchanged")
    summary = EpisodeIn.model_validate(episode.versions.get(version=episode.version).body)
    plans = _plans(episode.party, summary)
    episode.retracted_at, episode.retracted_why = None, ""
    episode.save(update_fields=["retracted_at", "retracted_why", "updated_at"])
    return _take_effect(episode, plans, _report(episode, summary, "restored"))


def lock_party(party: Party) -> Party:
    """Everything that moves dispositions of a party happens one after the other."""
    return (
        Party.objects.select_for_update(no_key=True, of=("self",))
        .select_related("world", "campaign")
        .get(pk=party.pk)
    )


def _party_of(world: World, summary: EpisodeIn, only: Campaign | None) -> Party:
    try:
        party = find_party(world, summary.party_id, only)
        campaign = (
            find_campaign(world, summary.campaign_id) if summary.campaign_id else party.campaign
        )
    except NotFound as missing:
        raise Invalid(missing.detail, candidates=missing.candidates) from missing
    if party.campaign_id != campaign.pk:
        raise Invalid(f"The party {party.slug} does not play in the campaign {campaign.slug}.")
    return party


def _locked(world: World, reference: str) -> Episode:
    episode = find_episode(world, reference)
    lock_party(episode.party)
    rows = Episode.objects.select_for_update(of=("self",)).select_related("party__world")
    return cast(Episode, rows.get(pk=episode.pk))


def _check_version(episode: Episode, summary: EpisodeIn) -> bool:
    """Return whether this very version is known; raises when it is known with other content."""
    stored = (
        episode.versions.filter(version=summary.version).values_list("digest", flat=True).first()
    )
    if stored is not None and stored != digest(summary):
        raise VersionReused(
            f"Version {summary.version} of {summary.summary_id} was recorded with other content: "
            f"send this one as version {episode.version + 1}."
        )
    return stored is not None


def _create(party: Party, summary: EpisodeIn, came_from: str) -> IngestReport:
    plans = _plans(party, summary)
    episode = Episode(world=party.world, external_id=summary.summary_id)
    _fill(episode, party, summary)
    try:
        with transaction.atomic():
            episode.save(force_insert=True)
    except IntegrityError as clash:
        raise WrongParty(f"{summary.summary_id} is being recorded for another party.") from clash
    _keep_version(episode, summary, came_from)
    return _take_effect(episode, plans, _report(episode, summary, "created"))


def _replace(episode: Episode, party: Party, summary: EpisodeIn, came_from: str) -> IngestReport:
    plans = _plans(party, summary)
    _fill(episode, party, summary)
    episode.retracted_at, episode.retracted_why = None, ""
    episode.save()
    _keep_version(episode, summary, came_from)
    return _take_effect(episode, plans, _report(episode, summary, "replaced"))


def _plans(party: Party, summary: EpisodeIn) -> list[Any]:
    return [effect.plan(party, summary) for effect in effects()]


def _take_effect(episode: Episode, plans: list[Any], report: IngestReport) -> IngestReport:
    for effect in effects():
        effect.withdraw(episode)
    for effect, plan in zip(effects(), plans, strict=True):
        effect.write(episode, plan, report)
    return report


def _fill(episode: Episode, party: Party, summary: EpisodeIn) -> None:
    """Copy the summary onto its row."""
    chunk = normalize_episode(summary)
    episode.party, episode.campaign = party, party.campaign
    episode.scene, episode.session = scene_and_session(party, summary)
    episode.version = summary.version
    episode.text, episode.payload, episode.context = (
        chunk.text,
        chunk.payload,
        str(chunk.metadata.pop("context")),
    )
    episode.metadata = {**chunk.metadata, "party": party.slug, "campaign": party.campaign.slug}
    episode.language = summary.language or guess_language(summary.what)
    episode.what, episode.notes, episode.flags = summary.what, summary.notes, summary.flags
    episode.players, episode.npcs, episode.place = (
        summary.who.players,
        summary.who.npcs,
        summary.where,
    )
    episode.relations_delta = [delta.model_dump() for delta in summary.relations_delta]
    episode.in_world_at, episode.in_world_label = (
        summary.when.in_world_at,
        summary.when.in_world_label,
    )
    episode.happened_at = summary.when.real or episode.happened_at
    episode.visibility = summary.visibility


def digest(summary: EpisodeIn) -> str:
    body = summary.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _keep_version(episode: Episode, summary: EpisodeIn, came_from: str) -> None:
    EpisodeVersion.objects.create(
        episode=episode,
        version=summary.version,
        body=summary.model_dump(mode="json", exclude_defaults=True),
        digest=digest(summary),
        came_from=came_from,
    )


def _report(episode: Episode, summary: EpisodeIn | None, outcome: Any) -> IngestReport:
    return IngestReport(
        summary_id=episode.external_id,
        version=summary.version if summary else episode.version,
        outcome=outcome,
        standing_version=episode.version,
        retracted=episode.retracted_at is not None,
    )
