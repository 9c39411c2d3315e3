"""Statements that hold side by side although they differ in one thing: two events, two things that
somebody owns, likes or knows. A price, a place or an hour has one value at a time; these have many.
"""

import re
from typing import Any

from memories.similarity.comparable_text import LEXICON, ComparableText

ROLES = frozenset({"order", "role", "parts", "possessor", "clauses"})
"""Differences in who did it to whom: what one did, the other may have done too."""
PATTERNS: dict[str, Any] = LEXICON["several_hold"]
EVENTS, ATTITUDES, CHANGES, BESIDES = (
    re.compile(rf"\b(?:{'|'.join(PATTERNS[name])})")
    for name in ("events", "attitudes", "changes", "besides")
)


def several_hold(mine: ComparableText, yours: ComparableText, differs_in: str) -> bool:
    """Whether both texts may hold although they differ in `differs_in`, a name of
    `compare.DIFFERENCES`: no reason to link them as a former and a present value."""
    texts = [" ".join(word for _stem, word in each.sequence) for each in (mine, yours)]
    if differs_in in ROLES:
        return True
    if any(map(CHANGES.search, texts)) or differs_in == "negation":
        return False
    if any(map(BESIDES.search, texts)) or all(map(EVENTS.search, texts)):
        return True
    # Who owns something may change; what else somebody owns changes nothing.
    has_same_subject = mine.sequence[:1] == yours.sequence[:1]
    return differs_in != "number" and has_same_subject and all(map(ATTITUDES.search, texts))
