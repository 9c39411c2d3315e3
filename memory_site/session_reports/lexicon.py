"""The words by which a report is read without a language model: `data/<language>.yaml`."""

import re
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from retrieval.text import guess_language

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "ru", "ko")


@dataclass(frozen=True)
class AttitudeCue:
    """Words that tell what somebody thinks now; `flips`: their negation says the opposite, else it
    says nothing. `deed`: what the party does to somebody, who does not do it themselves."""

    pattern: re.Pattern[str]
    axis: str
    delta: int
    flips: bool = False
    deed: bool = False


@dataclass(frozen=True)
class ReportLexicon:
    attitudes: tuple[AttitudeCue, ...]
    negation: re.Pattern[str]
    """Stands before the words that it negates, or (in Korean) after them."""
    negation_follows: bool
    party: re.Pattern[str]
    pronoun: re.Pattern[str]
    reported: re.Pattern[str]
    """Follows words that somebody only tells."""
    absent_before: re.Pattern[str]
    absent_after: re.Pattern[str]
    about: re.Pattern[str]
    about_follows: re.Pattern[str]
    acts: re.Pattern[str]
    acts_follows: re.Pattern[str]
    met: re.Pattern[str]
    met_follows: re.Pattern[str]
    joined: re.Pattern[str]
    """Stands between names that share what stands before and after them."""
    learned: re.Pattern[str]
    learned_that: re.Pattern[str]
    open: re.Pattern[str]
    hidden: re.Pattern[str]
    common: frozenset[str]


@cache
def lexicon(language: str) -> ReportLexicon:
    """Return that of `language`, of English for one that has none."""
    name = language if language in LANGUAGES else "en"
    data = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    compile_words = partial(_compile, titles=data["titles"])
    return ReportLexicon(
        attitudes=tuple(
            AttitudeCue(compile_words(row.pop("words")), **row) for row in data["attitudes"]
        ),
        negation_follows=data.get("negation_follows", False),
        common=frozenset(data["common"].split()),
        **{name: compile_words(data.get(name, NEVER)) for name in PATTERNS},
    )


@dataclass(frozen=True)
class ReportWords:
    """The lexicons of a report: each sentence is read in its own language. `language` is that of
    the whole."""

    language: str

    def of(self, sentence: str) -> ReportLexicon:
        return lexicon(guess_language(sentence))

    def is_hidden(self, sentence: str, *, is_log: bool = False) -> bool:
        """Whether it is for game masters alone, by the words of its language or the report's, or by
        a mark such as `GM:`, which says in a log who speaks."""
        languages = {self.language, guess_language(sentence)}
        return any(lexicon(each).hidden.search(sentence) for each in languages) or (
            not is_log and bool(GAME_MASTER_SPEAKS.search(sentence))
        )


GAME_MASTERS = (
    *("gm", "gms", "dm", "dms", "game master", "dungeon master", "гм", "дм", "мастер", "ведущий"),
    *("ведущая", "마스터", "진행자", "게임 마스터"),
)
"""Who speaks for the game master in a log; in notes their name before a colon marks a secret."""
GAME_MASTER_SPEAKS = re.compile(rf"\b(?:{'|'.join(GAME_MASTERS)})\s?[:：]", re.IGNORECASE)


def is_game_master(speaker: str) -> bool:
    return speaker.casefold().strip() in GAME_MASTERS


def is_mark(speaker: str) -> bool:
    """Whether the name of a speaker before a colon would mark a sentence as hidden."""
    return is_game_master(speaker) or any(
        lexicon(each).hidden.search(f"{speaker}: ") for each in LANGUAGES
    )


NEVER = r"(?!)"
PATTERNS = (
    *("negation", "party", "pronoun", "about", "about_follows", "learned", "learned_that"),
    *("acts", "acts_follows", "met", "met_follows", "joined", "open", "hidden"),
    *("reported", "absent_before", "absent_after"),
)


def _compile(words: Any, *, titles: str) -> re.Pattern[str]:
    """Compile a pattern, or several of which one has to fit. A space stands for any white space,
    ` ?` for white space or none, `<titles>` for the language's `titles`."""
    text = "|".join(words) if isinstance(words, list) else str(words)
    text = text.replace("<titles>", titles)
    return re.compile(text.replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE)
