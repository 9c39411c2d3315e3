"""Clauses that say something of the noun beside them and not of the subject of their sentence:
`carved by Hale, who serves the Forge`, `포지를 섬기는 헤일이 조각했다`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.fact_check.prose_words import has_concept, stem_of
from retrieval.text import WORD_OR_NUMBER, NameMention, fold_name

RELATIVES = {
    "en": re.compile(
        r",?\s+(?:(?:of|to|for|in|on|at|by|with|from|under|near) )?"
        r"(?:who|whom|whose|which|where)\b\s*|(?<=[^\W\d_])\s+that\s+(?=[^\W\d_]+(?:s|ed)\b)",
        re.IGNORECASE,
    ),
    "ru": re.compile(
        r",\s+(?:(?:в|во|на|у|с|со|к|из|о|об|для|под|над|за|от|до|по|при) )?"
        r"(?:котор\w+|чей|чья|чь[её]|чьи\w*|чью|где|куда|откуда"
        r"|\w+(?:щ|вш)(?:ий|ая|ее|ие|его|ей|ему|им|ую|их|ими)(?:ся)?)\b\s*",
        re.IGNORECASE,
    ),
}
ENDS = re.compile(r"[,;:()—–.!?]")
KOREAN_MODIFIER = re.compile(r"\S*[가-힣](?:는|던|한|된|든|운|킨|린|른|친|은)\s+$")
"""A Korean verb that describes the name after it."""


@dataclass(frozen=True)
class RelativeClause:
    """Characters [start, end) of a sentence; what they say begins at `body`. `name`: the name that
    they describe, if it is one, else they describe the noun in [noun, start)."""

    start: int
    body: int
    end: int
    name: NameMention | None
    noun: int
    has_names: bool = False

    def noun_of(self, sentence: str) -> str:
        return sentence[self.noun : self.start].rstrip()

    def is_plain(self, sentence: str, said: frozenset[str]) -> bool:
        """Whether it names nobody and is about a noun that is one of the words `said`: then whoever
        says it of the subject speaks of this noun, too."""
        is_said = has_concept(stem_of(fold_name(self.noun_of(sentence))), said)
        return self.name is None and not self.has_names and is_said


@dataclass(frozen=True)
class SentencePart:
    """A part of a sentence with its mentions. `is_relative`: it has no other subject than its first
    name."""

    text: str
    mentions: tuple[NameMention, ...]
    is_relative: bool = False


def relative_clauses(
    sentence: str, mentions: Sequence[NameMention], language: str
) -> list[RelativeClause]:
    if language == "ko":
        return list(_korean_clauses(sentence, mentions))
    found: list[RelativeClause] = []
    for match in RELATIVES[language].finditer(sentence):
        if match.start() == 0 or (found and match.start() < found[-1].end):
            continue
        if any(m.start < match.end() and match.start() < m.end for m in mentions):
            continue
        end = ENDS.search(sentence, match.end())
        before = sentence[: match.start()]
        words = list(WORD_OR_NUMBER.finditer(before))
        noun = words[-1].start() if words else match.start()
        name = next((m for m in mentions if m.end == len(before.rstrip(" \"'»”"))), None)
        # A participle is said of the noun, too, and a relative pronoun says nothing.
        last = end.start() if end else len(sentence)
        has_names = any(match.start() <= m.start < last for m in mentions)
        found.append(RelativeClause(match.start(), match.start() + 1, last, name, noun, has_names))
    return found


def _korean_clauses(sentence: str, mentions: Sequence[NameMention]) -> Iterator[RelativeClause]:
    for number, mention in enumerate(mentions):
        before = sentence[: mention.start]
        if not KOREAN_MODIFIER.search(before):
            continue
        start = before.rfind(",") + 1
        subjects = [m for m in mentions[:number] if re.search(r"[은는이가]$", m.text)]
        start = max([start, *(m.end for m in subjects)])
        verb = before.rstrip().rfind(" ") + 1
        if any(m.start <= verb < m.end for m in mentions) or start >= mention.start:
            continue
        yield RelativeClause(start, start, mention.start, mention, mention.start)


def parts_of(
    sentence: str,
    mentions: Sequence[NameMention],
    clauses: Sequence[RelativeClause],
    said: frozenset[str],
) -> list[SentencePart]:
    """Return the sentence without its relative clauses, and as sentences those about a name or
    about a noun that is one of the words `said`."""
    main, kept, at = "", [], 0
    for clause in [*clauses, None]:
        end = clause.start if clause else len(sentence)
        kept += [
            _shift_mention(m, len(main) - at) for m in mentions if at <= m.start and m.end <= end
        ]
        main += sentence[at:end]
        at = clause.end if clause else end
    parts = [SentencePart(main, tuple(kept))]
    for clause in clauses:
        noun = clause.noun_of(sentence)
        if clause.name or has_concept(stem_of(fold_name(noun)), said):
            parts.append(_relative_part(sentence, mentions, clause, noun))
    return parts


def _relative_part(
    sentence: str, mentions: Sequence[NameMention], clause: RelativeClause, noun: str
) -> SentencePart:
    subject = [_shift_mention(clause.name, -clause.name.start)] if clause.name else []
    first = f"{clause.name.text if clause.name else noun} "
    shift = len(first) - clause.body
    inside = [m for m in mentions if clause.body <= m.start and m.end <= clause.end]
    return SentencePart(
        first + sentence[clause.body : clause.end],
        (*subject, *(_shift_mention(m, shift) for m in inside)),
        is_relative=clause.name is not None,
    )


def _shift_mention(mention: NameMention, by: int) -> NameMention:
    return replace(mention, start=mention.start + by, end=mention.end + by)
