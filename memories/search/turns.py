"""Scores of the turns of a conversation: by who speaks, by whether a turn can answer, and by the
turns beside it.

The weights are round numbers, chosen with two sets of conversations in view (docs/memory-model.md).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from memories.similarity.compare import QUESTION_MARKS
from memories.similarity.question_type import (
    asked_kinds,
    content_words,
    has_kind,
    is_same_word,
    stem,
)
from retrieval.search import Hit
from retrieval.text import WORD_OR_NUMBER

FIELDS = ("speaker", "previous_turn", "surroundings")
"""Columns that `weigh_turns` reads and the re-ranker; of a memory `turn_order` too, of a message
`role`."""
CANDIDATES = 50
"""Hits that are weighed."""

OF_SPEAKER = 0.5
"""Raises the turns of a speaker whom the question names, or of the user if the question says I."""
OF_KIND = 0.1
"""Raises what holds a thing of the kind asked for: a time, a number, a name, a place, a reason."""
OF_LENGTH, USUAL_WORDS, MOST_WORDS = 0.09, 12, 30
"""Raises by the logarithm of the number of words: "Thanks!" answers nothing."""
OF_ASKING = 0.2
"""Lowers by the share of the turn that asks, except what a user says to an assistant: who asks for
help tells what it is for."""
FROM_QUESTION, MOST_ASKING_WORDS = 0.25, 60
"""The share of its score that a question lends to the turn after it, which may be the answer. What
has more words is not one question."""
FROM_NEXT = 0.1
"""The share of its score that a turn lends to the turn before it."""

SENTENCE_END = re.compile(r"(?<=[.!?…？！。])\s+")
FIRST_PERSON = re.compile(
    r"\b(?:i|me|my|mine|я|мне|меня|мной|мо[йяёеи]|моей|моего|моих|моим|мою"
    r"|나|나는|내|내가|나의|나를|나한테|저|저는|제|제가|저의|저를)\b",
    re.IGNORECASE,
)
USERS = frozenset({"user", "human"})


def weigh_turns(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return `hits` with new scores, best first. One that is no turn is weighed by the kind of
    thing asked for alone."""
    kinds = asked_kinds(query)
    speakers = named_speakers(query, {speaker_of(hit) for hit in hits if is_turn(hit)})
    scores = {}
    for hit in hits:
        factor = 1 + OF_KIND * any(has_kind(hit.text, kind, to=query) for kind in kinds)
        if is_turn(hit):
            factor += OF_SPEAKER * (speaker_of(hit) in speakers)
            factor += length_factor(hit.text)
            factor -= 0 if is_of_user(hit) else OF_ASKING * asking_share(hit.text)
        scores[hit.id] = hit.score * factor
    by_id = {hit.id: hit for hit in hits}
    for hit in hits:
        previous_turn = hit.fields.get("previous_turn")
        if previous_turn and (before := by_id.get(previous_turn)):
            scores[before.id] += FROM_NEXT * hit.score
            scores[hit.id] += FROM_QUESTION * before.score * is_question(before.text)
    weighed = [replace(hit, score=scores[hit.id]) for hit in hits]
    return sorted(weighed, key=lambda hit: (-hit.score, str(hit.id)))


def is_turn(hit: Hit) -> bool:
    return hit.fields.get("turn_order", 0) is not None


def speaker_of(hit: Hit) -> str:
    """Return the name of the speaker, or what stands for it: the role, or the context."""
    fields = hit.fields
    return str(fields.get("speaker") or fields.get("role") or hit.context.partition(" (")[0])


def is_of_user(hit: Hit) -> bool:
    return speaker_of(hit).lower() in USERS


def named_speakers(query: str, speakers: set[str]) -> set[str]:
    """Return those of `speakers` who are named in `query`; of a question in the first person also
    the user."""
    words = {stem(word) for word in content_words(query)}
    named = {
        speaker
        for speaker in speakers
        if any(
            is_same_word(stem(name), word)
            for name in WORD_OR_NUMBER.findall(speaker)
            for word in words
        )
    }
    if FIRST_PERSON.search(query):
        named |= {speaker for speaker in speakers if speaker.lower() in USERS}
    return named


def length_factor(text: str) -> float:
    words = min(len(text.split()), MOST_WORDS)
    return OF_LENGTH * math.log((words + 1) / (USUAL_WORDS + 1))


def asking_share(text: str) -> float:
    """Return the share of the characters of `text` in sentences that ask."""
    sentences = SENTENCE_END.split(text.strip())
    asking = sum(len(part) for part in sentences if part.endswith(QUESTION_MARKS))
    return asking / max(sum(map(len, sentences)), 1)


def is_question(text: str) -> bool:
    return any(mark in text for mark in QUESTION_MARKS) and len(text.split()) < MOST_ASKING_WORDS
