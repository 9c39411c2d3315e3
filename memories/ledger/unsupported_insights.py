"""Insights of which an episode is no longer valid: they wait for a review."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Count, F, QuerySet
from django.utils import timezone

from memories.ledger.rows import log_states
from memories.ledger.valid_evidence import is_valid
from memories.models import Insight, InsightSource, MemoryItem
from memories.states import State

FLAG = "Source episodes that are no longer valid: {n} of {all}"


def flag_insights_of(episode_ids: Collection[UUID]) -> int:
    """Flag the insights in use that rest on these memories and have lost one; return their number.
    Call it in the transaction of that change: an NPC must not know an episode from its insight that
    it does not remember any more."""
    return flag_unsupported(Insight.objects.filter(sources__episode__in=episode_ids))


def flag_unsupported(insights: "QuerySet[Insight]") -> int:
    """Let those of `insights` wait for a review that are in use and rest on an episode that was
    archived, rejected, replaced or deleted; return their number. Call it within a transaction."""
    ids = list(find_unsupported(insights).values_list("pk", flat=True))
    if not ids:
        return 0
    # Under the lock of every change of state, and read again: somebody may have rejected or
    # archived one meanwhile, and it must not come back for a review.
    list(MemoryItem.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))
    now = timezone.now()
    states = []
    for insight in find_unsupported(Insight.objects.filter(pk__in=ids)):
        flag = FLAG.format(n=insight.rests_on - insight.valid, all=insight.rests_on)
        # `rests_on` drops to what is left, so that the same loss is not flagged twice.
        Insight.objects.filter(pk=insight.pk).update(
            flagged_at=now, flag=flag, rests_on=insight.valid
        )
        states.append((insight.pk, State.PENDING, flag))
    flagged = [pk for pk, _state, _flag in states]
    InsightSource.objects.filter(~is_valid("episode"), insight__in=flagged).delete()
    MemoryItem.objects.filter(pk__in=flagged).update(state=State.PENDING, updated_at=now)
    log_states(states, by="reflection")
    return len(flagged)


def find_unsupported(insights: "QuerySet[Insight]") -> Any:
    """Return those in use with fewer valid episodes, in `valid`, than they rest on."""
    # By id: a filter on their sources would narrow the count of them.
    rows = Insight.objects.filter(pk__in=insights.values("pk"), memory__state=State.ACTIVE)
    # `Any`, because the type of the model has no attribute for the annotation.
    rows = rows.annotate(valid=Count("sources", filter=is_valid("sources__episode")))
    return rows.filter(valid__lt=F("rests_on"))
