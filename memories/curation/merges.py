"""Merges that rules made and nobody has checked: the most doubtful first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, F, FloatField, Func, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext as _

from memories.curation.lifecycle import find_memory, return_to_use
from memories.ledger.commit import namespace_transaction
from memories.models import MemoryItem, Namespace, Succession
from memories.similarity.resolve import IN_OTHER_WORDS, SAYS_THE_SAME
from memories.states import LinkKind, State
from retrieval.errors import Conflict, NotFound


@dataclass(frozen=True)
class UncheckedMerge:
    """`similarity` is the cosine of both; None if one of them has no vector yet."""

    id: UUID
    older: MemoryItem
    newer: MemoryItem
    similarity: float | None


def unchecked_merges(namespace: Namespace) -> "QuerySet[Any]":
    """Return the links of merges by rules that nobody has checked, each with the `distance` of both
    memories: those that the model found first, then those of rules, the least similar pair
    first."""
    distance = Func(
        *(F("older__embedding"), F("newer__embedding")),
        template="(%(expressions)s)",
        arg_joiner=" <=> ",
        output_field=FloatField(),
    )
    rows = Succession.objects.filter(
        newer__namespace=namespace,
        newer__state=State.ACTIVE,
        kind=LinkKind.MERGED,
        reason__startswith=SAYS_THE_SAME,
        in_effect=True,
        checked_at=None,
    )
    # Vectors of two models cannot be compared, nor have all widths in common.
    rows = rows.filter(older__embedding_model=F("newer__embedding_model"))
    in_other_words = Case(When(reason=IN_OTHER_WORDS, then=0), default=1)
    return rows.annotate(distance=distance).order_by(
        in_other_words, F("distance").desc(nulls_first=True), "pk"
    )


def list_merges(namespace: Namespace, *, limit: int) -> Sequence[UncheckedMerge]:
    links = list(unchecked_merges(namespace)[:limit])
    ids = {pk for link in links for pk in (link.older_id, link.newer_id)}
    items = MemoryItem.objects.without_index_columns().in_bulk(ids)
    return [
        UncheckedMerge(
            link.pk,
            items[link.older_id],
            items[link.newer_id],
            None if link.distance is None else 1 - link.distance,
        )
        for link in links
    ]


def confirm_merge(namespace: Namespace, merge_id: UUID | str) -> MemoryItem:
    """Note that both say the same, so that the merge is not listed any more; return the newer
    one."""
    with namespace_transaction(namespace):
        link = find_merge(namespace, merge_id)
        Succession.objects.filter(pk=link.pk).update(checked_at=timezone.now())
        return find_memory(namespace, link.newer_id)


def separate(namespace: Namespace, merge_id: UUID | str, *, by: str) -> MemoryItem:
    """Bring the older memory back beside the newer one; return it."""
    with namespace_transaction(namespace):
        link = find_merge(namespace, merge_id)
        Succession.objects.filter(pk=link.pk).update(checked_at=timezone.now())
        return return_to_use(namespace, link.older_id, by=by, reason="not the same")


def find_merge(namespace: Namespace, merge_id: UUID | str) -> Succession:
    """Raise `NotFound` for another namespace's, `Conflict` for one that was undone."""
    rows = Succession.objects.filter(newer__namespace=namespace, kind=LinkKind.MERGED)
    try:
        link = rows.filter(pk=UUID(str(merge_id))).first()
    except ValueError:
        link = None
    if link is None:
        raise NotFound(_("There is no such merge."))
    if not link.in_effect:
        raise Conflict(_("This merge was undone already."))
    return link
