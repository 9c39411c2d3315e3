"""Questions about one session: "who paid us last session", «в прошлый раз», "지난번에".

Which words name a session, and which episodes of a party are of it. "The last time we met Mira" is
no session, but the latest of all meetings.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from episodes.models import Scene
from knowledge.glossary.common_words import COMMON_WORDS
from retrieval.text import has_hangul, name_words

MOST_EPISODES = 500
"""Of a party, latest first, among which sessions are told apart."""
BREAK = timedelta(hours=12)
"""Between episodes that name no session; a longer one begins another evening."""

GAME_EN = r"(?:game\s+night|play\s+session|game\s+session|session|game|episode)(?:['’]s)?"
LAST_EN = r"(?:last|previous|prior|latest|most\s+recent)"
WEEK_EN = r"(?:last\s+(?:week|night|month|\w+day)(?:['’]s)?\s+)"
BEFORE_EN = r"(?:(?:\b(?:back\s+)?(?:in|during|at|from|of|on)\s+)?\b(?:(?:the|our|my|your)\s+)?)"
CLAUSE_EN = (
    r"(?!\s+(?:that\s+)?(?:i|we|you|they|he|she|it|the|our|my|a|an|some\w+|any\w+)\b)"
    r"(?!\s+(?-i:[A-Z]))"
)
"""What follows "last time" if it is the last time *of something*."""
GAME_RU = r"(?:сесси|игр(?!ок)|эпизод|игров\w+\s+(?:вечер|сесси))\w*"
BEFORE_RU = r"(?:\b(?:в|во|на|за|с|со|из|от|до|во\s+время)\s+)?(?:\bнаш\w+\s+)?"
GAME_KO = r"\s*(?:세션|회차|게임|플레이|모임|에피소드|화|판)"
LAST_KO = r"(?:지난|저번|이전|마지막|직전|바로\s*전)"
AFTER_KO = (
    r"(?:에서는|에서의|에서도|에서|에는|에도|에|때는|때|의|은|는|이|가|을|를|동안|까지|부터)?"
    r"(?![가-힣])"
)

SESSIONS: tuple[tuple[int, str], ...] = (
    # How many sessions before the last one; the longer phrases first.
    (1, rf"{BEFORE_EN}(?:{GAME_EN}|time)\s+before\s+last\b"),
    (1, rf"{BEFORE_EN}(?:last|next)\s+(?:but\s+one|to\s+last)\s+{GAME_EN}"),
    (1, r"\btwo\s+(?:sessions|games)\s+ago\b"),
    (0, rf"{BEFORE_EN}(?:{LAST_EN}\s+|{WEEK_EN}){GAME_EN}\b"),
    (0, rf"(?<!\bthe\s)\blast\s+time\b{CLAUSE_EN}"),
    (0, r"\b(?:when|since|what)\s+we\s+last\s+played\b"),
    (0, r"\bwhere\s+(?:did\s+)?we\s+(?:left|leave|break|broke)\s+off\b"),
    (1, rf"{BEFORE_RU}\bпозапрошл\w+\s+(?:раз\w*|{GAME_RU})"),
    (1, r"\b(?:две|2)\s+(?:сессии|игры)\s+назад\b"),
    (0, rf"{BEFORE_RU}\b(?:прошл|последн|предыдущ|прошедш)\w+\s+(?:наш\w+\s+)?{GAME_RU}"),
    (0, rf"{BEFORE_RU}\b(?:прошл|предыдущ)\w+\s+раз\w*"),
    (0, r"\b(?:сессию|игру)\s+назад\b"),
    (0, r"\b(?:на\s+ч[её]м|где)\s+(?:мы\s+)?(?:остановились|закончили)\s*(?=[?!.]*$)"),
    (1, rf"(?:지지난|저저번|전전)(?:\s*번|{GAME_KO}){AFTER_KO}"),
    (0, rf"(?:지난\s*주|지난\s*주말)\s*{GAME_KO}{AFTER_KO}"),
    (0, rf"{LAST_KO}{GAME_KO}{AFTER_KO}"),
    (0, rf"(?:지난\s*(?:번|시간)|저번)(?:{GAME_KO})?{AFTER_KO}"),
    (0, r"어디까지\s*(?:했|진행|갔)[가-힣]*"),
)
READERS = [(back, re.compile(pattern, re.IGNORECASE)) for back, pattern in SESSIONS]

RECAP_WORDS = frozenset(
    word.norm
    for word in name_words(
        """
        happened recap summary summarize summarise summed sum remind reminder story events event
        we did do done ended end ending session sessions occurred everything briefly again off left
        играли играл случилось случился произошло произошел произошёл делали сделали сделано
        закончилось закончили закончилась кончилось итог итоги перескажи напомни напомните кратко
        коротко события было чем дело остановились вкратце историю краткое содержание
        """
    )
)
RECAP_KO = re.compile(
    "무슨|어떤|일|일이|있었|우리|뭐|뭘|무엇|했|요약|정리|알려|말해|설명|내용|줄거리|끝났|얘기|이야기|복기|줘|주세요"
)


@dataclass(frozen=True)
class AskedSession:
    """`back` counts from the last session, 0, into the past. `rest` is the question without the
    words that name it; empty if it asks for the session as a whole."""

    back: int
    rest: str


def read_asked_session(question: str) -> AskedSession | None:
    """Return the session that `question` is about, if it names one."""
    for back, pattern in READERS:
        if match := pattern.search(question):
            rest = f"{question[: match.start()]} {question[match.end() :]}"
            rest = " ".join(rest.split()).strip(" ,;:—-")
            return AskedSession(back, rest if has_content(rest) else "")
    return None


def has_content(text: str) -> bool:
    """Whether `text` asks for more than what happened."""
    return any(not is_recap_word(word.norm) for word in name_words(text))


def is_recap_word(word: str) -> bool:
    if has_hangul(word):
        return word in COMMON_WORDS or RECAP_KO.match(word) is not None
    return word in COMMON_WORDS or word in RECAP_WORDS


@dataclass
class Evening:
    """The episodes of one session, or those without a session that were recorded together."""

    session: UUID | None
    latest: datetime
    earliest: datetime
    episodes: list[UUID] = field(default_factory=list)
    scenes: set[UUID] = field(default_factory=set)


def find_evening(rows: Any, asked: AskedSession) -> Evening | None:
    """Return the session asked for among `rows`, the episodes of a party; None if there were not so
    many. What the caller may not see is not in `rows`, and so does not count as a session."""
    columns = ("pk", "session", "scene", "happened_at")
    evenings = tell_apart(rows.latest_first().values_list(*columns)[:MOST_EPISODES])
    if is_running(evenings):
        # Who asks at the table means the evening before this one.
        del evenings[0]
    return evenings[asked.back] if asked.back < len(evenings) else None


def tell_apart(
    episodes: Iterable[tuple[UUID, UUID | None, UUID | None, datetime]],
) -> list[Evening]:
    """Return the evenings of `episodes`, which come latest first, latest first."""
    evenings: list[Evening] = []
    by_session: dict[UUID, Evening] = {}
    for pk, session, scene, happened_at in episodes:
        evening = by_session.get(session) if session else None
        if evening is None and not session and evenings and evenings[-1].session is None:
            is_near = evenings[-1].earliest - happened_at < BREAK
            evening = evenings[-1] if is_near else None
        if evening is None:
            evening = Evening(session, latest=happened_at, earliest=happened_at)
            evenings.append(evening)
            if session:
                by_session[session] = evening
        evening.earliest = happened_at
        evening.episodes.append(pk)
        if scene:
            evening.scenes.add(scene)
    return evenings


def is_running(evenings: Sequence[Evening]) -> bool:
    """Whether the latest session is still being played: its last episode is not long ago, that of
    the session before is, and one of its scenes is open."""
    since = timezone.now() - BREAK
    if len(evenings) < 2 or not evenings[1].latest < since < evenings[0].latest:
        return False
    return Scene.objects.filter(pk__in=evenings[0].scenes, ended_at=None).exists()
