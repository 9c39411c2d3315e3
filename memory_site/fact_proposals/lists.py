"""The proposals of a world: those whose text is there and counts."""

from typing import Any

from django.db.models import QuerySet

from episodes.models import Episode, Thread
from knowledge.fact_proposal_model import FactProposal
from knowledge.models import Lore
from worlds.models import Campaign, World


def proposals_of(world: World, campaign: Campaign | None = None) -> QuerySet[FactProposal]:
    """Return the proposals of a world, but those from entries in the trash and retracted episodes;
    with a campaign, without those from episodes and threads of others."""
    trashed = Lore._base_manager.filter(world=world, deleted_at__isnull=False)
    retracted = Episode.objects.in_world(world).exclude(
        pk__in=Episode.objects.in_world(world).not_retracted().values("pk")
    )
    rows = FactProposal.objects.filter(world=world).exclude(source_id__in=trashed.values("pk"))
    if campaign:
        for model in (Episode, Thread):
            texts: Any = model._default_manager.filter(world=world)
            theirs = texts.exclude(pk__in=texts.in_campaign(campaign).values("pk"))
            rows = rows.exclude(source_id__in=theirs.values("pk"))
    return rows.exclude(source_id__in=retracted.values("pk"))
