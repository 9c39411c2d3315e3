"""The words of running text: `data/<language>.yaml`, on top of the lexicon of `fact_check`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from knowledge.fact_check import lexicon as statements

DATA = Path(__file__).parent / "data"
GROUPS = {
    "nouns": "noun_patterns",
    "mutual_nouns": "mutual_patterns",
    "verbs": "verb_patterns",
    "dative_verbs": "dative_verb_patterns",
    "participles": "participle_patterns",
}
SLOT = re.compile(r"\{([ab])(?::(\w))?\}")


@dataclass(frozen=True)
class RelationPattern:
    claim: str
    words: re.Pattern[str]
    templates: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class TextLexicon:
    """`relations` and `phrases` find claims; the others single statements. A pattern of an alias
    has `X` where the other name stands, one of a date `D`."""

    language: str
    relations: tuple[RelationPattern, ...]
    phrases: tuple[tuple[str, re.Pattern[str]], ...]
    alias: tuple[re.Pattern[str], ...]
    death: tuple[re.Pattern[str], ...]
    not_death: re.Pattern[str]
    dates: tuple[tuple[str, re.Pattern[str]], ...]
    hedges: re.Pattern[str]
    negations: re.Pattern[str]
    formerly: re.Pattern[str]
    pronouns: dict[str, tuple[str, str]]
    titles: re.Pattern[str]
    holder: re.Pattern[str]
    """An office and its holder, without whose office it is."""
    fragment: re.Pattern[str]
    """A sentence that says of whom the text is about what they are, without naming them."""
    dropped: re.Pattern[str]
    """A whole sentence that leaves out its subject."""
    data: dict[str, Any]

    def patterns_for(self, text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
        for entry in self.relations:
            if entry.words.search(text):
                for template in entry.templates:
                    yield entry.claim, fill(template, entry.text, self.language)
        yield from self.phrases


NEVER = r"(?!)"


@cache
def text_lexicon(language: str) -> TextLexicon:
    data = load(language)
    other = statements.load_yaml(language)
    titles = sorted({*other["titles"], *data["titles"]}, key=len, reverse=True)
    ending, words = data.get("title_ending", ""), "|".join(map(re.escape, titles))
    no_title = f"(?!{data['no_title']})" if "no_title" in data else ""
    pronouns = {word: tuple(value.split()) for word, value in data["pronouns"].items()}
    return TextLexicon(
        language=language,
        relations=tuple(_relations(data, other)),
        phrases=tuple(
            (claim, expand(text, language))
            for claim, texts in {**data.get("phrases", {})}.items()
            for text in texts
        ),
        alias=tuple(expand(text, language) for text in data["alias"]),
        death=tuple(expand(text, language) for text in data["death"]),
        not_death=re.compile(data["not_death"]),
        dates=tuple(
            (what, expand(text, language))
            for what, texts in data["dates"].items()
            for text in texts
        ),
        hedges=re.compile(data["hedges"]),
        negations=re.compile(data["negations"]),
        formerly=re.compile(data["formerly"]),
        pronouns=pronouns,
        titles=re.compile(
            # Not after a possessor: `her brother Joss` says whose brother he is.
            # `Брат M1_x` with the name alone in the genitive says whose brother somebody is.
            rf"(?<!\S)(?<!_s )(?<!_q )(?<!_의 ){no_title}(?:{words}){ending} (?=M\d)"
        ),
        holder=_with_offices(data["holder"], data, other),
        fragment=_with_offices(data["fragment"], data, other),
        dropped=re.compile(data.get("dropped", NEVER)),
        data=data,
    )


def _with_offices(pattern: str, data: dict[str, Any], other: dict[str, Any]) -> re.Pattern[str]:
    words = "|".join(each["nouns"]["leads"] for each in (data, other))
    return re.compile(pattern.replace("{N}", f"(?:{words})"))


@cache
def titles_of(language: str) -> frozenset[str]:
    """Return the words before names, such as `captain`."""
    return frozenset({*load(language)["titles"], *statements.load_yaml(language)["titles"]})


def _relations(data: dict[str, Any], other: dict[str, Any]) -> Iterator[RelationPattern]:
    """Yield the words of both lexicons with the patterns of running text."""
    for group, templates in GROUPS.items():
        own, theirs = data.get(group, {}), other.get(group, {})
        patterns = tuple(data.get(templates, ()))
        for claim in dict.fromkeys([*own, *theirs]) if patterns else ():
            # Own words first: they are longer.
            text = "|".join(filter(None, (own.get(claim), theirs.get(claim))))
            yield RelationPattern(claim, re.compile(text), patterns, text)


@cache
def fill(template: str, words: str, language: str) -> re.Pattern[str]:
    group = f"(?:{words})"
    return expand(template.replace("{N}", group).replace("{V}", group), language)


@cache
def expand(text: str, language: str) -> re.Pattern[str]:
    """Compile a pattern: expand its macros and slots."""
    data = load(language)
    for name, macro in data["macros"].items():
        text = text.replace(f"{{{name}}}", macro)
    # A pronoun has an ending of its own: `q` possessive (его), `o` an object.
    if word := data.get("word"):
        text = text.replace(word[0], word[1])
    endings = statements.load_yaml(language)["slots"] | data.get("slots", {})
    endings |= {"q": "q", "o": "q|x"} if language != "ko" else {}

    def slot(match: re.Match[str]) -> str:
        letter, ending = match.groups()
        name = rf"(?<!\S)(?P<{letter}>M\d)"
        if ending == "n":
            return name + r"(?![\w])"
        return name + (rf"_(?:{endings[ending]})(?!\w)" if ending else r"(?:_[^\s,;]+)?(?!\w)")

    text = SLOT.sub(slot, text)
    text = re.sub(r"(?<![A-Za-z\\])X(?![A-Za-z])", r"(?P<x>X\\d)(?:_[^\\s,;]+)?(?!\\w)", text)
    text = re.sub(r"(?<![A-Za-z\\])D(?![A-Za-z])", data["date"].replace("\\", "\\\\"), text)
    return re.compile(text)


@cache
def load(language: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((DATA / f"{language}.yaml").read_text(encoding="utf-8"))
    return data
