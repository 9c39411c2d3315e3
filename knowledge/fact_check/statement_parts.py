"""Take tense, date, sum, titles and negation off a statement with slots for its names."""

import re
from dataclasses import dataclass
from enum import StrEnum

from knowledge.fact_check.labelled_facts import amount_of
from knowledge.fact_check.lexicon import Lexicon
from knowledge.graph.models import GraphNode, NodeKind

SPACES = re.compile(r"\s+")


class Tense(StrEnum):
    """Of which time a claim speaks: of then (`was`), of then and no more (`used to be`), of the
    end (`no longer is`), of all times (`never was`)."""

    PRESENT = "present"
    PAST = "past"
    FORMERLY = "formerly"
    NO_LONGER = "no_longer"
    NEVER = "never"


@dataclass(frozen=True)
class ClaimDate:
    """A date as the sentence has it, and what it is the date of: `since`, `until`, `during`."""

    role: str
    text: str
    language: str


def strip_tense(text: str, language: Lexicon) -> tuple[str, Tense]:
    """Return the text without its words of time, and the time of which it speaks."""
    for name, patterns in language.tenses:
        for pattern in patterns:
            stripped, count = pattern.subn(" ", text)
            if count:
                if name == Tense.NO_LONGER:
                    # `Was once, but is no longer` speaks of the end only.
                    stripped = _without_tense(stripped, Tense.FORMERLY, language)
                return SPACES.sub(" ", stripped).strip(), Tense(name)
    return text, Tense.PRESENT


def _without_tense(text: str, tense: Tense, language: Lexicon) -> str:
    for pattern in dict(language.tenses)[tense]:
        text = pattern.sub(" ", text)
    return text


def strip_amount(text: str, language: Lexicon) -> tuple[str, int | None]:
    """Return the text with `money` for a sum, and the sum."""
    match = language.amount.search(text)
    if match is None:
        return text, None
    return text[: match.start()] + language.money + text[match.end() :], amount_of(match[0])


def strip_date(text: str, language: Lexicon) -> tuple[str, ClaimDate | None]:
    """Return the text without its date, and the date."""
    for role, pattern in language.dates:
        if match := pattern.search(text):
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            date = ClaimDate(role, match[1], language.language)
            return SPACES.sub(" ", rest).strip(), date
    return text, None


def without_titles(text: str, nodes: list[GraphNode], language: Lexicon) -> str:
    """Return the text without titles before the names of people: `адмирал флота` is an office."""

    def title(match: re.Match[str]) -> str:
        number = int(text[match.end() + 1])
        return "" if nodes[number].kind == NodeKind.CHARACTER else match[0]

    return language.titles.sub(title, text)


def strip_negation(text: str, language: Lexicon) -> tuple[str, bool]:
    """Return the statement without question form, fillers and negation, and whether it was
    negated."""
    text = without(text, language.fillers)
    for pattern, replacement in language.rewrites:
        text = pattern.sub(replacement, text)
    negations = 0
    for pattern, replacement in language.antonyms:
        text, count = pattern.subn(replacement, text)
        negations += count
    for pattern in language.negations:
        # Korean negates with "-지 않다": its "지" joins the verb to the negation and stays.
        text, count = pattern.subn(lambda m: "지" if m.group().startswith("지") else "", text)
        negations += count
    return SPACES.sub(" ", text).strip(), negations % 2 == 1


def without(text: str, phrases: re.Pattern[str] | None) -> str:
    """Return the text without these phrases."""
    return SPACES.sub(" ", phrases.sub("", text)).strip() if phrases else text
