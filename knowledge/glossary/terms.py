"""Read the glossary's files: `terms.csv` (a term, its names per language, `|` between several, the
usual one first, its kind, and phrases that mean it without naming it), `variants.csv` (more names
in use, for a look-up of a name alone), `words.csv` (words of names and what they stand for)."""

import csv
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
TERMS = FOLDER / "terms.csv"
LANGUAGES = ("ru", "ko")

RULE_KINDS: dict[str, frozenset[str]] = {
    "spell": frozenset({"spell"}),
    "monster": frozenset({"monster", "equipment"}),  # a warhorse is bought, too
    "condition": frozenset({"condition"}),
    "equipment": frozenset({"equipment"}),
    "item": frozenset({"magic_item", "equipment"}),
    "class": frozenset({"class", "feature"}),
    "race": frozenset({"ancestry", "feature"}),
    "skill": frozenset({"skill"}),
    "ability": frozenset({"skill"}),
    "damage": frozenset({"term"}),
    "language": frozenset({"term"}),
    "alignment": frozenset({"term"}),
}
"""Which kinds of rules a term of each kind may name; other kinds of terms name sections."""
SECTION_KINDS = frozenset({"section", "feat", "background", "term"})


@dataclass(frozen=True)
class Term:
    """`names` and `phrases` by language. Names become aliases of rules; phrases help questions."""

    term: str
    kind: str
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    phrases: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def may_name(self, rule_kind: str) -> bool:
        return rule_kind in RULE_KINDS.get(self.kind, SECTION_KINDS)


@cache
def read_terms(path: Path = TERMS) -> tuple[Term, ...]:
    if not path.exists():
        return ()
    with path.open(encoding="utf-8", newline="") as handle:
        return tuple(
            Term(
                term=row["term_en"].strip(),
                kind=row["kind"].strip(),
                names=_by_language(row, "{}"),
                phrases=_by_language(row, "{}_said"),
            )
            for row in csv.DictReader(handle)
        )


@cache
def read_variants() -> tuple[Term, ...]:
    return _read_names(FOLDER / "variants.csv", "term_en")


@cache
def read_words() -> tuple[Term, ...]:
    return _read_names(FOLDER / "words.csv", "word_en")


def _read_names(path: Path, column: str) -> tuple[Term, ...]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle)
        return tuple(Term(row[column], "", _by_language(row, "{}")) for row in rows)


def _by_language(row: dict[str, str], column: str) -> dict[str, tuple[str, ...]]:
    names = {}
    for language in LANGUAGES:
        cells = (row.get(column.format(language)) or "").split("|")
        if values := tuple(cell.strip() for cell in cells if cell.strip()):
            names[language] = values
    return names
