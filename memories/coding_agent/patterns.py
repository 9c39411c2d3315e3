"""The kind of change that an episode's patches make."""

import re
from enum import StrEnum

from memories.coding_agent.episodes import TaskEpisode

# Difference of added and removed lines, as a share of the larger, up to which they are balanced.
BALANCED = 0.1


class PatternCategory(StrEnum):
    EXTRACT_METHOD = "extract_method"
    RENAME = "rename"
    SIMPLIFY = "simplify"
    TYPE_HINTS = "type_hints"
    EXTRACT_CONSTANT = "extract_constant"
    RESTRUCTURE = "restructure"


# The narrowest first: "extract a constant" is not an extracted method.
KEYWORDS = {
    PatternCategory.EXTRACT_CONSTANT: ("constant", "magic number"),
    PatternCategory.TYPE_HINTS: ("type hint", "typing"),
    PatternCategory.RENAME: ("rename",),
    PatternCategory.EXTRACT_METHOD: ("extract", "refactor out"),
    PatternCategory.SIMPLIFY: ("simplify",),
    PatternCategory.RESTRUCTURE: ("move", "reorganize"),
}


def category_of(
    description: str, *, lines_added: int, lines_removed: int
) -> PatternCategory | None:
    """Return the category by the description, else by the numbers of lines, or None."""
    description = description.casefold()
    for category, keywords in KEYWORDS.items():
        # From the beginning of a word on: "remove" is not "move", but "moved" is.
        if any(re.search(rf"\b{re.escape(keyword)}", description) for keyword in keywords):
            return category
    if not lines_added and not lines_removed:
        return None
    if lines_added > lines_removed * 2:
        return PatternCategory.EXTRACT_METHOD
    if abs(lines_added - lines_removed) <= BALANCED * max(lines_added, lines_removed):
        return PatternCategory.RENAME
    return PatternCategory.SIMPLIFY if lines_removed > lines_added else None


def detect(episode: TaskEpisode) -> PatternCategory | None:
    descriptions = [patch.description for patch in episode.patches]
    text = " ".join([episode.task, episode.plan_summary, *descriptions])
    return category_of(text, lines_added=episode.lines_added, lines_removed=episode.lines_removed)
