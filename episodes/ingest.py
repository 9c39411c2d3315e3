"""Ingest episodic summaries: one transaction for the summary and all of its effects.

The same version again changes nothing. A newer version replaces the effects of the older one
exactly. An older version that arrives late is stored as history without effects. A retraction
withdraws all effects. Writers of one party take turns.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from psycopg.errors import DeadlockDetected

from episodes.effects import effects
from episodes.lookup import find_episode
from episodes.models import Episode, EpisodeVersion
from episodes.scenes import scene_and_session, warnings_of_new_ids
from episodes.schemas import EpisodeIn, IngestReport, Outcome
from knowledge.graph.schemas import audiences_in_facts
from knowledge.graph.upsert import require_own_entries
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.indexing import normalize_episode
from retrieval.text import guess_language, without_secrets
from worlds.audience_names import of_other_campaigns, require_audiences
from worlds.lookup import find_campaign, find_party
from worlds.models import Campaign, Party, World
from worlds.versions import require_version

DEADLOCK_TRIES = 3
P = ParamSpec("P")
R = TypeVar("R")


class VersionReused(Conflict):
    code, title = "version_reused", "The version is taken by another text"


class WrongParty(Invalid):
    code, title = "wrong_party", "The episode belongs to another party"


def retry_deadlocks(write: Callable[P, R]) -> Callable[P, R]:
    """Run `write` again when PostgreSQL ended it to break a deadlock: episodes of two parties may
    name the same lore.

    Inside an outer transaction the error is raised at once, because that transaction is lost as a
    whole.
    """

    @wraps(write)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        for tries_left in reversed(range(DEADLOCK_TRIES)):
            try:
                return write(*args, **kwargs)
            except OperationalError as error:
                deadlock = isinstance(error.__cause__, DeadlockDetected)
                if not (deadlock and tries_left) or connection.in_atomic_block:
                    raise
        raise AssertionError("unreachable")

    return wrapper


@retry_deadlocks
@transaction.atomic
def ingest_episode(
    world: World,
    summary: EpisodeIn,
    *,
    came_from: str = "",
    campaign: Campaign | None = None,
    expected_version: int | None = None,
) -> IngestReport:
    """Store `summary` with its effects; raises a `Problem` and writes nothing when any part of it
    is refused.

    With `campaign`, only parties of that campaign are found, and nobody of another one learns
    anything. `StaleVersion` is raised when another
    version than the expected one is stored.
    """
    # The party before the episode, in the order of every writer: the opposite order could deadlock.
    party = lock_party(find_party_of(summary, world, campaign))
    episode = (
        Episode.objects.select_for_update(no_key=True)
        .filter(world=world, external_id=summary.summary_id)
        .first()
    )
    require_version(episode, expected_version)
    if episode and (report := store_late_version(episode, summary, party, came_from)):
        return report
    if campaign:
        require_own_audiences(summary, campaign)
    require_own_entries(world, summary.facts, only=campaign)
    plans = plan_effects(party, summary)  # before any write: a plan may refuse the episode
    warnings = warnings_of_new_ids(party, summary)
    outcome: Outcome = "replaced" if episode else "created"
    if episode is None:
        episode = insert_episode(summary, party)
    else:
        copy_summary(summary, episode, party)
        # Whoever sends a newer version of a retracted episode wants it back.
        episode.retracted_at, episode.retracted_why = None, ""
        episode.save()
    save_version(episode, summary, came_from)
    report = build_report(episode, summary, outcome)
    report.warnings = warnings
    return replace_effects(episode, plans, report)


def store_late_version(
    episode: Episode, summary: EpisodeIn, party: Party, came_from: str
) -> IngestReport | None:
    """Store a version that is not newer than the current one as history, without effects; None: it
    is newer. Raises `WrongParty` when the episode is another party's, `VersionReused` when its
    version is stored with another text."""
    if episode.party_id != party.pk:
        raise WrongParty(
            _("%(summary_id)s belongs to another party; a summary cannot change its party.")
            % {"summary_id": summary.summary_id}
        )
    is_stored = check_version(episode, summary)
    if summary.version > episode.version:
        return None
    if not is_stored:
        save_version(episode, summary, came_from)
    is_older = summary.version < episode.version
    return build_report(episode, summary, "superseded" if is_older else "unchanged")


def insert_episode(summary: EpisodeIn, party: Party) -> Episode:
    """Raises `WrongParty` when another party's episode of that id was inserted at this moment: the
    lock is per party."""
    episode = Episode(world=party.world, external_id=summary.summary_id)
    copy_summary(summary, episode, party)
    try:
        # A savepoint, or the error would end the transaction in which it is explained.
        with transaction.atomic():
            episode.save(force_insert=True)
    except IntegrityError as clash:
        raise WrongParty(
            _("%(summary_id)s is being recorded for another party.")
            % {"summary_id": summary.summary_id}
        ) from clash
    return episode


@retry_deadlocks
@transaction.atomic
def retract_episode(world: World, reference: str, *, reason: str = "") -> IngestReport:
    """Withdraw an episode with its effects. The text stays as history; a newer version brings the
    episode back.
    """
    episode = lock_episode(world, reference)
    if episode.retracted_at:
        return build_report(episode, None, "unchanged")
    episode.retracted_at, episode.retracted_why = timezone.now(), reason
    episode.save(update_fields=["retracted_at", "retracted_why", "updated_at"])
    for effect in effects():
        effect.withdraw(episode)
    return build_report(episode, None, "retracted")


@retry_deadlocks
@transaction.atomic
def restore_episode(world: World, reference: str) -> IngestReport:
    """Undo a retraction: the current version takes effect again."""
    episode = lock_episode(world, reference)
    if not episode.retracted_at:
        return build_report(episode, None, "unchanged")
    summary = EpisodeIn.model_validate(episode.versions.get(version=episode.version).body)
    plans = plan_effects(episode.party, summary)
    episode.retracted_at, episode.retracted_why = None, ""
    episode.save(update_fields=["retracted_at", "retracted_why", "updated_at"])
    return replace_effects(episode, plans, build_report(episode, summary, "restored"))


def lock_party(party: Party) -> Party:
    """Lock and return the party: writes that move dispositions of one party run one after the
    other.
    """
    return (
        # NO KEY: inserting rows that refer to the party needs no wait.
        Party.objects.select_for_update(no_key=True, of=("self",))
        .select_related("world", "campaign")
        .get(pk=party.pk)
    )


def lock_episode(world: World, reference: str) -> Episode:
    """Lock the party, then the episode, in the order in which `ingest_episode` does."""
    # NO KEY, as for the party: who writes a memory of the episode holds the lock of that memory,
    # for which the holder of this one waits.
    episode = find_episode(world, reference)
    lock_party(episode.party)
    rows = Episode.objects.select_for_update(no_key=True, of=("self",))
    rows = rows.select_related("party__world")
    return cast(Episode, rows.get(pk=episode.pk))


def find_party_of(summary: EpisodeIn, world: World, only: Campaign | None) -> Party:
    """Return the party that `summary` names; raises Invalid when there is none or it plays in
    another campaign.
    """
    try:
        party = find_party(world, summary.party_id, only)
        campaign = party.campaign
        if summary.campaign_id:
            campaign = find_campaign(world, summary.campaign_id, only=only)
    except NotFound as missing:
        # 404 would mean the address of the request; here a field of its body is wrong.
        raise Invalid(missing.detail, candidates=missing.candidates) from missing
    if party.campaign_id != campaign.pk:
        raise Invalid(
            _("The party %(party)s does not play in the campaign %(campaign)s.")
            % {"party": party.slug, "campaign": campaign.slug}
        )
    return party


def require_own_audiences(summary: EpisodeIn, campaign: Campaign) -> None:
    """Raise `Invalid` if the summary says that somebody of another campaign learned something, or
    knows a fact."""
    revealed_to = {name for entry in summary.reveals for name in entry.to}
    named = revealed_to | audiences_in_facts(summary.facts)
    if of_others := of_other_campaigns(named, campaign):
        require_audiences(campaign.world, of_others, field="reveals, facts", only=campaign)


def check_version(episode: Episode, summary: EpisodeIn) -> bool:
    """Return whether this very version is stored; raises `VersionReused` when it is stored with
    other content.
    """
    digests = episode.versions.filter(version=summary.version).values_list("digest", flat=True)
    known_digest = digests.first()
    if known_digest is not None and known_digest != digest(summary):
        raise VersionReused(
            _(
                "Version %(version)s of %(summary_id)s was recorded with other content: send "
                "this one as version %(next)s."
            )
            % {
                "version": summary.version,
                "summary_id": summary.summary_id,
                "next": episode.version + 1,
            }
        )
    return known_digest is not None


def plan_effects(party: Party, summary: EpisodeIn) -> list[Any]:
    return [effect.plan(party, summary) for effect in effects()]


def replace_effects(episode: Episode, plans: list[Any], report: IngestReport) -> IngestReport:
    """Withdraw the effects of earlier versions, then write the planned ones."""
    # All withdrawals before all writes: an effect may withdraw rows that another one writes.
    for effect in effects():
        effect.withdraw(episode)
    for effect, plan in zip(effects(), plans, strict=True):
        effect.write(episode, plan, report)
    return report


def copy_summary(summary: EpisodeIn, episode: Episode, party: Party) -> None:
    chunk = normalize_episode(summary)
    episode.party, episode.campaign = party, party.campaign
    episode.scene, episode.session = scene_and_session(party, summary)
    episode.version = summary.version
    episode.text, episode.payload = chunk.text, chunk.payload
    episode.context = str(chunk.metadata.pop("context"))
    episode.metadata = {**chunk.metadata, "party": party.slug, "campaign": party.campaign.slug}
    episode.language = summary.language or guess_language(without_secrets(summary.what))
    episode.what, episode.notes, episode.flags = summary.what, summary.notes, summary.flags
    episode.players, episode.npcs = summary.who.players, summary.who.npcs
    episode.place = summary.where
    episode.relations_delta = [
        delta.model_dump(exclude_none=True) for delta in summary.relations_delta
    ]
    episode.in_world_at = summary.when.in_world_at
    episode.in_world_label = summary.when.in_world_label
    episode.happened_at = summary.when.real or episode.happened_at
    episode.visibility = summary.visibility


def digest(summary: EpisodeIn) -> str:
    # Without defaults and with sorted keys: how an engine spells the same content does not matter.
    body = summary.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def save_version(episode: Episode, summary: EpisodeIn, came_from: str) -> None:
    EpisodeVersion.objects.create(
        episode=episode,
        version=summary.version,
        body=summary.model_dump(mode="json", exclude_defaults=True),
        digest=digest(summary),
        came_from=came_from,
    )


def build_report(episode: Episode, summary: EpisodeIn | None, outcome: Outcome) -> IngestReport:
    return IngestReport(
        summary_id=episode.external_id,
        version=summary.version if summary else episode.version,
        outcome=outcome,
        standing_version=episode.version,
        retracted=episode.retracted_at is not None,
    )
