"""What belongs together when something has to go: a memory, what it was made of, what was made of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memories.models import Evidence, MemoryItem, Message, Namespace, Observation, Succession
from memories.states import Link, State

MIN_QUOTE_LENGTH = 20
"""Characters from which a text found inside another is taken for the same statement, not for a coincidence."""

CLOSURE = """
WITH RECURSIVE reached (id) AS (
    SELECT unnest(%(seeds)s::uuid[])
    UNION
    SELECT link.{to} FROM memories_succession link JOIN reached ON link.{since} = reached.id
    WHERE link.kind <> 'formerly'
)
SELECT id FROM reached
"""


LEARNED_FROM_NOTHING_ELSE = """
SELECT id FROM memories_memoryitem
WHERE namespace_id = %(namespace)s AND jsonb_typeof(payload -> 'episodes') = 'array'
  AND payload -> 'episodes' <> '[]' AND payload -> 'episodes' <@ to_jsonb(%(ids)s::text[])
"""


@dataclass
class ErasureSet:
    """Everything that goes, and what the deletion leaves to be mended."""

    memories: set[UUID] = field(default_factory=set)
    observations: set[UUID] = field(default_factory=set)
    messages: set[UUID] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[UUID]:
        return sorted(self.memories | self.observations | self.messages)


def collect_memory(namespace: Namespace, memory_id: UUID) -> ErasureSet:
    """A memory with its former wordings, the observations it rests on, and what was made of it."""
    back = ancestors([memory_id])
    return _completed(namespace, ErasureSet(memories=back, observations=_rests_on(back)))


def collect_source(namespace: Namespace, source: str) -> ErasureSet:
    return _of(namespace, Q(source=source), Q(source=source))


def collect_subject(namespace: Namespace, subject: str) -> ErasureSet:
    return _of(namespace, Q(subject=subject) | Q(speaker=subject), Q(speaker=subject))


def descendants(ids: Iterable[UUID]) -> set[UUID]:
    return _closure(ids, since="older_id", to="newer_id")


def ancestors(ids: Iterable[UUID]) -> set[UUID]:
    return _closure(ids, since="newer_id", to="older_id")


def restorable(namespace: Namespace, doomed: ErasureSet) -> list[UUID]:
    """Memories that were replaced by nothing but what goes now: they come back into use."""
    replaced = Succession.objects.filter(newer__in=doomed.memories, in_effect=True).exclude(
        kind=Link.FORMERLY
    )
    candidates = set(replaced.values_list("older_id", flat=True)) - doomed.memories
    others = Succession.objects.filter(older__in=candidates, in_effect=True).exclude(
        kind=Link.FORMERLY
    )
    still_replaced = set(
        others.exclude(newer__in=doomed.memories).values_list("older_id", flat=True)
    )
    superseded = MemoryItem.objects.of(namespace).filter(
        pk__in=candidates - still_replaced, state=State.SUPERSEDED
    )
    return list(superseded.values_list("pk", flat=True))


def _of(namespace: Namespace, marked: Q, said: Q) -> ErasureSet:
    seen = set(namespace.observations.filter(marked).values_list("pk", flat=True))
    memories = set(MemoryItem.objects.of(namespace).filter(marked).values_list("pk", flat=True))
    memories |= set(
        Evidence.objects.filter(observation__in=seen).values_list("memory_id", flat=True)
    )
    seen |= _rests_only_on(memories, marked)
    messages = set(namespace.messages.filter(said).values_list("pk", flat=True))
    return _completed(
        namespace, ErasureSet(memories=memories, observations=seen, messages=messages)
    )


def _rests_only_on(memories: set[UUID], marked: Q) -> set[UUID]:
    """Observations of memories that bear the mark themselves while their observations do not."""
    own = MemoryItem.objects.filter(pk__in=memories).filter(marked)
    return _rests_on(own.values_list("pk", flat=True))


def _completed(namespace: Namespace, doomed: ErasureSet) -> ErasureSet:
    """Add what was made of it, and whatever else in the namespace says the same, until nothing more is found."""
    while True:
        before = (len(doomed.memories), len(doomed.observations))
        doomed.memories |= descendants(doomed.memories)
        learned = _learned_only_from(namespace, doomed.memories) - doomed.memories
        doomed.memories |= learned
        doomed.observations |= _rests_on(learned)
        doomed.texts = _texts(doomed)
        doomed.memories |= _saying(MemoryItem, namespace, doomed.texts)
        doomed.observations |= _saying(Observation, namespace, doomed.texts)
        if before == (len(doomed.memories), len(doomed.observations)):
            doomed.messages |= _saying(Message, namespace, doomed.texts)
            doomed.texts = _texts(doomed)
            return doomed


def _learned_only_from(namespace: Namespace, memories: set[UUID]) -> set[UUID]:
    """Patterns that no other episode than these taught."""
    with connection.cursor() as cursor:
        values = {"namespace": namespace.pk, "ids": [str(pk) for pk in memories]}
        cursor.execute(LEARNED_FROM_NOTHING_ELSE, values)  # type: ignore[arg-type]
        return {pk for (pk,) in cursor.fetchall()}


def _texts(doomed: ErasureSet) -> list[str]:
    found: set[str] = set()
    for model, ids in (
        (MemoryItem, doomed.memories),
        (Observation, doomed.observations),
        (Message, doomed.messages),
    ):
        found |= set(model._default_manager.filter(pk__in=ids).values_list("text", flat=True))
    return sorted(found)


def _saying(model: type, namespace: Namespace, texts: list[str]) -> set[UUID]:
    table = model._meta.db_table  # type: ignore[attr-defined]
    statement = f"""
        SELECT id FROM {table} WHERE namespace_id = %(namespace)s AND (
            text = ANY(%(texts)s) OR EXISTS (SELECT 1 FROM unnest(%(sure)s::text[]) said WHERE strpos(text, said) > 0)
        )"""
    sure = [text for text in texts if len(text) >= MIN_QUOTE_LENGTH]
    with connection.cursor() as cursor:
        cursor.execute(statement, {"namespace": namespace.pk, "texts": texts, "sure": sure})
        return {pk for (pk,) in cursor.fetchall()}


def _rests_on(memories: Iterable[UUID]) -> set[UUID]:
    return set(
        Evidence.objects.filter(memory__in=list(memories)).values_list("observation_id", flat=True)
    )


def _closure(ids: Iterable[UUID], *, since: str, to: str) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(CLOSURE.format(since=since, to=to), {"seeds": list(ids)})
        return {pk for (pk,) in cursor.fetchall()}
