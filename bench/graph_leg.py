"""Effect of `expand` on lore search: nDCG@10 of the demo's questions, by words, with the graph leg
at several weights. The demo is loaded in a transaction that is rolled back.

    python -m bench.graph_leg
"""

import json
import os
from pathlib import Path
from statistics import mean
from typing import Any

from bench.metrics import ndcg
from bench.scratch import connect

QUESTIONS = Path(__file__).parent / "questions" / "lore.queries.jsonl"
WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


def main() -> None:
    os.environ.setdefault("EMBEDDER", "hashing")
    connect()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    answers = search_at_each_weight(rows)
    for languages in (("en", "ru", "ko"), ("en",), ("ru",), ("ko",)):
        some = [n for n, row in enumerate(rows) if row["meta"]["language"] in languages]
        scores = {
            weight: mean(ndcg(ids[n], frozenset(rows[n]["relevant_ids"]), 10) for n in some)
            for weight, ids in answers.items()
        }
        print(
            f"{'+'.join(languages):9} n {len(some):3} ",
            "  ".join(f"weight {weight}: {score:.3f}" for weight, score in scores.items()),
        )


def search_at_each_weight(rows: list[dict[str, Any]]) -> dict[float, list[list[str]]]:
    """Return, by the weight of the graph leg, the ids that a game master gets for each question."""
    from django.db import transaction

    from knowledge import graph_leg
    from memory_site.demo.load import load
    from memory_site.demo.world_files import read_world
    from worlds.callers import Caller
    from worlds.models import World

    ids_by_weight = {}
    with transaction.atomic():
        load(read_world(), again=True)
        caller = Caller.gm(World.objects.get(slug="ferrymark"))
        for weight in WEIGHTS:
            graph_leg.WEIGHT = weight
            ids_by_weight[weight] = [
                found_ids(row["text"], caller, expand=weight > 0) for row in rows
            ]
        transaction.set_rollback(True)
    return ids_by_weight


def found_ids(text: str, caller: Any, *, expand: bool) -> list[str]:
    from knowledge.schemas import LoreQuestion
    from knowledge.search import find_lore
    from retrieval.search import Mode

    answer = find_lore(LoreQuestion(query=text, k=10, expand=expand), caller, mode=Mode.KEYWORD)
    return [hit.id for hit in answer.hits]


if __name__ == "__main__":
    main()
