"""How each language says what the graph knows. Compiled once from `data/*.yaml`."""

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
    """One relation that a claim may mean."""

    relation: str
    labels: tuple[str, ...] = ()
    turned: bool = False
    mutual: bool = False
    one: bool = False
    lasting: bool = False


@dataclass(frozen=True)
class ClaimKind:
    name: str
    readings: tuple[Reading, ...] = ()
    src: frozenset[str] = frozenset()
    dst: frozenset[str] = frozenset()
    ended: bool | None = None


@dataclass(frozen=True)
class Lexicon:
    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    fillers: re.Pattern[str]
    ignored: re.Pattern[str] | None
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    negations: tuple[re.Pattern[str], ...]
    antonyms: tuple[tuple[re.Pattern[str], str], ...]
    past: re.Pattern[str]


@cache
def claim_kinds() -> dict[str, ClaimKind]:
    return {name: _claim_kind(name, row) for name, row in _yaml("claims").items()}


def _claim_kind(name: str, row: dict[str, Any]) -> ClaimKind:
    readings = tuple(
        Reading(**{**one, "labels": tuple(one.get("labels", ()))})
        for one in row.get("readings", ())
    )
    return ClaimKind(
        name,
        readings,
        frozenset(row.get("from", ())),
        frozenset(row.get("to", ())),
        row.get("ended"),
    )


def language_of(text: str) -> str:
    return "ko" if has_hangul(text) else "ru" if is_cyrillic(text.casefold()) else "en"


@cache
def lexicon(language: str) -> Lexicon:
    data = _yaml(language)
    return Lexicon(
        patterns=tuple(_patterns(data)),
        fillers=_any_of(data["fillers"]),
        ignored=_any_of(data["ignored"]) if data["ignored"] else None,
        rewrites=tuple((re.compile(what), by) for what, by in data["rewrites"]),
        negations=tuple(map(re.compile, data["negations"])),
        antonyms=tuple(
            (re.compile(rf"\b(?:{what})$"), by) for what, by in data.get("antonyms", {}).items()
        ),
        past=re.compile(data["past"]),
    )


def _patterns(data: dict[str, Any]) -> list[tuple[str, re.Pattern[str]]]:
    texts = [(claim, text) for claim, phrases in data["phrases"].items() for text in phrases]
    for claim, nouns in data["nouns"].items():
        texts += [
            (claim, pattern.replace("{N}", f"(?:{nouns})")) for pattern in data["noun_patterns"]
        ]
    return [(claim, re.compile(_expanded(text, data))) for claim, text in texts]


def _expanded(text: str, data: dict[str, Any]) -> str:
    for name, macro in data["macros"].items():
        text = text.replace(f"{{{name}}}", macro)

    def slot(match: re.Match[str]) -> str:
        letter, kind = match.groups()
        name = rf"(?P<{letter}>M\d)"
        if kind == "n":
            return name + r"(?!_)"
        return name + (rf"_(?:{data['slots'][kind]})" if kind else r"(?:_\S+)?")

    return SLOT.sub(slot, text)


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\S)(?:{'|'.join(sorted(map(re.escape, phrases), key=len, reverse=True))})(?!\S)"
    )


def _yaml(name: str) -> Any:
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
