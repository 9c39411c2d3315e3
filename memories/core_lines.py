"""The lines of the core memory, each with the memories it comes from.

A line rests on memories that say the same in enough common words; else, if a language model wrote
it after new memories, on all of those, so that a deletion of them is noticed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from memories import core_policy
from memories.ledger.valid_evidence import is_valid
from memories.models import CoreLine, CoreLineSource, MemoryItem, Namespace
from memories.search import recall
from memories.similarity import coverage
from memories.similarity.compare import overlap
from retrieval.errors import NotFound
from retrieval.search import Mode

CANDIDATES = 20
"""Memories with words of a line that are compared with it."""
MOST_SOURCES = 5


@dataclass(frozen=True)
class LineEvidence:
    """A line, the memories it rests on that are valid, and how many others it rested on. `id` is
    None for a line from before its evidence was recorded."""

    section: str
    text: str
    id: UUID | None = None
    memories: Sequence[MemoryItem] = ()
    retracted: int = 0


def record_lines(namespace: Namespace, markdown: str, *, new_memories: Collection[UUID]) -> None:
    """Record the evidence of the lines that are new, and delete that of lines that are gone. Call
    it under the namespace's lock."""
    texts = dict.fromkeys(text for _section, text in core_policy.parse_core(markdown).bullets)
    namespace.core_lines.exclude(text__in=texts).delete()
    known = set(namespace.core_lines.values_list("text", flat=True))
    for text in texts.keys() - known:
        ids = memories_of(namespace, text, new_memories=new_memories)
        line = namespace.core_lines.create(text=text, rests_on=len(ids))
        CoreLineSource.objects.bulk_create(CoreLineSource(line=line, memory_id=pk) for pk in ids)


def memories_of(
    namespace: Namespace, line: str, *, new_memories: Collection[UUID]
) -> Sequence[UUID]:
    """Return the memories that `line` rests on, the one that says most of it first."""
    # By words alone: this runs in a transaction, in which no model is called.
    found = recall.search(
        namespace, line, mode=Mode.KEYWORD, limit=CANDIDATES, sources=False, count_recalls=False
    )
    texts = {memory.id: memory.text for memory in found.memories}
    written = MemoryItem.objects.of(namespace).filter(pk__in=new_memories).active()
    new_texts = dict(written.values_list("pk", "text"))
    shares = {
        pk: overlap(line, text)
        for pk, text in (texts | new_texts).items()
        if coverage.is_same_text(line, text) or coverage.shares_words(line, text)
    }
    return sorted(shares, key=lambda pk: -shares[pk])[:MOST_SOURCES] or list(new_texts)


def lines_with_evidence(namespace: Namespace, markdown: str) -> list[LineEvidence]:
    """Return the lines of `markdown`, the current core memory, in their order."""
    lines = {line.text: line for line in namespace.core_lines.all()}
    valid = CoreLineSource.objects.filter(is_valid("memory"), line__namespace=namespace)
    memories: dict[UUID, list[MemoryItem]] = {}
    # The larger columns of a memory are read by searches alone.
    columns = ("memory__embedding", "memory__search_vector")
    for source in valid.select_related("memory").defer(*columns).order_by("pk"):
        memories.setdefault(source.line_id, []).append(source.memory)
    found = []
    for section, text in core_policy.parse_core(markdown).bullets:
        line = lines.get(text)
        own = memories.get(line.pk, []) if line else []
        retracted = line.rests_on - len(own) if line else 0
        found.append(LineEvidence(section, text, line.pk if line else None, own, retracted))
    return found


def confirm_line(namespace: Namespace, line_id: UUID | str) -> None:
    """Note that a line holds although memories it rested on were retracted."""
    line = find_line(namespace, line_id)
    sources = CoreLineSource.objects.filter(line=line)
    sources.exclude(pk__in=sources.filter(is_valid("memory")).values("pk")).delete()
    CoreLine.objects.filter(pk=line.pk).update(rests_on=sources.count())


def find_line(namespace: Namespace, line_id: UUID | str) -> CoreLine:
    try:
        line = namespace.core_lines.filter(pk=UUID(str(line_id))).first()
    except ValueError:
        line = None
    if line is None:
        raise NotFound(_("There is no such line in this core memory."))
    return line
