"""Deletion for good, with a receipt: rows, history, vectors, words, graph, audit, stored answers and caches.

Everything is deleted in one transaction; afterwards a verifier looks through every table for what is left and writes
what it finds on the receipt. Ids of what was erased are kept as tombstones, so that no import brings it back.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from knowledge.graph.models import GraphEdge, GraphNode
from memories import core, folders
from memories.curation.lifecycle import find
from memories.curation.rebuild import derive_again, observations_without_memory
from memories.erasure import lineage
from memories.erasure.lineage import MIN_QUOTE_LENGTH, ErasureSet
from memories.erasure.scrub import scrub_agent, scrub_answers, scrub_audit
from memories.erasure.verify import leftovers
from memories.ledger import state_changes, word_counts
from memories.models import (
    CoreProposal,
    CoreVersion,
    ErasureReceipt,
    MemoryItem,
    Message,
    Namespace,
    Observation,
    Tombstone,
)
from memories.states import State
from memories.text_caches import clear_text_caches
from retrieval.embedders import forget_queries, forget_texts
from retrieval.errors import Invalid
from retrieval.indexing import count_words
from retrieval.models import ScopeStatistics, WordStatistics

Scope = ErasureReceipt.Scope
FOR_GOOD = "SELECT set_config('memory37.deletion', 'for good', true)"


def erase_memory(
    namespace: Namespace, memory_id: UUID | str, *, by: str = "", reason: str = ""
) -> ErasureReceipt:
    """Erase one memory, its former wordings, what it rests on, what was made of it, and what says the same."""
    memory = find(namespace, memory_id)
    return _erase(
        namespace,
        Scope.MEMORY,
        lambda: lineage.collect_memory(namespace, memory.pk),
        by=by,
        reason=reason,
    )


def erase_source(
    namespace: Namespace, source: str, *, by: str = "", reason: str = ""
) -> ErasureReceipt:
    """Erase what came from `source`, and everything that rests on it."""
    wanted = _named(source, "source")
    return _erase(
        namespace,
        Scope.SOURCE,
        lambda: lineage.collect_source(namespace, wanted),
        by=by,
        reason=reason,
    )


def erase_subject(
    namespace: Namespace, subject: str, *, by: str = "", reason: str = ""
) -> ErasureReceipt:
    """Erase what is about `subject` or was said by them, and everything that rests on it."""
    wanted = _named(subject, "subject")
    return _erase(
        namespace,
        Scope.SUBJECT,
        lambda: lineage.collect_subject(namespace, wanted),
        by=by,
        reason=reason,
    )


def erase_namespace(namespace: Namespace, *, by: str = "", reason: str = "") -> ErasureReceipt:
    """Erase the whole memory of an agent."""
    return _erase(namespace, Scope.NAMESPACE, lambda: _everything(namespace), by=by, reason=reason)


def verify_receipt(receipt: ErasureReceipt, *, texts: list[str] | None = None) -> ErasureReceipt:
    """Look for what is left, now; without `texts` by id only, for the receipt keeps none."""
    ids = list(receipt.tombstones.values_list("pk", flat=True))
    receipt.leftovers = leftovers(receipt.namespace_id_was, ids, texts or [])
    receipt.verified_at = timezone.now()
    receipt.save(update_fields=["leftovers", "verified_at"])
    return receipt


def _erase(
    namespace: Namespace, scope: Scope, select: Callable[[], ErasureSet], *, by: str, reason: str
) -> ErasureReceipt:
    with transaction.atomic(), connection.cursor() as cursor:
        locked = core.locked(namespace)
        cursor.execute(FOR_GOOD)
        doomed = select()
        receipt = ErasureReceipt.objects.create(
            world=locked.world,
            namespace_id_was=locked.pk,
            scope=scope,
            requested_by=by[:150],
            reason=reason[:300],
        )
        stones = [Tombstone(pk=pk, receipt=receipt) for pk in doomed.ids]
        Tombstone.objects.bulk_create(stones, ignore_conflicts=True, batch_size=5000)
        receipt.counts = dict(_delete(locked, doomed, whole=scope == Scope.NAMESPACE))
        receipt.save(update_fields=["counts"])
        cursor.execute("SELECT set_config('memory37.deletion', '', true)")
    _after(locked, whole=scope == Scope.NAMESPACE)
    return verify_receipt(receipt, texts=doomed.texts)


def _delete(namespace: Namespace, doomed: ErasureSet, *, whole: bool) -> Counter[str]:
    """Delete row by row kind; return how many of each."""
    counts: Counter[str] = Counter()
    back = [] if whole else lineage.restorable(namespace, doomed)
    headed = _headed(doomed.memories)
    for model, ids in (
        (MemoryItem, doomed.memories),
        (Observation, doomed.observations),
        (Message, doomed.messages),
    ):
        for chunk in _chunks(ids):
            gone = model._default_manager.filter(pk__in=chunk).delete()[1]
            counts += Counter({_label(name): count for name, count in gone.items()})
    counts["core lines"] = _scrub_core(namespace, doomed.texts)
    counts["cached vectors"] = forget_texts([*doomed.texts, *headed])
    counts["graph facts"] = _forget_in_graph(doomed.ids)
    counts["learned or unfinished"] = scrub_agent(namespace, doomed.ids, doomed.texts)
    counts["audited calls"] = scrub_audit(namespace, doomed.ids, doomed.texts)
    counts["stored answers"] = scrub_answers(namespace, doomed.ids, doomed.texts)
    if whole:
        counts += _delete_namespace(namespace)
    else:
        state_changes.move(back, to=State.ACTIVE, reason="what replaced it was erased")
        counts["back in use"] = len(back)
        counts["derived again"] = derive_again(namespace, observations_without_memory(namespace))
    return +counts


def _headed(ids: set[UUID]) -> list[str]:
    """Texts as they were embedded, under their context."""
    rows = (MemoryItem.objects.filter(pk__in=chunk).exclude(context="") for chunk in _chunks(ids))
    return [item.indexed_text for found in rows for item in found.only("context", "text")]


def _chunks(ids: set[UUID]) -> Iterator[list[UUID]]:
    """PostgreSQL takes at most 65,535 parameters in a statement."""
    ordered = sorted(ids)
    yield from (ordered[start : start + 5000] for start in range(0, len(ordered), 5000))


def _delete_namespace(namespace: Namespace) -> Counter[str]:
    scope = str(namespace.pk)
    words = sum(
        model.objects.filter(scope=scope).delete()[0] for model in (ScopeStatistics, WordStatistics)
    )
    gone = Namespace.objects.filter(pk=namespace.pk).delete()[1]
    return Counter({_label(name): count for name, count in gone.items()} | {"word counts": words})


def _after(namespace: Namespace, *, whole: bool) -> None:
    """What lies outside the transaction: this process's caches, the folder, the counts of words."""
    forget_queries()
    clear_text_caches()
    folder = Path(namespace.path) if namespace.path else None
    if whole:
        for file in [folder / folders.CORE_FILE, folder / folders.MARKER] if folder else []:
            file.unlink(missing_ok=True)
        return
    word_counts.recount(namespace)
    count_words(Message, [namespace.pk])
    if folder and folder.is_dir():
        folders.export_core(core.current(namespace).markdown, folder / folders.CORE_FILE)


def _everything(namespace: Namespace) -> ErasureSet:
    doomed = ErasureSet(
        memories=set(namespace.memories.values_list("pk", flat=True)),
        observations=set(namespace.observations.values_list("pk", flat=True)),
        messages=set(namespace.messages.values_list("pk", flat=True)),
    )
    rows = (namespace.memories, namespace.observations, namespace.messages)
    doomed.texts = sorted(
        {text for manager in rows for text in manager.values_list("text", flat=True)}
    )
    return doomed


def _scrub_core(namespace: Namespace, texts: list[str]) -> int:
    """Take lines that say what is erased out of every version and proposal."""
    gone = 0
    rows: list[CoreVersion | CoreProposal] = [
        *namespace.core_versions.all(),
        *namespace.core_proposals.all(),
    ]
    for row in rows:
        lines = row.markdown.splitlines()
        kept = [line for line in lines if not _says(line, texts)]
        if len(kept) < len(lines):
            row.markdown, gone = "\n".join(kept) + "\n", gone + len(lines) - len(kept)
            row.save(update_fields=["markdown"])
    return gone


def _says(line: str, texts: list[str]) -> bool:
    said = line.strip().lstrip("-*+ ").strip()
    if not said or said.startswith("#"):
        return False
    return any(
        said == text or (len(text) >= MIN_QUOTE_LENGTH and text in said) for text in texts
    ) or any(len(said) >= MIN_QUOTE_LENGTH and said in text for text in texts)


def _forget_in_graph(ids: list[UUID]) -> int:
    refs = [form for pk in ids for form in (str(pk), f"memory:{pk}")]
    return sum(
        model.objects.filter(source_ref__in=refs).delete()[0] for model in (GraphEdge, GraphNode)
    )


def _label(model: str) -> str:
    return model.split(".")[-1].lower()


def _named(text: str, what: str) -> str:
    if not text.strip():
        raise Invalid(f"Name the {what} to erase.")
    return text
