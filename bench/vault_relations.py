"""Relations of a vault, by rules: `python -m bench.vault_relations [VAULT LABELS]`.

Imports a folder of notes into a world that is rolled back, and compares the facts with labels: a
line `entity|RELATION|entity` for each, written by hand. Without arguments, the vault of
`bench/data`. With `--list` the facts that no label has and the labels that no fact has are printed.
A symmetric relation and one that joins anything (`RELATES_TO`) count in both directions.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench.scratch import connect

DATA = Path(__file__).parent / "data"
Triple = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("vault", nargs="?", type=Path, default=DATA / "tidewater_vault")
    parser.add_argument("labels", nargs="?", type=Path, default=DATA / "tidewater_relations.txt")
    parser.add_argument("--list", action="store_true", help="print what differs")
    options = parser.parse_args()
    connect("memory37_vaults")
    found, entities = import_vault(options.vault)
    wanted = read_labels(options.labels)
    right = found & wanted
    print(f"{entities} entities, {len(found)} relations, {len(wanted)} labelled")
    print(f"precision {len(right) / max(1, len(found)):.3f}", end="  ")
    print(f"recall {len(right) / max(1, len(wanted)):.3f}")
    print(", ".join(f"{code} {n}" for code, n in Counter(t[1] for t in found).most_common()))
    if options.list:
        print_triples("no label has", found - wanted)
        print_triples("no fact has", wanted - found)


def import_vault(vault: Path) -> tuple[set[Triple], int]:
    """Return the relations of the vault and the number of its entities."""
    from django.db import transaction

    from knowledge.graph.models import GraphEdge, GraphNode
    from memory_site.imports.direct import import_path
    from memory_site.imports.options import ImportOptions
    from worlds.models import World

    with transaction.atomic():
        world = World.objects.create(slug="vault", name="Vault")
        import_path(world, vault, ImportOptions())
        facts = GraphEdge.objects.believed_now().filter(world=world)
        rows = facts.values_list("src__name", "relation", "dst__name")
        found = {in_one_form(row) for row in rows}
        entities = GraphNode.objects.filter(world=world).count()
        transaction.set_rollback(True)
    return found, entities


def read_labels(path: Path) -> set[Triple]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.split("|") for line in lines if line.strip() and not line.startswith("#"))
    return {in_one_form((src, code, dst)) for src, code, dst in rows}


def in_one_form(triple: Triple) -> Triple:
    src, code, dst = triple
    if code in ("KNOWS", "ALLY_WITH", "ENEMY_OF", "RELATES_TO"):
        src, dst = sorted((src, dst))
    return src, code, dst


def print_triples(heading: str, triples: Iterable[Triple]) -> None:
    print(f"{heading}:")
    for src, code, dst in sorted(triples):
        print(f"  {src} {code} {dst}")


if __name__ == "__main__":
    main()
