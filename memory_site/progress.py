"""How far the vectors are behind the texts, as lines for a person who waits."""

import time
from collections.abc import Iterator

from django.db import connections
from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from retrieval.models import passage_models

LOOK_EVERY_SECONDS = 5.0


def count_embedded() -> tuple[int, int]:
    """Return how many passages there are and how many of them carry the vector of their present
    text."""
    total = done = 0
    for model in passage_models():
        counted = model._default_manager.aggregate(
            all=Count("pk"), done=Count("pk", Q(embedded_rev__gte=F("rev")))
        )
        total, done = total + counted["all"], done + counted["done"]
    return total, done


def embedding_progress() -> Iterator[str]:
    """Yield a line each time the number changed, until everything that was waiting is embedded."""
    total, done = count_embedded()
    if done == total:
        return
    yield _("All texts are found by their words. Vectors follow in the background:")
    shown = -1
    while done < total:
        if done != shown:
            yield _("embedded %(done)s of %(total)s passages (%(share).0f %%)") % {
                "done": f"{done:,}",
                "total": f"{total:,}",
                "share": 100 * done / total,
            }
            shown = done
        connections.close_all()
        time.sleep(LOOK_EVERY_SECONDS)
        total, done = count_embedded()
    yield _("All %(total)s passages are embedded; search uses both legs now.") % {
        "total": f"{total:,}"
    }
