"""Deletion for good, with a receipt: rows, history, vectors, words, graph, audit, answers, caches.

Everything is deleted in one transaction. Afterwards `verify` searches all tables for what is left
and writes it on the receipt. The ids of erased rows are kept as tombstones, so that no import
restores them.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from knowledge.graph.models import GraphEdge, GraphNode
from memories import core, folders
from memories.curation.rebuild import derive_from_observations, observations_without_memory
from memories.erasure import lineage
from memories.erasure.lineage import CHUNK, ErasureSet, chunks
from memories.erasure.scrub import scrub_agent, scrub_answers, scrub_audit, scrub_core
from memories.erasure.verify import search_leftovers
from memories.ledger.commit import change_state, lock_namespace
from memories.ledger.turns import link_turns, turns_after
from memories.ledger.word_counts import recount_words
from memories.models import ErasureReceipt, MemoryItem, Message, Namespace, Tombstone
from memories.states import State
from memories.text_caches import clear_text_caches
from retrieval.embedders import clear_query_caches, delete_vectors
from retrieval.indexing import count_words
from retrieval.models import ScopeStatistics, WordStatistics

Scope = ErasureReceipt.Scope
# A trigger refuses to delete observations unless this transaction-local setting is on.
ALLOW_DELETION = "SELECT set_config('memory37.deletion', %s, true)"


@dataclass(frozen=True)
class ErasedPart:
    """What was erased from one namespace: its receipt, and the texts to search for."""

    receipt: ErasureReceipt
    texts: Sequence[str]
    texts_in_cache: Sequence[str]


def erase(
    namespace: Namespace,
    scope: str,
    target: UUID | str = "",
    *,
    by: str = "",
    reason: str = "",
    also: Collection[UUID | str] = (),
) -> ErasureReceipt:
    """Erase the part of `namespace` that `scope` and `target` select, and verify that it is gone.

    `target` is the id of a memory, a source, a subject, or empty for the whole namespace. `also`
    are further memories, such as those that mention a subject (`memories.curation.mentions`). What
    was derived from the selected rows or repeats their texts is erased with them. Raise `NotFound`
    for an unknown memory, `Invalid` for an empty source or subject.
    """
    erased = erase_part(namespace, scope, target, by=by, reason=reason, also=also)
    verify(erased)
    return erased[0].receipt


def erase_from_all(
    namespaces: Sequence[Namespace], scope: str, target: str, *, by: str = "", reason: str = ""
) -> list[ErasureReceipt]:
    """Erase the same source or subject from each of `namespaces`, like `erase`, and verify all of
    it by one search: it reads every table, however little was erased."""
    by_namespace = [
        erase_part(namespace, scope, target, by=by, reason=reason) for namespace in namespaces
    ]
    verify([part for parts in by_namespace for part in parts])
    return [parts[0].receipt for parts in by_namespace]


def erase_part(
    namespace: Namespace,
    scope: str,
    target: UUID | str,
    *,
    by: str,
    reason: str,
    also: Collection[UUID | str] = (),
) -> list[ErasedPart]:
    """Erase, and return what was erased from `namespace`, and then from those who were told."""
    is_whole = scope == Scope.NAMESPACE
    with transaction.atomic(), connection.cursor() as cursor:
        namespace = lock_namespace(namespace)
        cursor.execute(ALLOW_DELETION, ["for good"])
        selection = lineage.collect(namespace, scope, target, also=also)
        told_on = lineage.hearsay_in_other_namespaces(namespace, selection.memories)
        # The receipt has no foreign key to the namespace: it has to survive its deletion.
        receipt = ErasureReceipt.objects.create(
            world=namespace.world,
            namespace_id_was=namespace.pk,
            scope=scope,
            requested_by=by[:150],
            reason=reason[:300],
        )
        tombstones = [Tombstone(pk=pk, receipt=receipt) for pk in selection.ids]
        Tombstone.objects.bulk_create(tombstones, ignore_conflicts=True, batch_size=CHUNK)
        texts_in_cache = [*selection.texts, *selection.indexed_texts()]
        counts = delete_rows(namespace, selection, texts_in_cache=texts_in_cache, is_whole=is_whole)
        receipt.counts = dict(counts)
        receipt.save(update_fields=["counts"])
        cursor.execute(ALLOW_DELETION, [""])
    parts = [ErasedPart(receipt, selection.texts, texts_in_cache)]
    for listener, memory in told_on:
        # The same text told on along another way is gone by now.
        if MemoryItem.objects.filter(pk=memory).exists():
            parts += erase_part(listener, Scope.MEMORY, memory, by=by, reason=reason)
    # Caches and files cannot be rolled back, so they change only after the commit.
    _clean_up_outside_transaction(namespace, is_whole=is_whole)
    return parts


def verify(parts: Sequence[ErasedPart]) -> None:
    """Search all tables for what is left of `parts`, and the cache for the vectors of their texts,
    and write it on the receipts; each says what is left of any of them."""
    if not parts:
        return
    receipts = [part.receipt for part in parts]
    leftovers = search_leftovers(
        [receipt.namespace_id_was for receipt in receipts],
        list(Tombstone.objects.filter(receipt__in=receipts).values_list("pk", flat=True)),
        [text for part in parts for text in part.texts],
        texts_in_cache=[text for part in parts for text in part.texts_in_cache],
    )
    for receipt in receipts:
        receipt.leftovers, receipt.verified_at = leftovers, timezone.now()
        receipt.save(update_fields=["leftovers", "verified_at"])


def delete_rows(
    namespace: Namespace,
    selection: ErasureSet,
    *,
    texts_in_cache: list[str],
    is_whole: bool,
) -> Counter[str]:
    """Delete the selected rows and every copy of their texts, and the cached vectors of
    `texts_in_cache`; return how many of each kind."""
    counts: Counter[str] = Counter()
    # Read what depends on the rows before they are gone.
    restorable = [] if is_whole else lineage.restorable(namespace, selection)
    counts["cached vectors"] = delete_vectors(texts_in_cache)
    turns = {model: turns_after(model, ids) for model, ids in selection.ids_of_turns.items()}
    for model, ids in selection.ids_by_model.items():
        for chunk in chunks(ids):
            counts += count_by_model(model._default_manager.filter(pk__in=chunk).delete()[1])
    for model, following in turns.items():
        link_turns(model, following)
    counts["core lines"] = scrub_core(namespace, selection.texts)
    refs = [ref for pk in selection.ids for ref in (str(pk), f"memory:{pk}")]
    counts["graph facts"] = sum(
        model.objects.filter(source_ref__in=refs).delete()[0] for model in (GraphEdge, GraphNode)
    )
    counts["learned or unfinished"] = scrub_agent(namespace, selection.ids, selection.texts)
    counts["audited calls"] = scrub_audit(namespace, selection.ids, selection.texts)
    counts["stored answers"] = scrub_answers(namespace, selection.ids, selection.texts)
    if is_whole:
        scope = str(namespace.pk)
        counts["word counts"] = ScopeStatistics.objects.filter(scope=scope).delete()[0]
        counts["word counts"] += WordStatistics.objects.filter(scope=scope).delete()[0]
        counts += count_by_model(Namespace.objects.filter(pk=namespace.pk).delete()[1])
    else:
        change_state(restorable, to=State.ACTIVE, reason="what replaced it was erased")
        counts["back in use"] = len(restorable)
        orphans = observations_without_memory(namespace)
        counts["derived again"] = derive_from_observations(namespace, orphans)
    return +counts


def count_by_model(counts: dict[str, int]) -> Counter[str]:
    """Return the counts of `QuerySet.delete` with `memoryitem` in place of
    `memories.MemoryItem`."""
    return Counter({label.split(".")[-1].lower(): count for label, count in counts.items()})


def _clean_up_outside_transaction(namespace: Namespace, *, is_whole: bool) -> None:
    """Clear this process's caches, the files of the folder and the word statistics."""
    clear_query_caches()
    clear_text_caches()
    folder = Path(namespace.path) if namespace.path else None
    if is_whole:
        if folder:
            (folder / folders.CORE_FILE).unlink(missing_ok=True)
            (folder / folders.MARKER).unlink(missing_ok=True)
        return
    recount_words(namespace)
    count_words(Message, [namespace.pk])
    if folder and folder.is_dir():
        folders.export_core(core.current(namespace).markdown, folder / folders.CORE_FILE)
