"""The proposals of a world: those whose text is there and counts."""

from django.db.models import QuerySet

from episodes.models import Episode
from knowledge.fact_proposal_model import FactProposal
from knowledge.models import Lore
from worlds.models import World


def proposals_of(world: World) -> QuerySet[FactProposal]:
    """Return the proposals of a world, but those from entries in the trash and retracted
    episodes."""
    trashed = Lore._base_manager.filter(world=world, deleted_at__isnull=False)
    retracted = Episode.objects.in_world(world).exclude(
        pk__in=Episode.objects.in_world(world).not_retracted().values("pk")
    )
    rows = FactProposal.objects.filter(world=world).exclude(source_id__in=trashed.values("pk"))
    return rows.exclude(source_id__in=retracted.values("pk"))
