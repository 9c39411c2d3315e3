"""Which of the memories found are relevant: by their share of the best one's relevance.

A fixed bound suits no question: how relevant an answer looks depends on its words. The best memory
of a question sets the scale for the others instead. The shares were chosen with the labelled sets
of bench/data in view (docs/memory-model.md).
"""

from collections.abc import Callable, Sequence

from memories.found_memory import FoundMemory

ANSWERS = 0.5
"""For a question, which few memories answer: about one of them is shown."""
MENTIONS = 0.25
"""For a look around: loses fewer of the answers that are not found first, and shows a few more."""
OF_TURNS = 0.15
"""The most for turns of a conversation, where an answer is told in several of them, and any turn
holds more than an answer. It loses up to 7 of a hundred answers, where half loses up to 22."""


def keep_relevant(
    memories: Sequence[FoundMemory],
    *,
    share: float,
    named: Callable[[FoundMemory], bool] | None = None,
) -> list[FoundMemory]:
    """Return those of at least `share` (0 to 1) of the best one's relevance, and what is newer
    in the place of one of these. A memory of unknown relevance is kept. If the question names what
    some are about (`named`), the best of these is meant: its text need not hold the name. A summary
    is the best only if nothing else is found: it must not displace the episode that it quotes. Of a
    turn of a conversation at most `OF_TURNS` is wanted."""
    of_named = list(filter(named, memories)) if named else []
    meant = of_named or memories
    others = [memory for memory in meant if not memory.is_summary]
    best = max((memory.relevance or 0.0 for memory in others or meant), default=0.0)
    kept = [
        memory
        for memory in memories
        if memory.relevance is None
        or memory.relevance >= best * (min(share, OF_TURNS) if memory.is_turn else share)
    ]
    ids = {memory.id for memory in kept} | {memory.newer for memory in kept}
    return [memory for memory in memories if memory.id in ids]
