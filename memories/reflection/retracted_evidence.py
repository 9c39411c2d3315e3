"""Insights whose evidence was retracted: they wait for a review."""

from typing import Any

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from memories.ledger.commit import change_state
from memories.ledger.valid_evidence import is_valid
from memories.models import Insight, InsightSource, MemoryItem, Namespace
from memories.states import State

FLAG = "Source episodes that are no longer valid: {n} of {all}"


def flag_retracted(namespace: Namespace | None = None) -> int:
    """Flag insights with an episode that was archived, rejected, replaced or deleted; return their
    number. A flagged insight waits in the review inbox."""
    rows = Insight.objects.filter(memory__state=State.ACTIVE)
    rows = rows if namespace is None else rows.filter(memory__namespace=namespace)
    rows = rows.annotate(valid=Count("sources", filter=is_valid("sources__episode")))
    # `Any`, because the type of the model has no attribute for the annotation.
    unsupported: Any = rows.filter(valid__lt=F("rests_on"))
    count = 0
    for pk in list(unsupported.values_list("pk", flat=True)):
        with transaction.atomic():
            # Under the lock of every change of state, and read again: somebody may have rejected or
            # archived it meanwhile, and it must not come back for a review.
            MemoryItem.objects.select_for_update().filter(pk=pk).first()
            insight = unsupported.filter(pk=pk).first()
            if insight is None:
                continue
            count += 1
            flag = FLAG.format(n=insight.rests_on - insight.valid, all=insight.rests_on)
            # `rests_on` drops to what is left, so that the next run does not flag it again.
            Insight.objects.filter(pk=insight.pk).update(
                flagged_at=timezone.now(), flag=flag, rests_on=insight.valid
            )
            InsightSource.objects.filter(~is_valid("episode"), insight=insight).delete()
            change_state([insight.pk], to=State.PENDING, by="reflection", reason=flag)
    return count
