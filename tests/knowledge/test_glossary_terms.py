"""The glossary file is clean: what it promises its readers, in columns and scripts."""

import csv
from collections import Counter
from pathlib import Path

from memory_site.env import BASE_DIR

TERMS = Path(BASE_DIR) / "knowledge" / "glossary" / "terms.csv"


def rows() -> list[dict[str, str]]:
    with TERMS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_term_has_names_in_both_languages() -> None:
    for row in rows():
        for column, first, last in (("ru", "а", "я"), ("ko", "가", "힣")):
            names = row[column].split("|")
            assert all(name == name.strip() != "" for name in names), row
            assert len(set(names)) == len(names), row
            assert any(first <= letter <= last for letter in "".join(names).lower()), row


def test_a_term_is_unique_in_its_kind() -> None:
    counts = Counter((row["term_en"], row["kind"]) for row in rows())
    assert [term for term, count in counts.items() if count > 1] == []


def test_all_spells_monsters_and_conditions_of_the_srd_are_there() -> None:
    kinds = Counter(row["kind"] for row in rows())
    assert (kinds["spell"], kinds["monster"], kinds["condition"]) == (319, 334, 15)
    assert sum(kinds.values()) >= 700
