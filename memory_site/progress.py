"""The progress of embedding, and of what follows an upgrade, as lines of text for the terminal."""

import time
from collections.abc import Iterator

from django.db import connections
from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from retrieval.indexing import count_renewed, pending_passages
from retrieval.models import passage_models

LOOK_EVERY_SECONDS = 5.0
MANY = 50
"""Passages that wait for a vector, of which the terminal tells after the start."""


def count_embedded() -> tuple[int, int]:
    """Return the number of passages, and of those that have the vector of their present text."""
    total = ready = 0
    for model in passage_models():
        counts = model._default_manager.aggregate(
            all=Count("pk"), ready=Count("pk", Q(embedded_rev__gte=F("rev")))
        )
        total, ready = total + counts["all"], ready + counts["ready"]
    return total, ready


def embedding_progress() -> Iterator[str]:
    """Yield a line each time the number changed, until everything that was waiting is embedded."""
    total, ready = count_embedded()
    if ready == total:
        return
    yield _("Keyword search covers all texts. Vectors are being built in the background:")
    last_ready = -1
    while ready < total:
        if ready != last_ready:
            yield _("embedded %(done)s of %(total)s passages (%(share).0f %%)") % {
                "done": f"{ready:,}",
                "total": f"{total:,}",
                "share": 100 * ready / total,
            }
            last_ready = ready
        connections.close_all()
        time.sleep(LOOK_EVERY_SECONDS)
        total, ready = count_embedded()
    yield _("All %(total)s passages are embedded. Search now uses keywords and vectors.") % {
        "total": f"{total:,}"
    }


def later_progress() -> Iterator[str]:
    """Yield the progress of each later import, for as long as the site runs. Few passages, such as
    those of an entry that was saved, are embedded before anybody reads of them."""
    while True:
        connections.close_all()
        time.sleep(LOOK_EVERY_SECONDS)
        if sum(pending_passages(model).count() for model in passage_models()) >= MANY:
            yield from embedding_progress()


def words_progress() -> Iterator[str]:
    """Yield a line each time the number changed, until the words of all passages are as this
    version computes them."""
    total, ready = count_renewed_words()
    if ready == total:
        return
    last_ready = -1
    while ready < total:
        if ready != last_ready:
            yield _("upgrade: words of %(done)s of %(total)s passages (%(share).0f %%)") % {
                "done": f"{ready:,}",
                "total": f"{total:,}",
                "share": 100 * ready / total,
            }
            last_ready = ready
        connections.close_all()
        time.sleep(LOOK_EVERY_SECONDS)
        total, ready = count_renewed_words()
    yield _("The words of all texts are up to date.")


def count_renewed_words() -> tuple[int, int]:
    counts = [count_renewed(model) for model in passage_models()]
    return sum(total for total, _ready in counts), sum(ready for _total, ready in counts)
