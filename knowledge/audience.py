"""The audience of a block: the entry's audience narrowed by the block, never widened."""

from collections.abc import Collection

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
    audiences = set(block) if entry == Visibility.PUBLIC else set(block) & set(known_to)
    return (Visibility.REVEALED, sorted(audiences)) if audiences else (Visibility.GM, [])
