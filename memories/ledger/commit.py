"""Many contents at once, by rules alone: the outcome of adding them one by one, at the price of a batch.

One call of the embedder, one statement for what is near, one transaction that writes all by COPY.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from pgvector import HalfVector, Vector

from memories import core
from memories.ingest.add import CONSIDERED_BY_RULES, REDOS, indexed
from memories.ledger import state_changes, word_counts
from memories.ledger.copy_rows import copy_rows
from memories.ledger.plan import Particulars
from memories.ledger.single import (
    SHARED,
    Overtaken,
    check_active,
    evidence_of,
    next_timestamps,
    note_write,
)
from memories.models import (
    ClientVector,
    Evidence,
    MemoryItem,
    Namespace,
    Observation,
    StateChange,
    Succession,
)
from memories.models.namespaces import Review
from memories.similarity import nearest
from memories.similarity.nearest import Near
from memories.similarity.resolve import Arrivals, Settled, Settling, TooShallow
from memories.states import Maker, State
from memories.vectors import VectorSource
from retrieval.embedders import get_embedder
from retrieval.models import uuid7

REPLACED_BECAUSE = "replaced by a newer memory"
SPARE = 5
"""Near memories asked for beyond those looked at: for those that earlier contents of the batch replace."""


@dataclass(frozen=True)
class Taken:
    """The memory that stands for a content, and whether it was made for it."""

    memory: UUID
    is_new: bool


@dataclass(frozen=True)
class Batch:
    """What is to be written."""

    abouts: Sequence[Particulars]
    arrivals: Arrivals
    settled: Settled
    observations: Sequence[UUID]


def take_in(
    namespace: Namespace,
    texts: Sequence[str],
    abouts: Sequence[Particulars],
    *,
    vectors: VectorSource,
) -> list[Taken]:
    """Remember `texts`, each with its own particulars. All of them are written together, or none."""
    if not texts:
        return []
    ids = [uuid7() for _ in texts]
    arrivals = Arrivals(texts, ids, *vectors.of_both(indexed(texts, abouts)))
    settled = _committed(namespace, arrivals, abouts)
    word_counts.keep_up(namespace)
    return [
        Taken(settled.memory_of(place, ids), place in settled.new) for place in range(len(texts))
    ]


def _committed(namespace: Namespace, arrivals: Arrivals, abouts: Sequence[Particulars]) -> Settled:
    observations = [uuid7() for _ in abouts]
    for _ in range(REDOS):
        settled = _settled(namespace, arrivals)
        try:
            _write(namespace, Batch(abouts, arrivals, settled, observations))
        except Overtaken:
            continue
        return settled
    settled = as_they_came(arrivals)
    _write(namespace, Batch(abouts, arrivals, settled, observations))
    return settled


def as_they_came(arrivals: Arrivals) -> Settled:
    """After too many lost races: nothing is lost, nothing replaced."""
    places = range(len(arrivals.texts))
    return Settled(
        new={place: [] for place in places},
        resting_on={arrivals.ids[place]: [place] for place in places},
    )


def _settled(namespace: Namespace, arrivals: Arrivals) -> Settled:
    in_use = _state(namespace) == State.ACTIVE
    depth = CONSIDERED_BY_RULES + SPARE
    while True:
        known = _known(namespace, arrivals, depth)
        try:
            return Settling(
                arrivals, known, k=CONSIDERED_BY_RULES, depth=depth, in_use=in_use
            ).settle()
        except TooShallow:
            depth *= 4


def _known(namespace: Namespace, arrivals: Arrivals, depth: int) -> dict[int, list[Near]]:
    found: dict[int, list[Near]] = {}
    if MemoryItem.objects.of(namespace).active().exists():
        for near in nearest.nearest(namespace, arrivals.queries, k=depth):
            found.setdefault(near.position, []).append(near)
    return found


def _state(namespace: Namespace) -> State:
    review = Namespace.objects.values_list("review", flat=True).get(pk=namespace.pk)
    return State.PENDING if review == Review.ALL else State.ACTIVE


def _write(namespace: Namespace, batch: Batch) -> None:
    """Write everything, or raise `Overtaken` and write nothing."""
    settled, own = batch.settled, set(batch.arrivals.ids)
    links = {old.id for olds in settled.new.values() for old in olds}
    outside = (links | set(settled.confirmed.values())) - own
    with transaction.atomic():
        locked = core.locked(namespace)
        check_active(locked, outside)
        state = State.PENDING if locked.review == Review.ALL else State.ACTIVE
        if state == State.PENDING and settled.replaced:
            raise Overtaken
        _copy_observations(locked, batch)
        stamps = next_timestamps(locked, len(settled.new))
        _copy_memories(locked, batch, stamps, state)
        _copy_evidence(batch)
        _copy_successions(batch, in_effect=state == State.ACTIVE)
        state_changes.move(
            [pk for pk in settled.replaced if pk not in own],
            to=State.SUPERSEDED,
            reason=REPLACED_BECAUSE,
        )
        note_write(locked, len(stamps), stamps[-1] if stamps else None)


def _copy_observations(namespace: Namespace, batch: Batch) -> None:
    told = zip(batch.observations, batch.arrivals.texts, batch.abouts, strict=True)
    copy_rows(
        Observation,
        ["id", "text", *SHARED],
        ((pk, text, *(getattr(about, name) for name in SHARED)) for pk, text, about in told),
        namespace=namespace.pk,
        batch=uuid7(),
    )


PARTICULARS = ("bucket", "importance", "expires_at", "metadata")


def _copy_memories(namespace: Namespace, batch: Batch, stamps: list[int], state: State) -> None:
    settled, arrivals = batch.settled, batch.arrivals
    states = {pk: State.SUPERSEDED if pk in settled.replaced else state for pk in arrivals.ids}
    new = [(place, arrivals.ids[place], batch.abouts[place]) for place in settled.new]
    shared = {"namespace": namespace.pk, "language": namespace.language, "made_by": Maker.RULES}
    carried = None if namespace.has_own_vectors else arrivals.documents
    if carried is not None:
        shared |= {"embedding_model": get_embedder("memory").name, "embedded_rev": 1}
    copy_rows(
        MemoryItem,
        ["id", "text", "timestamp_ms", "state", "embedding", "context", *SHARED, *PARTICULARS],
        (
            (
                pk,
                arrivals.texts[place],
                stamp,
                states[pk],
                None if carried is None else HalfVector(carried[place]),
                about.heading,
                *(getattr(about, name) for name in (*SHARED, *PARTICULARS)),
            )
            for (place, pk, about), stamp in zip(new, stamps, strict=True)
        ),
        **shared,
    )
    _copy_changes([pk for _place, pk, _about in new], batch, state)
    if namespace.has_own_vectors and arrivals.documents is not None:
        rows = [(pk, Vector(arrivals.documents[place])) for place, pk, _about in new]
        copy_rows(ClientVector, ["memory", "vector"], rows, namespace=namespace.pk)


def _copy_changes(new: list[UUID], batch: Batch, state: State) -> None:
    """A memory replaced within its own batch was in use for no time, and its log says so."""
    rows = [(pk, state, "") for pk in new]
    rows += [(pk, State.SUPERSEDED, REPLACED_BECAUSE) for pk in new if pk in batch.settled.replaced]
    copy_rows(StateChange, ["memory", "state", "reason"], rows, at=timezone.now())


def _copy_evidence(batch: Batch) -> None:
    settled = batch.settled
    inherited = evidence_of({old for olds in settled.inheriting.values() for old in olds})
    pairs: dict[tuple[UUID, UUID], None] = {}
    for memory, places in settled.resting_on.items():
        pairs |= {(memory, batch.observations[place]): None for place in places}
    for memory, olds in settled.inheriting.items():
        pairs |= {(memory, seen): None for old in olds for seen in inherited.get(old, ())}
    copy_rows(Evidence, ["memory", "observation"], pairs)


def _copy_successions(batch: Batch, *, in_effect: bool) -> None:
    rows = [
        (uuid7(), old.id, batch.arrivals.ids[place], old.kind, old.reason[:300])
        for place, olds in batch.settled.new.items()
        for old in olds
    ]
    if rows:
        copy_rows(Succession, ["id", "older", "newer", "kind", "reason"], rows, in_effect=in_effect)
