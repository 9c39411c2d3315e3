"""The one commit: the only place that inserts observations, memories, evidence and successions.

A single memory is a batch of one. Every table is filled by COPY, in one transaction, under the
namespace's lock. Changes of state and their log are here too.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.db import connection, models, transaction
from django.utils import timezone
from pgvector import HalfVector, Vector
from pgvector.django import HalfVectorField, VectorField
from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import sql
from psycopg.types import TypeInfo

from memories.ledger.plan import OBSERVED_FIELDS, NewMemory, Plan
from memories.ledger.word_counts import recount_words
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
from memories.similarity.resolve import MemoryLink
from memories.states import Link, Maker, State
from retrieval.embedders import get_embedder
from retrieval.errors import NotFound
from retrieval.models import uuid7

if TYPE_CHECKING:
    Column = models.Field[Any, Any]
else:
    Column = models.Field

MACHINES = frozenset({Maker.MODEL, Maker.CONTENTS, Maker.RULES, Maker.TOOL})
"""Makers whose memories wait for approval under `Review.ALL`. What a person wrote, imported or
ordered to be rebuilt does not."""
ABOUT_FIELDS = (*OBSERVED_FIELDS, "bucket", "importance", "expires_at", "metadata")


RECOUNT_SHARE, RECOUNT_LEAST = 0.2, 50
"""Words are counted again when so many memories, as a share or in all, have come since the last
count: BM25 has to know which words are rare."""
VECTOR_TYPES = {
    HalfVectorField: ("halfvec", register_halfvec_info),
    VectorField: ("vector", register_vector_info),
}
_type_infos: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


class LedgerConflict(Exception):
    """Another writer changed what the plan rests on: plan again."""


@dataclass(frozen=True)
class CommitResult:
    """Ids in the order of the plan. `superseded` and `formerly` are older memories whose link is
    in effect."""

    ids: list[UUID] = field(default_factory=list)
    superseded: list[UUID] = field(default_factory=list)
    confirmed: list[UUID] = field(default_factory=list)
    formerly: list[UUID] = field(default_factory=list)
    observations: list[UUID] = field(default_factory=list)
    state: State = State.ACTIVE


@contextmanager
def namespace_transaction(namespace: Namespace) -> Iterator[Namespace]:
    """Open a transaction in which the caller alone writes this memory; yield the locked, fresh
    row."""
    with transaction.atomic():
        yield lock_namespace(namespace)


def lock_namespace(namespace: Namespace) -> Namespace:
    """Lock the namespace's row until the transaction ends. Raise `NotFound` if it was deleted."""
    # No writer reads when the namespace was created.
    rows = Namespace.objects.select_for_update().defer("created_at")
    locked = rows.filter(pk=namespace.pk).first()
    if locked is None:
        raise NotFound("This memory was deleted.")
    return locked


def commit(namespace: Namespace, plan: Plan) -> CommitResult:
    """Write `plan` as a whole, or raise `LedgerConflict` and write nothing.

    Call it inside `namespace_transaction` when a check and the commit, or several commits, belong
    together.
    """
    with namespace_transaction(namespace) as locked:
        machine_state = reviewed_state(locked)
        check_unchanged(locked, plan, machine_state)
        states = {
            memory.id: memory.state
            or (machine_state if memory.made_by in MACHINES else State.ACTIVE)
            for memory in plan.memories
        }
        # A link of a memory that waits for approval takes effect when it is approved.
        effective = [
            link for link in plan.links if states.get(link.newer, State.ACTIVE) == State.ACTIVE
        ]
        superseded_ids = unique(link.older for link in effective if link.kind != Link.FORMERLY)
        write_observations(locked, plan)
        write_memories(locked, plan, states, superseded=set(superseded_ids))
        write_evidence(plan)
        write_links(plan, in_effect=set(effective))
        change_state(
            [pk for pk in superseded_ids if pk not in states],
            to=State.SUPERSEDED,
            by=plan.by,
            reason=plan.replace_reason,
        )
        update_counters(locked, plan)
    return CommitResult(
        ids=list(states),
        superseded=superseded_ids,
        confirmed=list(plan.confirmed),
        formerly=unique(link.older for link in effective if link.kind == Link.FORMERLY),
        observations=[observation.id for observation in plan.observations],
        state=machine_state,
    )


def reviewed_state(namespace: Namespace) -> State:
    """The state in which a machine's memories begin."""
    return State.PENDING if namespace.review == Review.ALL else State.ACTIVE


def check_unchanged(namespace: Namespace, plan: Plan, machine_state: State) -> None:
    """Lock the stored memories of the plan; raise `LedgerConflict` unless all are still as it
    expects."""
    if plan.assumed_state not in (None, machine_state):
        raise LedgerConflict("the review policy changed")
    if stored := plan.stored_ids:
        rows = MemoryItem.objects.of(namespace).filter(pk__in=stored, state__in=plan.replaceable)
        # Always in the same order: two writers that lock the same rows must not deadlock.
        if len(rows.order_by("pk").select_for_update().values_list("pk", flat=True)) < len(stored):
            raise LedgerConflict("a memory is no longer in use")


def write_observations(namespace: Namespace, plan: Plan) -> None:
    rows = [
        (new.id, new.text, *(getattr(new.about, name) for name in OBSERVED_FIELDS))
        for new in plan.observations
    ]
    shared = {"namespace": namespace.pk, "batch": uuid7()}
    copy_rows(Observation, ["id", "text", *OBSERVED_FIELDS], rows, **shared)


def write_memories(
    namespace: Namespace, plan: Plan, states: dict[UUID, State], *, superseded: set[UUID]
) -> None:
    """Insert the memories with their vectors and log their states.

    A memory that is superseded within its own plan is stored as such, and its log has both states.
    """
    vectors = None if plan.vectors is None or namespace.has_own_vectors else plan.vectors
    shared: dict[str, object] = {"namespace": namespace.pk}
    if vectors is not None:
        shared |= {"embedding_model": get_embedder("memory").name, "embedded_rev": 1}
    columns = ["id", "text", "made_by", "payload", "language", "timestamp_ms", "state", "embedding"]
    rows = [
        (
            new.id,
            new.text,
            new.made_by,
            new.payload,
            new.language or namespace.language,
            stamp,
            State.SUPERSEDED if new.id in superseded else states[new.id],
            None if vectors is None else HalfVector(vectors[row]),
            new.about.heading,
            *(getattr(new.about, name) for name in ABOUT_FIELDS),
        )
        for row, (new, stamp) in enumerate(
            zip(plan.memories, timestamps(namespace, plan.memories), strict=True)
        )
    ]
    copy_rows(MemoryItem, [*columns, "context", *ABOUT_FIELDS], rows, **shared)
    changes = [(pk, state, plan.reason) for pk, state in states.items()]
    changes += [(pk, State.SUPERSEDED, plan.replace_reason) for pk in states if pk in superseded]
    log_states(changes)
    if namespace.has_own_vectors and plan.vectors is not None:
        pairs = zip(states, map(Vector, plan.vectors), strict=True)
        copy_rows(ClientVector, ["memory", "vector"], pairs, namespace=namespace.pk)


def timestamps(namespace: Namespace, memories: Iterable[NewMemory]) -> list[int]:
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
    """A memory rests on its observations, and on what the stored memories rest on that it takes
    the place of."""
    observations_of = {new.id: dict.fromkeys(new.observed) for new in plan.memories}
    observations_of |= {pk: dict.fromkeys(seen) for pk, seen in plan.confirmed.items()}
    replacing = [link for link in plan.links if link.kind != Link.FORMERLY]
    stored_evidence = evidence_of({pk for link in replacing for pk in (link.older, link.newer)})
    inherited_by: dict[UUID, dict[UUID, None]] = {}
    # In the order of the plan: what an older memory of the same plan inherited is passed on.
    for link in replacing:
        of_older = dict.fromkeys(stored_evidence.get(link.older, ())) | inherited_by.get(
            link.older, {}
        )
        inherited_by.setdefault(link.newer, {}).update(of_older)
    for memory, observations in inherited_by.items():
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
    known_links: set[tuple[UUID, UUID, str]] = set()
    new = {memory.id for memory in plan.memories}
    if between_stored := [link for link in plan.links if link.newer not in new]:
        rows = Succession.objects.filter(
            older__in=[link.older for link in between_stored],
            newer__in=[link.newer for link in between_stored],
        )
        known_links = set(rows.values_list("older_id", "newer_id", "kind"))
    rows_to_copy = []
    for link in plan.links:
        if (link.older, link.newer, link.kind) in known_links:
            Succession.objects.filter(older=link.older, newer=link.newer, kind=link.kind).update(
                in_effect=True, undone_at=None, reason=link.reason[:300]
            )
        else:
            values = (link.older, link.newer, link.kind, link.reason[:300])
            rows_to_copy.append((uuid7(), *values, link in in_effect))
    columns = ["id", "older", "newer", "kind", "reason", "in_effect"]
    copy_rows(Succession, columns, rows_to_copy)


def update_counters(namespace: Namespace, plan: Plan) -> None:
    """Count the write on the locked row; when enough words are uncounted, count them after the
    commit."""
    namespace.revision += 1
    namespace.words_uncounted += len(plan.memories)
    namespace.save(update_fields=["revision", "last_timestamp_ms", "words_uncounted"])
    enough = max(RECOUNT_LEAST, RECOUNT_SHARE * namespace.words_counted)
    if plan.memories and namespace.words_uncounted >= enough:
        transaction.on_commit(partial(recount_words, namespace))


def bump_revision(namespace: Namespace) -> None:
    """Note a change of existing memories on the locked row: caches compare revisions."""
    namespace.revision += 1
    namespace.save(update_fields=["revision"])


def unique(ids: Iterable[UUID]) -> list[UUID]:
    return list(dict.fromkeys(ids))


def change_state(
    ids: Collection[UUID], *, to: State, by: str = "", reason: str = "", at: datetime | None = None
) -> int:
    """Put the memories into another state; return how many were in a different one. Call within
    a transaction."""
    if not ids:
        return 0
    elsewhere = MemoryItem.objects.filter(pk__in=ids).exclude(state=to).order_by("pk")
    changing = list(elsewhere.select_for_update().values_list("pk", flat=True))
    MemoryItem.objects.filter(pk__in=changing).update(state=to, updated_at=timezone.now())
    log_states([(pk, to, reason) for pk in changing], by=by, at=at)
    return len(changing)


def log_states(
    changes: Iterable[tuple[UUID, State, str]], *, by: str = "", at: datetime | None = None
) -> None:
    """Log (memory, state, reason) rows."""
    rows = [(pk, state, reason[:300]) for pk, state, reason in changes]
    shared = {"at": at or timezone.now(), "by": by[:120]}
    copy_rows(StateChange, ["memory", "state", "reason"], rows, **shared)


def copy_rows(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]], **shared: Any
) -> None:
    """Insert `rows` by COPY: values of the fields `columns`, in that order.

    `shared` is the same in each row, and every other field has its default. Vectors are
    `pgvector.HalfVector` or `pgvector.Vector`. Signals are not sent; triggers and constraints work.
    """
    rows = list(rows)
    if not rows:
        return
    varying = [field_of(model, name) for name in columns]
    constant = {field_of(model, name): value for name, value in shared.items()}
    constant = dict(default_values(model, {*varying, *constant})) | constant
    fields, tail = [*varying, *constant], tuple(constant.values())
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join([sql.Identifier(str(field.column)) for field in fields]),
    )
    with connection.cursor() as cursor:
        register_vector_types(cursor.cursor, fields)
        with cursor.copy(statement) as copy:
            # Binary COPY converts nothing: every value has to have the column's very type.
            copy.set_types([sql_type_name(field) for field in fields])
            for row in rows:
                copy.write_row((*row, *tail))


def field_of(model: type[models.Model], name: str) -> Column:
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field), name
    return field


def default_values(
    model: type[models.Model], given_fields: set[Column]
) -> Iterator[tuple[Column, Any]]:
    """The defaults of all other fields, which COPY must be given: the table does not know most."""
    now = timezone.now()
    for column in model._meta.concrete_fields:
        has_number = isinstance(column, models.AutoField | models.BigAutoField)
        if column in given_fields or has_number or column.has_db_default():
            continue
        is_clock = getattr(column, "auto_now", False) or getattr(column, "auto_now_add", False)
        value = now if is_clock else column.get_default()
        if value is not None:
            yield column, value


def sql_type_name(field: Column) -> str:
    """The column's type without its length: "varchar(8)" is "varchar"."""
    return str(field.db_type(connection)).partition("(")[0].removesuffix(" CHECK").strip()


def register_vector_types(cursor: Any, fields: Sequence[Column]) -> None:
    """Let `cursor` write pgvector's types; raise if the extension is not installed."""
    # For this cursor alone: on the connection it would change what every other read returns.
    for kind, (name, register) in VECTOR_TYPES.items():
        if any(isinstance(field, kind) for field in fields):
            # A type's number costs a query, sent once in the life of a connection.
            infos = _type_infos.setdefault(cursor.connection, {})
            if name not in infos:
                infos[name] = TypeInfo.fetch(cursor.connection, name)
            register(cursor, infos[name])
