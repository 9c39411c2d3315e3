"""The lexicons: which sentence patterns of each language express which claims. Compiled once
from `data/*.yaml`."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from retrieval.text import has_hangul, is_cyrillic

DATA = Path(__file__).parent / "data"
SLOT = re.compile(r"\{([ab])(?::(\w))?\}")


@dataclass(frozen=True)
class Reading:
    """One interpretation of a claim as facts of a relation. The flags are explained in
    `data/claims.yaml`."""

    relation: str
    labels: tuple[str, ...] = ()
    inverse: bool = False
    mutual: bool = False
    unique: bool = False
    permanent: bool = False


@dataclass(frozen=True)
class ClaimKind:
    name: str
    readings: tuple[Reading, ...] = ()
    src: frozenset[str] = frozenset()
    dst: frozenset[str] = frozenset()
    asserts_end: bool | None = None  # "is dead": True, "is alive": False, other claims: None

    def allows(self, a: str, b: str | None) -> bool:
        """Whether the claim makes sense for entities of these kinds."""
        return (not self.src or a in self.src) and (b is None or not self.dst or b in self.dst)


@dataclass(frozen=True)
class Lexicon:
    """The patterns of one language. A pattern matches a whole sentence with its names replaced
    by slots."""

    patterns: tuple[tuple[str, re.Pattern[str]], ...]  # (name of the claim, pattern)
    fillers: re.Pattern[str]
    ignorable: re.Pattern[str] | None
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    negations: tuple[re.Pattern[str], ...]
    antonyms: tuple[tuple[re.Pattern[str], str], ...]
    past: re.Pattern[str]


@cache
def claim_kinds() -> dict[str, ClaimKind]:
    kinds = {}
    for name, row in load_yaml("claims").items():
        readings = tuple(
            Reading(**{**reading, "labels": tuple(reading.get("labels", ()))})
            for reading in row.get("readings", ())
        )
        src, dst = frozenset(row.get("from", ())), frozenset(row.get("to", ()))
        kinds[name] = ClaimKind(name, readings, src, dst, row.get("ended"))
    return kinds


def language_of(text: str) -> str:
    return "ko" if has_hangul(text) else "ru" if is_cyrillic(text.casefold()) else "en"


@cache
def lexicon(language: str) -> Lexicon:
    data = load_yaml(language)
    texts = [(claim, text) for claim, phrases in data["phrases"].items() for text in phrases]
    texts += [
        (claim, pattern.replace("{N}", f"(?:{nouns})"))
        for claim, nouns in data["nouns"].items()
        for pattern in data["noun_patterns"]
    ]
    antonyms = data.get("antonyms", {})
    return Lexicon(
        patterns=tuple((claim, _compile_pattern(text, data)) for claim, text in texts),
        fillers=any_of(data["fillers"]),
        ignorable=any_of(data["ignored"]) if data["ignored"] else None,
        rewrites=tuple((re.compile(what), by) for what, by in data["rewrites"]),
        negations=tuple(map(re.compile, data["negations"])),
        antonyms=tuple((re.compile(rf"\b(?:{what})$"), by) for what, by in antonyms.items()),
        past=re.compile(data["past"]),
    )


def _compile_pattern(text: str, data: dict[str, Any]) -> re.Pattern[str]:
    """Compile a pattern of the YAML file: expand its macros, and its slots such as `{a}` and
    `{b:P}`.

    A slot matches `M0`, or `M0_ending`; `{a:P}` only with an ending of class P, `{a:n}` only
    without an ending.
    """
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


def load_yaml(name: str) -> Any:
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
