"""Memories about others that name a subject: its deletion would leave them."""

from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from memories.models import MemoryItem, Namespace
from memories.search.named import named_names
from memories.similarity.own_names import given_names
from retrieval.errors import Invalid
from retrieval.text import name_words

MOST_READ = 5_000
"""Memories with the beginning of a name that are read in full."""
BEGINNING = 4
"""Letters of a name by which its memories are read: endings vary, beginnings hardly do."""


def names_of(namespace: Namespace, subject: str) -> list[str]:
    """Return the subject and the aliases that memories about it give."""
    about = MemoryItem.objects.of(namespace).filter(Q(subject=subject) | Q(speaker=subject))
    names = [subject]
    for own, metadata in about.filter(subject=subject).values_list("subject", "metadata"):
        names += given_names(own, metadata)
    return list(dict.fromkeys(names))


def mentions(namespace: Namespace, subject: str) -> Sequence[MemoryItem]:
    """Return the memories, latest first, that are neither about `subject` nor said by it, and that
    name it, inflected or by an alias. Raise `Invalid` for an empty subject."""
    if not subject.strip():
        raise Invalid(_("Name the subject."))
    names = [name for name in names_of(namespace, subject) if name.strip()]
    beginnings = {word.norm[:BEGINNING] for name in names for word in name_words(name)}
    if not beginnings:
        return []
    has_beginning = Q()
    for beginning in beginnings:
        has_beginning |= Q(text__icontains=beginning)
    rows = MemoryItem.objects.of(namespace).exclude(subject=subject).exclude(speaker=subject)
    rows = rows.filter(has_beginning).latest_first().without_index_columns()[:MOST_READ]
    return [row for row in rows if named_names(row.text, names)]
