"""The succession links of one memory."""

from django.db.models import Q, QuerySet

from memories.models import MemoryItem, Succession


def links_of(memory: MemoryItem) -> "QuerySet[Succession]":
    return Succession.objects.filter(Q(older=memory) | Q(newer=memory)).order_by("created_at", "pk")
