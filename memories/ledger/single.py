"""The one transaction of an `add`: observations, memories, vectors, evidence, successions, core. All or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memories import core
from memories.ledger import state_changes
from memories.ledger.plan import Draft, Particulars
from memories.ledger.vectors import store_vectors
from memories.models import (
    CoreProposal,
    CoreVersion,
    Evidence,
    MemoryItem,
    Namespace,
    Observation,
    Succession,
)
from memories.models.namespaces import Review
from memories.states import ROWS_AT_ONCE, Link, Maker, State
from retrieval.models import uuid7

if TYPE_CHECKING:
    from memories.ingest.add import Adding

SHARED = ("source", "subject", "speaker", "event_at", "in_world_at", "in_world_label")


class Overtaken(Exception):
    """Another writer changed what this one was shown: think again."""


@dataclass(frozen=True)
class Written:
    """What an `add` stored, in the order in which it reached the store."""

    ids: list[UUID] = field(default_factory=list)
    superseded: list[UUID] = field(default_factory=list)
    confirmed: list[UUID] = field(default_factory=list)
    formerly: list[UUID] = field(default_factory=list)
    observations: list[UUID] = field(default_factory=list)
    core: CoreVersion | CoreProposal | None = None
    state: State = State.ACTIVE


def write(adding: "Adding") -> Written:
    """Write everything, or raise `Overtaken` and write nothing."""
    with transaction.atomic():
        namespace = core.locked(adding.namespace)
        _check_still_stands(namespace, adding)
        observations = observe(
            namespace, adding.raw, adding.each or [adding.about] * len(adding.raw)
        )
        resting_on = _observations_of_contents(observations, adding)
        state = State.PENDING if namespace.review == Review.ALL else State.ACTIVE
        items = _create(namespace, adding, state)
        store_vectors(namespace, items, adding.documents)
        link_evidence(items, adding.draft, resting_on)
        superseded, formerly = succeed(items, adding.draft, state)
        changed = _core(namespace, adding)
        note_write(namespace, len(items), items[-1].timestamp_ms if items else None)
    return Written(
        ids=[item.pk for item in items],
        superseded=superseded,
        formerly=formerly,
        confirmed=list(adding.draft.confirmed),
        observations=[seen.pk for seen in observations],
        core=changed,
        state=state,
    )


def _check_still_stands(namespace: Namespace, adding: "Adding") -> None:
    check_active(namespace, adding.draft.touched)
    if adding.core_text is not None and core.current(namespace) != adding.core_seen:
        raise Overtaken


def check_active(namespace: Namespace, touched: set[UUID]) -> None:
    """Lock the memories `touched`; raise `Overtaken` unless all of them are still in use."""
    standing = (
        MemoryItem.objects.filter(pk__in=touched, namespace=namespace).active().select_for_update()
    )
    if touched and len(standing.order_by("pk").values_list("pk", flat=True)) != len(touched):
        raise Overtaken


def observe(
    namespace: Namespace, raw: Sequence[str], abouts: Sequence[Particulars]
) -> list[Observation]:
    """Store the raw contents, first of all."""
    batch = uuid7()
    rows = [
        Observation(
            namespace=namespace,
            batch=batch,
            text=text,
            **{name: getattr(about, name) for name in SHARED},
        )
        for text, about in zip(raw, abouts, strict=True)
    ]
    return Observation.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)


def _observations_of_contents(
    observations: list[Observation], adding: "Adding"
) -> list[Observation]:
    """Contents that were split out of one raw text all rest on it."""
    return (
        observations
        if len(observations) == len(adding.contents)
        else observations * len(adding.contents)
    )


def _create(namespace: Namespace, adding: "Adding", state: State) -> list[MemoryItem]:
    planned = adding.draft.planned
    stamps = next_timestamps(namespace, len(planned))
    shared: dict[str, Any] = {
        "namespace": namespace,
        "language": namespace.language,
        "state": state,
    }
    return [
        MemoryItem(
            text=new.text,
            made_by=new.made_by,
            timestamp_ms=stamp,
            **_particulars(adding.about_of(new.evidence[0])),
            **shared,
        )
        for new, stamp in zip(planned, stamps, strict=True)
    ]


def _particulars(about: Particulars) -> dict[str, Any]:
    return {name: getattr(about, name) for name in SHARED} | {
        "context": about.heading,
        "bucket": about.bucket,
        "importance": about.importance,
        "expires_at": about.expires_at,
        "metadata": about.metadata,
    }


def next_timestamps(namespace: Namespace, count: int) -> list[int]:
    """Strictly increasing within the namespace, whose row is locked: two memories never have the same."""
    first = max(int(timezone.now().timestamp() * 1000), namespace.last_timestamp_ms + 1)
    return list(range(first, first + count))


def link_evidence(items: list[MemoryItem], draft: Draft, observations: list[Observation]) -> None:
    """A memory rests on its contents, and on what the memories rested on that it takes the place of."""
    inherited = evidence_of(
        {old.id for new in draft.planned for old in new.replaces if old.kind != Link.FORMERLY}
    )
    pairs: dict[tuple[UUID, UUID], None] = {}
    for item, new in zip(items, draft.planned, strict=True):
        pairs |= {(item.pk, observations[position].pk): None for position in new.evidence}
        for old in new.replaces:
            pairs |= {(item.pk, seen): None for seen in inherited.get(old.id, ())}
    for known, positions in draft.confirmed.items():
        pairs |= {(known, observations[position].pk): None for position in positions}
    rows = [Evidence(memory_id=memory, observation_id=seen) for memory, seen in pairs]
    Evidence.objects.bulk_create(rows, ignore_conflicts=True, batch_size=ROWS_AT_ONCE)


def evidence_of(memories: set[UUID]) -> dict[UUID, list[UUID]]:
    """The observations that each of `memories` rests on."""
    found: dict[UUID, list[UUID]] = {}
    if memories:
        for memory, seen in Evidence.objects.filter(memory__in=memories).values_list(
            "memory_id", "observation_id"
        ):
            found.setdefault(memory, []).append(seen)
    return found


def succeed(items: list[MemoryItem], draft: Draft, state: State) -> tuple[list[UUID], list[UUID]]:
    """Link the new to the old, after the new are stored; with review on, the old stay until approval."""
    in_effect = state == State.ACTIVE
    rows = [
        Succession(
            older_id=old.id, newer=item, kind=old.kind, reason=old.reason[:300], in_effect=in_effect
        )
        for item, new in zip(items, draft.planned, strict=True)
        for old in new.replaces
    ]
    Succession.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
    replaced = list(dict.fromkeys(row.older_id for row in rows if row.kind != Link.FORMERLY))
    formerly = list(dict.fromkeys(row.older_id for row in rows if row.kind == Link.FORMERLY))
    if not in_effect:
        return [], []
    state_changes.move(replaced, to=State.SUPERSEDED, reason="replaced by a newer memory")
    return replaced, formerly


def _core(namespace: Namespace, adding: "Adding") -> CoreVersion | CoreProposal | None:
    if adding.core_text is None:
        return None
    return core.offer(namespace, adding.core_text, reason="After new memories", made_by=Maker.MODEL)


def note_write(namespace: Namespace, count: int, last_timestamp_ms: int | None) -> None:
    """Note on the locked namespace that `count` memories came."""
    namespace.revision += 1
    namespace.words_uncounted += count
    namespace.last_timestamp_ms = last_timestamp_ms or namespace.last_timestamp_ms
    namespace.save(update_fields=["revision", "last_timestamp_ms", "words_uncounted"])
