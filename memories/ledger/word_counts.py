"""Keep the word statistics of a namespace near the truth: BM25 has to know which words are rare."""

from django.db.models import F
from django.db.models.functions import Greatest

from memories.models import MemoryItem, Namespace
from retrieval.indexing import count_words

SHARE, LEAST = 0.2, 50
"""Count again when so many memories have come since the last count."""


def keep_up(namespace: Namespace) -> None:
    """Count the words again if enough has come; outside any transaction of the caller's, and cheap when not."""
    state = (
        Namespace.objects.filter(pk=namespace.pk)
        .values_list("words_counted", "words_uncounted")
        .first()
    )
    if state and state[1] >= max(LEAST, SHARE * state[0]):
        recount(namespace)


def recount(namespace: Namespace) -> None:
    waiting = Namespace.objects.filter(pk=namespace.pk)
    before = waiting.values_list("words_uncounted", flat=True).get()
    counted = count_words(MemoryItem, [namespace.pk])
    left = Greatest(
        F("words_uncounted") - before, 0
    )  # two who counted at once subtract the same twice
    waiting.update(words_counted=counted, words_uncounted=left)
