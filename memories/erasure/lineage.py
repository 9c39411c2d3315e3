"""Select what has to be erased together: a memory, what it was derived from, what was derived from
it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection
from django.db.models import Model, Q
from django.utils.translation import gettext as _
from psycopg import sql

from memories.curation.lifecycle import find_memory
from memories.models import (
    ErasureReceipt,
    Evidence,
    Hearsay,
    MemoryItem,
    Message,
    Namespace,
    Observation,
    Succession,
)
from memories.states import LinkKind, State
from retrieval.errors import Invalid

Scope = ErasureReceipt.Scope
MIN_QUOTE_LENGTH = 20
"""Characters from which a text inside another one counts as a quotation and not as a
coincidence."""
CHUNK = 5000
"""Ids in one statement: PostgreSQL takes at most 65,535 parameters."""

CLOSURE = """
WITH RECURSIVE reached (id) AS (
    SELECT unnest(%(seeds)s::uuid[])
    UNION
    SELECT link.{target} FROM memories_succession link JOIN reached ON link.{origin} = reached.id
    WHERE link.kind <> 'formerly'
)
SELECT id FROM reached
"""
LEARNED_ONLY_FROM = """
SELECT id FROM memories_memoryitem
WHERE namespace_id = %(namespace)s AND jsonb_typeof(payload -> 'episodes') = 'array'
  AND payload -> 'episodes' <> '[]' AND payload -> 'episodes' <@ to_jsonb(%(ids)s::text[])
"""
QUOTING = """
SELECT id FROM {table} WHERE namespace_id = %(namespace)s AND (
    text = ANY(%(texts)s)
    OR EXISTS (SELECT 1 FROM unnest(%(quotable)s::text[]) quoted WHERE strpos(text, quoted) > 0))
"""


@dataclass
class ErasureSet:
    """Ids of the rows to erase, and their texts."""

    memories: set[UUID] = field(default_factory=set)
    observations: set[UUID] = field(default_factory=set)
    messages: set[UUID] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[UUID]:
        return sorted(self.memories | self.observations | self.messages)

    @property
    def ids_by_model(self) -> dict[type[Model], set[UUID]]:
        return {MemoryItem: self.memories, Observation: self.observations, Message: self.messages}

    @property
    def ids_of_turns(self) -> dict[type[MemoryItem] | type[Message], set[UUID]]:
        """The rows that other rows can have as the turn before."""
        return {MemoryItem: self.memories, Message: self.messages}

    def read_texts(self) -> None:
        texts: set[str] = set()
        for model, ids in self.ids_by_model.items():
            for chunk in chunks(ids):
                rows = model._default_manager.filter(pk__in=chunk)
                texts.update(rows.values_list("text", flat=True))
        self.texts = sorted(texts)

    def indexed_texts(self) -> list[str]:
        """Return the texts as they were embedded: memories and messages under their context."""
        return [
            row.indexed_text
            for model, ids in self.ids_of_turns.items()
            for chunk in chunks(ids)
            for row in model._default_manager.filter(pk__in=chunk).only("context", "text")
        ]


def chunks(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    sorted_ids = sorted(ids)
    yield from (sorted_ids[start : start + CHUNK] for start in range(0, len(sorted_ids), CHUNK))


def collect(
    namespace: Namespace, scope: str, target: UUID | str, *, also: Collection[UUID | str] = ()
) -> ErasureSet:
    """Return the rows of a scope and the memories `also`, with everything derived from them or
    repeating their texts.

    Raise `NotFound` for an unknown memory and `Invalid` for an empty source or subject.
    """
    if scope == Scope.NAMESPACE:
        whole = ErasureSet(
            memories=set(namespace.memories.values_list("pk", flat=True)),
            observations=set(namespace.observations.values_list("pk", flat=True)),
            messages=set(namespace.messages.values_list("pk", flat=True)),
        )
        whole.read_texts()
        return whole
    seeds = [find_memory(namespace, pk).pk for pk in also]
    if scope == Scope.MEMORY:
        seeds.append(find_memory(namespace, target).pk)
    elif not str(target).strip():
        raise Invalid(_("Name the %(scope)s to erase.") % {"scope": _(str(scope))})
    selection = collect_with_former(seeds)
    if scope == Scope.SOURCE:
        collect_matching(namespace, selection, Q(source=target), messages=Q(source=target))
    elif scope == Scope.SUBJECT:
        speaker = Q(speaker=target)
        collect_matching(namespace, selection, Q(subject=target) | speaker, messages=speaker)
    return expand(namespace, selection)


def collect_with_former(ids: Collection[UUID]) -> ErasureSet:
    """Select these memories and those they took the place of, with their observations."""
    memories = succession_closure(ids, origin="newer_id", target="older_id")
    return ErasureSet(memories, observations_of(memories))


def collect_matching(
    namespace: Namespace, selection: ErasureSet, condition: Q, *, messages: Q
) -> None:
    """Add the observations and memories that meet `condition`, and the messages that match."""
    observations = set(namespace.observations.filter(condition).values_list("pk", flat=True))
    matching = set(MemoryItem.objects.of(namespace).filter(condition).values_list("pk", flat=True))
    evidence = Evidence.objects.filter(observation__in=observations)
    memories = matching | set(evidence.values_list("memory_id", flat=True))
    # A memory can match although its observations do not; they hold the same information.
    matches = MemoryItem.objects.filter(pk__in=memories).filter(condition)
    observations |= observations_of(matches.values_list("pk", flat=True))
    selection.memories |= memories
    selection.observations |= observations
    selection.messages |= set(namespace.messages.filter(messages).values_list("pk", flat=True))


def expand(namespace: Namespace, selection: ErasureSet) -> ErasureSet:
    """Add descendants, patterns learned from nothing else, and rows with the same texts.

    Each added row can add further ones, so repeat until nothing is new.
    """
    while True:
        before = (len(selection.memories), len(selection.observations))
        selection.memories |= succession_closure(
            selection.memories, origin="older_id", target="newer_id"
        )
        values = {"namespace": namespace.pk, "ids": [str(pk) for pk in selection.memories]}
        patterns = select_ids(sql.SQL(LEARNED_ONLY_FROM), values) - selection.memories
        selection.memories |= patterns
        selection.observations |= observations_of(patterns)
        selection.read_texts()
        selection.memories |= rows_quoting(MemoryItem, namespace, selection.texts)
        selection.observations |= rows_quoting(Observation, namespace, selection.texts)
        if before == (len(selection.memories), len(selection.observations)):
            selection.messages |= rows_quoting(Message, namespace, selection.texts)
            selection.read_texts()
            return selection


def succession_closure(ids: Iterable[UUID], *, origin: str, target: str) -> set[UUID]:
    """Follow the links from `ids` at their `origin` end; return all ids reached, `ids` included."""
    statement = sql.SQL(CLOSURE).format(
        origin=sql.Identifier(origin), target=sql.Identifier(target)
    )
    return select_ids(statement, {"seeds": list(ids)})


def rows_quoting(model: type[Model], namespace: Namespace, texts: list[str]) -> set[UUID]:
    """Return the rows whose text equals one of `texts` or contains a long one."""
    values = {
        "namespace": namespace.pk,
        "texts": texts,
        "quotable": [text for text in texts if len(text) >= MIN_QUOTE_LENGTH],
    }
    return select_ids(sql.SQL(QUOTING).format(table=sql.Identifier(model._meta.db_table)), values)


def select_ids(statement: sql.Composable, values: dict[str, object]) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)  # type: ignore[arg-type]
        return {pk for (pk,) in cursor.fetchall()}


def quotes(value: str, texts: list[str]) -> bool:
    """Whether `value` equals one of `texts` or contains a long one."""
    return any(text == value or (len(text) >= MIN_QUOTE_LENGTH and text in value) for text in texts)


def is_quoted(value: str, texts: list[str]) -> bool:
    """Whether `value` is long enough to be a quotation and contained in one of `texts`."""
    return len(value) >= MIN_QUOTE_LENGTH and any(value in text for text in texts)


def observations_of(memories: Iterable[UUID]) -> set[UUID]:
    rows = Evidence.objects.filter(memory__in=list(memories))
    return set(rows.values_list("observation_id", flat=True))


def hearsay_in_other_namespaces(
    namespace: Namespace, memories: Iterable[UUID]
) -> list[tuple[Namespace, UUID]]:
    """Return the memories of other namespaces in which an NPC remembers that it was told one of
    `memories`, each with its namespace."""
    rows = Hearsay.objects.filter(heard_of__in=list(memories)).order_by("created_at", "pk")
    rows = rows.exclude(memory__namespace=namespace).select_related("memory__namespace")
    return [(row.memory.namespace, row.memory_id) for row in rows]


def restorable(namespace: Namespace, selection: ErasureSet) -> list[UUID]:
    """Return superseded memories all of whose successors are erased: they become active again."""
    links = Succession.objects.filter(in_effect=True).exclude(kind=LinkKind.FORMERLY)
    older_ids = links.filter(newer__in=selection.memories).values_list("older_id", flat=True)
    candidates = set(older_ids) - selection.memories
    others = links.filter(older__in=candidates).exclude(newer__in=selection.memories)
    # A memory that also has a successor that stays is still replaced.
    candidates -= set(others.values_list("older_id", flat=True))
    memories = MemoryItem.objects.of(namespace).filter(pk__in=candidates, state=State.SUPERSEDED)
    return list(memories.values_list("pk", flat=True))
