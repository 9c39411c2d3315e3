"""How much an event matters, from 0 to 1, without a model: its bucket's base, raised and lowered by what it says."""

import re
from math import isfinite

from memories.buckets.cues import lowercase_pattern
from memories.buckets.events import Classification, MemoryEvent
from memories.similarity.compare import WORD, meaning
from memories.states import Bucket
from retrieval.errors import Invalid

MIN_IMPORTANCE = 0.2
BASE = {
    Bucket.PROFILE: 0.6,
    Bucket.PREFERENCE: 0.6,
    Bucket.EPISODIC: 0.45,
    Bucket.SEMANTIC: 0.7,
    Bucket.FACT: 0.5,
}
WEIGHTY = re.compile(
    lowercase_pattern(
        r"\b(must|never|always|critical|important|urgent|secret|password|deadline|broke|crash\w*|fail\w*|died|killed|"
        r"promis\w+|allergic|danger\w*|security|lost|betray\w*|fixed|root cause)\b|важн|никогда|всегда|срочн|секрет|"
        r"парол|срок|сломал|упал|обеща|опасн|умер|погиб|нельзя|"
        r"중요|절대|항상|긴급|비밀|마감|실패|죽|약속|위험|반드시|\w(Error|Exception)\b"
    )
)
"""For a text in small letters."""
IDLE = re.compile(
    r"^(ok(ay)?|thanks?( you)?|thank you|hi|hello|hey|yes|no|sure|lol|haha+|hmm+|uh+|great|cool|nice|bye|"
    r"good (morning|night)|спасибо|привет|хорошо|ладно|пока|да|нет|ага|угу|понятно|"
    r"고마워\w*|감사\w*|안녕\w*|네|응|알겠\w*|좋아\w*|ㅋ+|ㅎ+)\b[\s!.,]*",
    re.IGNORECASE,
)
RAISED, A_NAME_OR_NUMBER, LOWERED = 0.2, 0.1, 0.35


def importance_of(event: MemoryEvent, sorted_as: Classification) -> float:
    """The event's own word (checked), else the model's, else by rules."""
    if event.importance is not None:
        return check_importance(event.importance)
    if sorted_as.importance is not None:
        return check_importance(sorted_as.importance)
    return rule_importance(event.content, sorted_as.bucket)


def check_importance(importance: float) -> float:
    """Return it if it is a share; raise `Invalid` for anything outside 0–1."""
    if isinstance(importance, bool) or not isfinite(importance) or not 0 <= importance <= 1:
        raise Invalid(f"importance is a number from 0 to 1, not {importance!r}.")
    return float(importance)


def rule_importance(text: str, bucket: Bucket) -> float:
    if is_nonsense(text):
        return 0.0
    said = meaning(text)
    value = (
        BASE[bucket]
        + RAISED * bool(WEIGHTY.search(text.lower()))
        + A_NAME_OR_NUMBER * bool(said.names or said.numbers)
    )
    idle = IDLE.sub("", text).strip()
    if idle != text.strip():
        value -= LOWERED if len(WORD.findall(idle)) < 4 else 0
    return round(min(1.0, max(0.0, value)), 3)


def is_nonsense(text: str) -> bool:
    """No words in it, hardly any different letters, or one word again and again."""
    words = [word.casefold() for word in WORD.findall(text)]
    letters = {letter for letter in text.casefold() if letter.isalpha()}
    return len(letters) < 4 or (len(words) >= 5 and len(set(words)) <= len(words) // 5)
