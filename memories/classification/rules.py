"""The bucket and the importance of a text by rules, where nobody chose them."""

import re

from memories.classification.cues import load_cues, lowercase_pattern
from memories.similarity.comparable_text import parse_text
from memories.states import Bucket
from retrieval.text import WORD_OR_NUMBER

BASE_IMPORTANCE = {
    Bucket.PROFILE: 0.6,
    Bucket.PREFERENCE: 0.6,
    Bucket.EPISODIC: 0.45,
    Bucket.SEMANTIC: 0.7,
    Bucket.FACT: 0.5,
}
WEIGHTY_BONUS, NAME_OR_NUMBER_BONUS, SMALL_TALK_MALUS = 0.2, 0.1, 0.35
# Matched with lowercase text.
WEIGHTY = re.compile(
    lowercase_pattern(
        r"\b(must|never|always|critical|important|urgent|secret|password|deadline|broke|crash\w*|"
        r"fail\w*|died|killed|promis\w+|allergic|danger\w*|security|lost|betray\w*|fixed|"
        r"root cause)\b|"
        r"важн|никогда|всегда|срочн|секрет|парол|срок|сломал|упал|обеща|опасн|умер|погиб|нельзя|"
        r"중요|절대|항상|긴급|비밀|마감|실패|죽|약속|위험|반드시|\w(Error|Exception)\b"
    )
)
SMALL_TALK = re.compile(
    r"^(ok(ay)?|thanks?( you)?|thank you|hi|hello|hey|yes|no|sure|lol|haha+|hmm+|uh+|great|cool|"
    r"nice|bye|good (morning|night)|спасибо|привет|хорошо|ладно|пока|да|нет|ага|угу|понятно|"
    r"고마워\w*|감사\w*|안녕\w*|네|응|알겠\w*|좋아\w*|ㅋ+|ㅎ+)\b[\s!.,]*",
    re.IGNORECASE,
)


def rule_bucket(text: str) -> Bucket:
    """Return the bucket for which the cues in `text` weigh most."""
    return Bucket(load_cues("buckets").classify(text).label)


def rule_importance(text: str, bucket: Bucket) -> float:
    """Estimate an importance (0–1): the bucket's base, raised and lowered by the text's content."""
    words = [word.casefold() for word in WORD_OR_NUMBER.findall(text)]
    letters = {letter for letter in text.casefold() if letter.isalpha()}
    # Fewer than four different letters, or one word again and again: nonsense.
    if len(letters) < 4 or (len(words) >= 5 and len(set(words)) <= len(words) // 5):
        return 0.0
    content = parse_text(text)
    value = BASE_IMPORTANCE[bucket]
    value += WEIGHTY_BONUS * bool(WEIGHTY.search(text.lower()))
    value += NAME_OR_NUMBER_BONUS * bool(content.names or content.numbers)
    rest = SMALL_TALK.sub("", text).strip()
    # "Thanks!" alone is small talk; "Thanks, the bridge at Ferrymark is down" is not.
    if rest != text.strip() and len(WORD_OR_NUMBER.findall(rest)) < 4:
        value -= SMALL_TALK_MALUS
    return round(min(1.0, max(0.0, value)), 3)
