"""Insights whose evidence was retracted: not in use until somebody has reviewed them."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.ledger.commit import change_state
from memories.models import Insight, InsightSource, Namespace, Succession
from memories.states import Link, State

FLAG = "{n} of the {all} episodes this rests on no longer stand"


def flag_retracted(namespace: Namespace | None = None) -> int:
    """Flag insights with an episode that was archived, rejected, replaced or deleted; return their
    number. A flagged insight waits in the review inbox."""
    insights: list[Any] = list(insights_missing_evidence(namespace))  # annotated with `valid`
    for insight in insights:
        flag = FLAG.format(n=insight.rests_on - insight.valid, all=insight.rests_on)
        with transaction.atomic():
            # `rests_on` drops to what is left, so that the next run does not flag it again.
            Insight.objects.filter(pk=insight.pk).update(
                flagged_at=timezone.now(), flag=flag, rests_on=insight.valid
            )
            InsightSource.objects.filter(~is_valid("episode"), insight=insight).delete()
            change_state([insight.pk], to=State.PENDING, by="reflection", reason=flag)
    return len(insights)


def insights_missing_evidence(namespace: Namespace | None = None) -> "QuerySet[Insight]":
    """Return active insights with fewer valid episodes than they rest on."""
    rows = Insight.objects.filter(memory__state=State.ACTIVE)
    rows = rows if namespace is None else rows.filter(memory__namespace=namespace)
    valid = Count("sources", filter=is_valid("sources__episode"))
    return rows.annotate(valid=valid).filter(valid__lt=F("rests_on"))


def is_valid(episode: str) -> Q:
    """Whether the episode at that path is active, or merged into one that says the same."""
    merges = Succession.objects.filter(older=OuterRef(episode), kind=Link.MERGED, in_effect=True)
    return Q(**{f"{episode}__state": State.ACTIVE}) | Q(Exists(merges))
