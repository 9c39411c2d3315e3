"""Insights whose evidence was retracted: out of use until somebody has looked at them again."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.ledger.state_changes import change_state
from memories.models import Insight, InsightSource, Namespace, Succession
from memories.states import Link, State

BECAUSE = "{n} of the {all} episodes this rests on no longer stand"


def flag_retracted(namespace: Namespace | None = None) -> int:
    """Flag insights with an episode that was archived, rejected, replaced or deleted; return how many.

    A flagged insight waits in the review inbox. An episode that was merged into another one still stands.
    """
    found: list[Any] = list(insights_missing_evidence(namespace))  # annotated with `standing`
    for insight in found:
        with transaction.atomic():
            because = BECAUSE.format(n=insight.rests_on - insight.standing, all=insight.rests_on)
            Insight.objects.filter(pk=insight.pk).update(
                flagged_at=timezone.now(), flag=because, rests_on=insight.standing
            )
            InsightSource.objects.filter(_fallen(), insight=insight).delete()
            change_state([insight.pk], to=State.PENDING, by="reflection", reason=because)
    return len(found)


def insights_missing_evidence(namespace: Namespace | None = None) -> "QuerySet[Insight]":
    """Insights in use with fewer standing episodes than they rest on."""
    rows = Insight.objects.filter(memory__state=State.ACTIVE)
    rows = rows if namespace is None else rows.filter(memory__namespace=namespace)
    standing = Count(
        "sources", filter=Q(sources__episode__state=State.ACTIVE) | Q(_merged("sources__episode"))
    )
    return rows.annotate(standing=standing).filter(standing__lt=F("rests_on"))


def _fallen() -> Q:
    return ~Q(episode__state=State.ACTIVE) & ~Q(_merged("episode"))


def _merged(path: str) -> Exists:
    return Exists(Succession.objects.filter(older=OuterRef(path), kind=Link.MERGED, in_effect=True))
