"""Insert the rows of a plan. Every table is filled by COPY; `commit` opens the transaction."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from uuid import UUID

from django.utils import timezone
from pgvector import HalfVector, Vector

from memories.ledger.plan import OBSERVED_FIELDS, NewMemory, Plan
from memories.ledger.turns import NewTurn, turns_before
from memories.models import (
    ClientVector,
    Evidence,
    MemoryItem,
    Namespace,
    Observation,
    StateChange,
    Succession,
)
from memories.similarity.own_names import own_name_keys
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind, State
from retrieval.copied_rows import copy_rows
from retrieval.embedders import get_embedder
from retrieval.models import uuid7

ABOUT_FIELDS = (
    *(*OBSERVED_FIELDS, "bucket", "importance", "expires_at", "metadata"),
    *("episode_id", "forgotten_from"),
)


def write_observations(namespace: Namespace, plan: Plan) -> None:
    rows = [
        (new.id, new.text, *(getattr(new.about, name) for name in OBSERVED_FIELDS))
        for new in plan.observations
    ]
    columns = ["id", "text", *OBSERVED_FIELDS]
    copy_rows(Observation, columns, rows, namespace=namespace.pk, batch=uuid7())


def write_memories(
    namespace: Namespace, plan: Plan, states: dict[UUID, State], *, superseded_ids: set[UUID]
) -> None:
    """Insert the memories with their vectors and log their states.

    A memory that is superseded within its own plan is stored as such, and its log has both states.
    """
    site_vectors = None if namespace.has_own_vectors else plan.vectors
    shared: dict[str, object] = {"namespace": namespace.pk}
    if site_vectors is not None:
        shared |= {"embedding_model": get_embedder("memory").name, "embedded_rev": 1}
    columns = ["id", "text", "made_by", "payload", "language", "timestamp_ms", "state", "embedding"]
    columns += ["turn_order", "previous_turn", "surroundings"]
    stamps = _assign_timestamps(namespace, plan.memories)
    stored_states = {
        pk: State.SUPERSEDED if pk in superseded_ids else state for pk, state in states.items()
    }
    turns = {turn.id: turn for turn in _turns_of(plan, stamps, stored_states)}
    before = turns_before(namespace, turns.values())
    rows = [
        (
            new.id,
            new.text,
            new.made_by,
            new.payload,
            new.language or namespace.language,
            stamp,
            stored_states[new.id],
            None if site_vectors is None else HalfVector(site_vectors[row]),
            turns[new.id].order if new.id in turns else None,
            before[new.id].id if new.id in before else None,
            before[new.id].surroundings if new.id in before else "",
            new.about.heading,
            own_name_keys(new.text, about.subject, about.metadata),
            *(getattr(about, name) for name in ABOUT_FIELDS),
        )
        for row, (new, stamp) in enumerate(zip(plan.memories, stamps, strict=True))
        for about in [new.stored_about]
    ]
    columns += ["context", "name_keys", *ABOUT_FIELDS]
    copy_rows(MemoryItem, columns, rows, **shared)
    changes = [(pk, state, plan.reason) for pk, state in states.items()]
    changes += [
        (pk, State.SUPERSEDED, plan.replace_reason) for pk in states if pk in superseded_ids
    ]
    log_states(changes)
    if namespace.has_own_vectors and plan.vectors is not None:
        pairs = zip(states, map(Vector, plan.vectors), strict=True)
        copy_rows(ClientVector, ["memory", "vector"], pairs, namespace=namespace.pk)


def _turns_of(plan: Plan, stamps: Iterable[int], states: Mapping[UUID, State]) -> Iterator[NewTurn]:
    for new, stamp in zip(plan.memories, stamps, strict=True):
        about = new.about
        if about.is_turn:
            order = stamp if about.turn_order is None else about.turn_order
            is_in_use = states[new.id] == State.ACTIVE
            yield NewTurn(new.id, new.text, about.source, order, about.event_at, is_in_use)


def _assign_timestamps(namespace: Namespace, memories: Iterable[NewMemory]) -> list[int]:
    """Milliseconds, strictly increasing within the locked namespace; imported memories keep
    their own."""
    clock = max(int(timezone.now().timestamp() * 1000), namespace.last_timestamp_ms + 1)
    stamps = []
    for memory in memories:
        stamps.append(clock if memory.timestamp_ms is None else memory.timestamp_ms)
        clock += memory.timestamp_ms is None
    # The caller saves it with the other counters.
    namespace.last_timestamp_ms = max([namespace.last_timestamp_ms, *stamps])
    return stamps


def write_evidence(plan: Plan) -> None:
    """Insert the evidence of each memory: its own observations, and those of the stored memories
    that it takes the place of."""
    observations_of = {new.id: dict.fromkeys(new.observation_ids) for new in plan.memories}
    observations_of |= {pk: dict.fromkeys(ids) for pk, ids in plan.confirmations.items()}
    replacing = [link for link in plan.links if link.kind != LinkKind.FORMERLY]
    stored_evidence = evidence_of({pk for link in replacing for pk in (link.older, link.newer)})
    from_older: dict[UUID, dict[UUID, None]] = {}
    # In the order of the plan: what an older memory of the same plan inherited is passed on.
    for link in replacing:
        of_older = dict.fromkeys(stored_evidence.get(link.older, ())) | from_older.get(
            link.older, {}
        )
        from_older.setdefault(link.newer, {}).update(of_older)
    for memory, observations in from_older.items():
        observations_of[memory] = observations_of.get(memory, {}) | observations
    pairs = [
        (memory, observation)
        for memory, observations in observations_of.items()
        for observation in observations
        if observation not in stored_evidence.get(memory, ())
    ]
    copy_rows(Evidence, ["memory", "observation"], pairs)


def evidence_of(memories: set[UUID]) -> dict[UUID, list[UUID]]:
    """The ids of the observations that each of `memories` rests on."""
    observation_ids: dict[UUID, list[UUID]] = {}
    if memories:
        rows = Evidence.objects.filter(memory__in=memories)
        for memory, observation in rows.values_list("memory_id", "observation_id"):
            observation_ids.setdefault(memory, []).append(observation)
    return observation_ids


def write_links(plan: Plan, *, in_effect: set[MemoryLink]) -> None:
    """Insert the links; one that exists and was undone (two stored memories, merged again) takes
    effect again."""
    existing: set[tuple[UUID, UUID, str]] = set()
    new_ids = {memory.id for memory in plan.memories}
    if between_stored := [link for link in plan.links if link.newer not in new_ids]:
        rows = Succession.objects.filter(
            older__in=[link.older for link in between_stored],
            newer__in=[link.newer for link in between_stored],
        )
        existing = set(rows.values_list("older_id", "newer_id", "kind"))
    rows_to_copy = []
    for link in plan.links:
        ends, reason = (link.older, link.newer, link.kind), link.reason[:300]
        if ends in existing:
            Succession.objects.filter(older=link.older, newer=link.newer, kind=link.kind).update(
                in_effect=True, undone_at=None, reason=reason
            )
        else:
            rows_to_copy.append((uuid7(), *ends, reason, link in in_effect))
    copy_rows(Succession, ["id", "older", "newer", "kind", "reason", "in_effect"], rows_to_copy)


def log_states(
    changes: Iterable[tuple[UUID, State, str]], *, by: str = "", at: datetime | None = None
) -> None:
    """Log (memory, state, reason) rows."""
    rows = [(pk, state, reason[:300]) for pk, state, reason in changes]
    shared = {"at": at or timezone.now(), "by": by[:120]}
    copy_rows(StateChange, ["memory", "state", "reason"], rows, **shared)
