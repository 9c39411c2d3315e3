"""Whether a memory that something else was derived from still holds."""

from django.db.models import Exists, OuterRef, Q

from memories.models import Succession
from memories.states import LinkKind, State


def is_valid(path: str) -> Q:
    """Whether the memory at that path is active, or merged into one that says the same."""
    merges = Succession.objects.filter(older=OuterRef(path), kind=LinkKind.MERGED, in_effect=True)
    return Q(**{f"{path}__state": State.ACTIVE}) | Q(Exists(merges))
