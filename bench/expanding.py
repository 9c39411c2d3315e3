"""Do passages of graph neighbours help a search of lore? nDCG@10 of the demo's questions, with the third leg at several
weights (reciprocal ranks). Everything is loaded in a transaction that is rolled back; the search goes by words.

    python -m bench.expanding
"""

import json
import os
from pathlib import Path
from statistics import mean

import django

from bench.scoring import ndcg

QUESTIONS = Path(__file__).parent / "questions" / "lore.queries.jsonl"
WEIGHTS = (0.0, 0.1, 0.25, 0.5)
RRF = 10


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    os.environ.setdefault("EMBEDDER", "hashing")
    django.setup()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    found = legs(rows)
    for languages in (("en", "ru", "ko"), ("en",), ("ru",), ("ko",)):
        some = [one for one in found if one[0]["meta"]["language"] in languages]
        named = sum(bool(near) for _row, _hits, near in some)
        scores = {
            w: mean(ndcg(fused(hits, near, w), frozenset(row["relevant_ids"]), 10) for row, hits, near in some)
            for w in WEIGHTS
        }
        print(f"{'+'.join(languages):9} n {len(some):3}  with neighbours {named:3} ",
              "  ".join(f"weight {w}: {score:.3f}" for w, score in scores.items()))  # fmt: skip


def legs(rows: list[dict]) -> list[tuple[dict, list[str], list[str]]]:
    """Return (question, ids by search, ids by graph) for each question, as a game master asks."""
    from django.db import transaction

    from knowledge.finding import find_lore
    from knowledge.graph.base import View
    from knowledge.graph.expanding import lore_near
    from knowledge.models import Lore
    from knowledge.schemas import LoreQuestion
    from memory_site.demo.loading import load
    from memory_site.demo.reading import read_world
    from retrieval.presets import Mode
    from worlds.audiences import GM
    from worlds.callers import Caller
    from worlds.models import World

    found = []
    with transaction.atomic():
        load(read_world(), again=True)
        world = World.objects.get(slug="ferrymark")
        slugs = dict(Lore.objects.filter(world=world).values_list("pk", "slug"))
        for row in rows:
            answer = find_lore(LoreQuestion(query=row["text"], k=20), Caller.gm(world), mode=Mode.KEYWORD)
            near = [slugs[pk] for pk in lore_near(row["text"], View(world, GM))]
            found.append((row, [hit.id for hit in answer.hits], near))
        transaction.set_rollback(True)
    return found


def fused(hits: list[str], near: list[str], weight: float) -> list[str]:
    scores = {each: 1 / (RRF + rank) for rank, each in enumerate(hits, 1)}
    for rank, each in enumerate(near, 1):
        scores[each] = scores.get(each, 0.0) + weight / (RRF + rank)
    return sorted(scores, key=lambda each: -scores[each])[:10]


if __name__ == "__main__":
    main()
