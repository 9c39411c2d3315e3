"""Kinds of change an episode's patches are."""

import re
from enum import StrEnum

from memories.coding_agent.episodes import TaskEpisode

NEARLY_EQUAL = 0.1


class PatternCategory(StrEnum):
    EXTRACT_METHOD = "extract_method"
    RENAME = "rename"
    SIMPLIFY = "simplify"
    TYPE_HINTS = "type_hints"
    EXTRACT_CONSTANT = "extract_constant"
    RESTRUCTURE = "restructure"


WORDS = {
    PatternCategory.EXTRACT_CONSTANT: ("constant", "magic number"),
    PatternCategory.TYPE_HINTS: ("type hint", "typing"),
    PatternCategory.RENAME: ("rename",),
    PatternCategory.EXTRACT_METHOD: ("extract", "refactor out"),
    PatternCategory.SIMPLIFY: ("simplify",),
    PatternCategory.RESTRUCTURE: ("move", "reorganize"),
}
"""The narrowest first: "extract a constant" is no extracted method."""


def category_of(words: str, *, added: int, removed: int) -> PatternCategory | None:
    """By what is said about the change, else by the numbers of lines; None when nothing changed."""
    lower = words.casefold()
    said = (
        category for category, signs in WORDS.items() if any(_says(lower, sign) for sign in signs)
    )
    return next(said, None) or _by_lines(added, removed)


def detect(episode: TaskEpisode) -> PatternCategory | None:
    words = " ".join(
        [episode.task, episode.plan_summary, *(patch.description for patch in episode.patches)]
    )
    return category_of(words, added=episode.lines_added, removed=episode.lines_removed)


def _by_lines(added: int, removed: int) -> PatternCategory | None:
    if not added and not removed:
        return None
    if added > removed * 2:
        return PatternCategory.EXTRACT_METHOD
    if abs(added - removed) <= NEARLY_EQUAL * max(added, removed):
        return PatternCategory.RENAME
    return PatternCategory.SIMPLIFY if removed > added else None


def _says(text: str, sign: str) -> bool:
    """The word or a form of it: "remove" does not say "move"."""
    return re.search(rf"\b{re.escape(sign)}", text) is not None
