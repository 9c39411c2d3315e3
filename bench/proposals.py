"""Proposals from text, read by rules and the small model:
`python -m bench.proposals [SET.jsonl] [--half H] [--rules] [--list]`.

Each line of the set is a passage: `lang`, `text`, `known` (the entities that the world has, with
their kinds) and `expected`, what the passage says. Prints precision and recall by language and by
kind. No database is needed. A proposal is right if one expected line matches it:

- fact: the same two names in either order, and the same relation once both are in stored form (OWNS
  is OWNED_BY, and to be in something is to be a part of it); RELATES_TO matches RELATES_TO whatever
  the labels. `label` counts those of which the labels mean the same bond. An expected line may have
  `words` in place of a relation: then the claims that they make in the lexicon of `lore_assert`
  have to allow the relation; words that it does not know match every relation of the two.
- alias: the same entity and the same other name.
- death: the same entity. A proposal of a death that has a date also matches the date of the death.
- date: the same entity and the same numbers; `what` is not compared.
- new: the same name. `kind` counts those whose kind agrees, too.

Names are compared without case, accents and articles, and in any inflection; a part of a name (of
at least one whole word) is the name. The development set is by the author of the rules.
"""

import argparse
import json
import os
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

SET = Path(__file__).parent / "data" / "proposals_development.jsonl"
STORED = {"OWNS": "OWNED_BY"}
INSIDE = {"LOCATED_IN", "PART_OF"}
"""A place within a place is a part of it, in the relations of a new world."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("set", nargs="?", type=Path, default=SET)
    parser.add_argument("--half", choices=["even", "odd"], help="Only the passages of this half.")
    parser.add_argument("--rules", action="store_true", help="Without the small model.")
    parser.add_argument("--list", action="store_true", help="Print what is wrong and missing.")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    lines = options.set.read_text(encoding="utf-8").splitlines()
    passages = [json.loads(line) for line in lines if line.strip()]
    passages = [p for p in passages if options.half in (None, p.get("half"))]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    start = time.perf_counter()
    for number, passage in enumerate(passages, 1):
        found = read_passage(passage, with_model=not options.rules)
        name = passage.get("id") or f"{passage['lang']} {number}"
        compare(passage, found, counts, name=name, show=options.list)
    seconds = time.perf_counter() - start
    for key in sorted(counts, key=lambda key: ("/" in key, key)):
        print_line(key, counts[key])
    print(f"{len(passages)} passages, {1000 * seconds / max(1, len(passages)):.0f} ms each")


def read_passage(passage: dict[str, Any], *, with_model: bool = True) -> list[dict[str, str]]:
    """Return the proposals, in the form of the expected lines."""
    from knowledge.extraction.text_reader import TextReader
    from knowledge.graph.models import GraphNode

    nodes = [
        GraphNode(name=name, kind=kind, aliases=aliases)
        for name, kind, aliases in map(known_entity, passage["known"])
    ]
    reader = TextReader(nodes, relations())
    reader.with_model = reader.with_model and with_model
    return [as_line(finding) for finding in reader.read(passage["text"])]


def relations() -> Any:
    """The relations that a new world has, without a database."""
    import yaml

    from knowledge.graph.relations import SEED, Relation, Relations

    rows = yaml.safe_load(SEED.read_text())["relations"]
    return Relations(
        {
            code: Relation(
                code,
                row.get("stored_as"),
                row.get("symmetric", False),
                row.get("transitive", False),
                row.get("acyclic", False),
                frozenset((src, dst) for src, dsts in row["joins"].items() for dst in dsts),
            )
            for code, row in rows.items()
        }
    )


def known_entity(row: Any) -> tuple[str, str, list[str]]:
    """Return name, kind and aliases of a known entity: an object, a pair, or `Name (Kind)`."""
    if isinstance(row, dict):
        kind = row.get("kind") or row.get("entity_kind") or "Character"
        return row["name"], kind_of(kind), list(row.get("aliases", []))
    if isinstance(row, list):
        return row[0], kind_of(row[1]), []
    match = re.fullmatch(r"(.*?)\s*[(:|]\s*(\w+)\)?", row)
    return (match[1], kind_of(match[2]), []) if match else (row, "Character", [])


KINDS = {
    "person": "Character",
    "npc": "Character",
    "creature": "Character",
    "place": "Location",
    "organisation": "Faction",
}


def kind_of(text: str) -> str:
    return KINDS.get(text.lower(), text.capitalize())


def as_line(finding: Any) -> dict[str, str]:
    line = {"kind": finding.kind, "quote": finding.sentence.text, "value": finding.value}
    if finding.kind == "fact":
        ends = {"src": finding.node.name, "dst": finding.other.name}
        return {**line, **ends, "relation": finding.relation, "label": finding.label}
    if finding.kind == "entity":
        return {**line, "kind": "new", "name": finding.node.name, "entity_kind": finding.node.kind}
    return {**line, "entity": finding.node.name, "alias": finding.alias, "what": finding.what}


def compare(
    passage: dict[str, Any],
    found: list[dict[str, str]],
    counts: dict[str, Counter[str]],
    *,
    name: str,
    show: bool,
) -> None:
    language, expected = passage["lang"], passage["expected"]
    matched = [[n for n, wanted in enumerate(expected) if agrees(line, wanted)] for line in found]
    for line, hits in zip(found, matched, strict=True):
        for key in ("all", language, f"all/{line['kind']}", f"{language}/{line['kind']}"):
            counts[key].update(proposed=1, right=bool(hits))
            if hits and (line["kind"] == "new" or "label" in expected[hits[0]]):
                agree = any(same_detail(line, expected[n]) for n in hits)
                counts[key].update(detailed=1, detail=agree)
        if show and not hits:
            print(f"{name} wrong: {without_quote(line)}\n    {line['quote']}")
    reached = {n for hits in matched for n in hits}
    for n, wanted in enumerate(expected):
        for key in ("all", language, f"all/{wanted['kind']}", f"{language}/{wanted['kind']}"):
            counts[key].update(expected=1, found=n in reached)
        if show and n not in reached:
            print(f"{name} missing: {wanted}")


def without_quote(line: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in line.items() if value and key != "quote"}


def agrees(line: dict[str, str], wanted: dict[str, str]) -> bool:
    if line["kind"] != wanted["kind"]:
        is_death = line["kind"] == "death" and wanted["kind"] == "date" and line["value"]
        return bool(is_death) and _same_date(line, wanted)
    if line["kind"] == "fact":
        ends = (line["src"], line["dst"])
        same = any(
            same_name(a, wanted["src"]) and same_name(b, wanted["dst"])
            for a, b in (ends, ends[::-1])
        )
        return same and bool(codes_of(line) & codes_of(wanted) or not codes_of(wanted))
    if line["kind"] == "alias":
        return same_name(line["entity"], wanted["entity"]) and same_name(
            line["alias"], wanted["alias"]
        )
    if line["kind"] == "death":
        return same_name(line["entity"], wanted["entity"])
    if line["kind"] == "date":
        return _same_date(line, wanted)
    return same_name(line["name"], wanted["name"])


def codes_of(row: dict[str, str]) -> set[str]:
    """Return the stored relations that a fact may have; none if its words do not tell."""
    from knowledge.fact_check.labelled_facts import meanings_of

    codes = {row["relation"]} if "relation" in row else set()
    if "words" in row:
        kinds = [meaning.kind for meaning in meanings_of(row["words"])]
        codes = {each.relation or "RELATES_TO" for kind in kinds for each in kind.readings}
    codes = {STORED.get(code, code) for code in codes}
    return codes | INSIDE if codes & INSIDE else codes


def _same_date(line: dict[str, str], wanted: dict[str, str]) -> bool:
    numbers = [re.findall(r"\d+", str(row["value"])) for row in (line, wanted)]
    return same_name(line["entity"], wanted["entity"]) and bool(
        set(numbers[0]) & set(numbers[1]) if numbers[1] else line["value"] == wanted["value"]
    )


def same_detail(line: dict[str, str], wanted: dict[str, str]) -> bool:
    """Whether the kind of a new name agrees; of a fact, the meanings of the labels."""
    if line["kind"] == "new":
        return kind_of(line["entity_kind"]) == kind_of(wanted["entity_kind"])
    from knowledge.fact_check.labelled_facts import meanings_of

    bonds = [
        {
            reading.bond
            for each in meanings_of(row.get("label", ""))
            for reading in each.kind.readings
        }
        if row.get("label")
        else set()
        for row in (line, wanted)
    ]
    return not bonds[0] or not bonds[1] or bool(bonds[0] & bonds[1])


def same_name(one: str, other: str) -> bool:
    from retrieval.text import KnownName, NameIndex

    if one == other:
        return True
    for known, name in ((one, other), (other, one)):
        found = NameIndex([KnownName(0, known)]).find(name)
        if any(match.how in ("exact", "alias", "ending", "quoted", "part") for match in found):
            return True
    return False


def print_line(key: str, count: Counter[str]) -> None:
    def share(part: str, whole: str) -> str:
        return f"{count[part] / count[whole]:.3f}" if count[whole] else "–"

    print(
        f"{key:12} precision {share('right', 'proposed')} of {count['proposed']:3}, "
        f"recall {share('found', 'expected')} of {count['expected']:3}, "
        f"label or kind {share('detail', 'detailed')}"
    )


if __name__ == "__main__":
    main()
