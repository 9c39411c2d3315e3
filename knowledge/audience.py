"""The audience of a block: the entry's audience narrowed by the block, never widened."""

from collections.abc import Collection

from retrieval.text import names_in_both
from worlds.audiences import Visibility


def narrow_audience(
    visibility: str, known_to: Collection[str], *, block: Collection[str] | None = None
) -> tuple[Visibility, list[str]]:
    """Return visibility and `known_to` of a block in an entry that has these. `block` is None for
    open text, else the audiences that the secret names (empty: the game master alone)."""
    entry = Visibility(visibility)
    if block is None:
        return entry, sorted(set(known_to)) if entry == Visibility.REVEALED else []
    if entry == Visibility.GM:
        return Visibility.GM, []
    is_open = entry == Visibility.PUBLIC
    audiences = sorted(set(block)) if is_open else names_in_both(block, known_to)
    return (Visibility.REVEALED, audiences) if audiences else (Visibility.GM, [])
