"""The lexicons: which sentence patterns of each language express which claims. Compiled from
`data/*.yaml`, the patterns of a relation word when a text first has that word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from retrieval.text import has_hangul, is_cyrillic

DATA = Path(__file__).parent / "data"
SLOT = re.compile(r"\{([ab])(?::(\w))?\}")
WORD_GROUPS = {
    "nouns": "noun_patterns",
    "mutual_nouns": "mutual_patterns",
    "verbs": "verb_patterns",
    "dative_verbs": "dative_verb_patterns",
    "participles": "participle_patterns",
}
"""Which of a language's patterns are for which of its relation words."""
DATE_ROLES = ("since", "until", "during")


@dataclass(frozen=True)
class Reading:
    """One interpretation of a claim as facts of a relation, or of a bond: RELATES_TO facts by the
    meaning of their labels. The flags are explained in `data/claims.yaml`."""

    relation: str = ""
    bond: str = ""
    labels: tuple[str, ...] = ()
    inverse: bool = False
    mutual: bool = False
    sex: str = ""
    implies: bool = False


@dataclass(frozen=True)
class Bond:
    """What a RELATES_TO fact means. The flags are explained in `data/bonds.yaml`."""

    name: str
    permanent: bool = False
    mutual: bool = False
    unique: Literal["", "first", "second", "each", "sex"] = ""
    kin: bool = False
    one_way: bool = False


@dataclass(frozen=True)
class ClaimKind:
    name: str
    readings: tuple[Reading, ...] = ()
    src: frozenset[str] = frozenset()
    dst: frozenset[str] = frozenset()
    refuted_by: frozenset[str] = frozenset()
    asserts_end: bool | None = None  # "is dead": True, "is alive": False, other claims: None
    is_dated: bool = False
    is_over: bool = False

    def allows(self, a: str, b: str | None) -> bool:
        """Whether the claim makes sense for entities of these kinds."""
        return (not self.src or a in self.src) and (b is None or not self.dst or b in self.dst)


@dataclass(frozen=True)
class RelationWords:
    """The words for one claim, and the patterns in which they stand as `{N}` or `{V}`."""

    claim: str
    text: str
    words: re.Pattern[str]
    templates: tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """The patterns of one language. A pattern matches a whole sentence with its names replaced
    by slots."""

    language: str
    relation_words: tuple[RelationWords, ...]
    phrases: tuple[tuple[str, re.Pattern[str]], ...]  # (name of the claim, pattern)
    fillers: re.Pattern[str]
    titles: re.Pattern[str]
    ignorable: re.Pattern[str] | None
    conjunction: re.Pattern[str]
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    negations: tuple[re.Pattern[str], ...]
    antonyms: tuple[tuple[re.Pattern[str], str], ...]
    tenses: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]
    dates: tuple[tuple[str, re.Pattern[str]], ...]  # (role of the date, pattern)
    past: re.Pattern[str]
    passive: re.Pattern[str]
    subject: re.Pattern[str]
    clauses: re.Pattern[str]
    pronouns: re.Pattern[str]
    amount: re.Pattern[str]
    money: str

    def patterns_for(self, text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
        """Yield the patterns that can match `text`, by the relation words that it has."""
        for entry in self.relation_words:
            if entry.words.search(text):
                for template in entry.templates:
                    yield entry.claim, _fill(template, entry.text, self.language)
        yield from self.phrases


@cache
def claim_kinds() -> dict[str, ClaimKind]:
    kinds = {}
    for name, row in load_yaml("claims").items():
        readings = tuple(
            Reading(**{**reading, "labels": tuple(reading.get("labels", ()))})
            for reading in row.get("readings", ())
        )
        src, dst = frozenset(row.get("from", ())), frozenset(row.get("to", ()))
        refuted_by = frozenset(row.get("refuted_by", ()))
        kinds[name] = ClaimKind(
            name,
            readings,
            src,
            dst,
            refuted_by,
            row.get("ended"),
            row.get("dated", False),
            row.get("over", False),
        )
    return kinds


@cache
def bonds() -> dict[str, Bond]:
    return {name: Bond(name, **row) for name, row in load_yaml("bonds").items()}


def language_of(text: str) -> str:
    return "ko" if has_hangul(text) else "ru" if is_cyrillic(text.casefold()) else "en"


@cache
def lexicon(language: str) -> Lexicon:
    data = load_yaml(language)
    antonyms = data.get("antonyms", {})
    titles = "|".join(sorted(map(re.escape, data["titles"]), key=len, reverse=True))
    tenses = [(name, data[name]) for name in ("never", "no_longer", "formerly")]
    return Lexicon(
        language=language,
        relation_words=tuple(_relation_words(data)),
        phrases=tuple(
            (claim, _compile_pattern(text, language))
            for claim, texts in data["phrases"].items()
            for text in texts
        ),
        fillers=any_of(data["fillers"]),
        titles=re.compile(rf"(?<!\S)(?:{titles}) (?=M\d)"),
        ignorable=any_of(data["ignored"]) if data["ignored"] else None,
        conjunction=re.compile(data["conjunction"]),
        rewrites=tuple((re.compile(what), by) for what, by in data["rewrites"]),
        negations=tuple(map(re.compile, data["negations"])),
        antonyms=tuple((re.compile(rf"\b(?:{what})$"), by) for what, by in antonyms.items()),
        tenses=tuple((name, tuple(map(re.compile, texts))) for name, texts in tenses),
        dates=tuple(
            (role, re.compile(text)) for role in DATE_ROLES for text in data["dates"][role]
        ),
        past=re.compile(data["past"]),
        passive=re.compile(data["passive"]),
        subject=re.compile(data["subject"]),
        clauses=re.compile(data["clauses"]),
        pronouns=re.compile(data["pronouns"]),
        amount=re.compile(data["amount"]),
        money=data["money"],
    )


def _relation_words(data: dict[str, Any]) -> Iterator[RelationWords]:
    for group, templates in WORD_GROUPS.items():
        for claim, text in data.get(group, {}).items():
            yield RelationWords(claim, text, re.compile(text), tuple(data[templates]))


@cache
def _fill(template: str, words: str, language: str) -> re.Pattern[str]:
    alternatives = f"(?:{words})"
    text = template.replace("{N}", alternatives).replace("{V}", alternatives)
    return _compile_pattern(text, language)


def _compile_pattern(text: str, language: str) -> re.Pattern[str]:
    """Compile a pattern of the YAML file: expand its macros, and its slots such as `{a}` and
    `{b:P}`.

    A slot matches `M0`, or `M0_ending`; `{a:P}` only with an ending of class P, `{a:n}` only
    without an ending.
    """
    data = load_yaml(language)
    for name, macro in data["macros"].items():
        text = text.replace(f"{{{name}}}", macro)

    def slot(match: re.Match[str]) -> str:
        letter, ending = match.groups()
        name = rf"(?P<{letter}>M\d)"
        if ending == "n":
            return name + r"(?!_)"
        return name + (rf"_(?:{data['slots'][ending]})" if ending else r"(?:_\S+)?")

    return re.compile(SLOT.sub(slot, text))


def any_of(phrases: list[str]) -> re.Pattern[str]:
    # Longest first: the alternation takes the first phrase that fits.
    options = "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))
    return re.compile(rf"(?<!\S)(?:{options})(?!\S)")


@cache
def load_yaml(name: str) -> Any:
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def vocabulary(language: str) -> frozenset[str]:
    """Return every word that the patterns of a language have."""
    text = (DATA / f"{language}.yaml").read_text(encoding="utf-8")
    return frozenset(re.findall(r"[^\W\d_]{2,}", text))
