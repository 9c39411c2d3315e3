"""Delete what is remembered of an episode that is deleted for good."""

from episodes.models import Episode
from memories.erasure import deletion
from memories.models import ErasureReceipt, Namespace
from memories.witnesses.accounts import source_of


def erase_memories(episode: Episode) -> list[ErasureReceipt]:
    """Delete the memories of `episode` from every namespace, with what was told and derived of
    them; return the receipts."""
    source, reason = source_of(episode), "the episode was deleted for good"
    holders = Namespace.objects.filter(memories__episode=episode).distinct().order_by("pk")
    scope = ErasureReceipt.Scope.SOURCE
    return deletion.erase_from_all(list(holders), scope, source, by="episode", reason=reason)
