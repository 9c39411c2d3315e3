"""The word statistics of a namespace, by which BM25 knows which words are rare."""

from django.db.models import F
from django.db.models.functions import Greatest

from memories.models import MemoryItem, Namespace
from retrieval.indexing import count_words


def recount_words(namespace: Namespace) -> None:
    """Count the words of the namespace's memories. Call it outside the transaction that wrote
    them."""
    rows = Namespace.objects.filter(pk=namespace.pk)
    before = rows.values_list("words_uncounted", flat=True).get()
    row_count = count_words(MemoryItem, [namespace.pk])
    # Two processes that counted at once subtract the same memories twice.
    rest = Greatest(F("words_uncounted") - before, 0)
    rows.update(words_counted=row_count, words_uncounted=rest)
