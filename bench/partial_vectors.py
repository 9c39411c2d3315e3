"""Search while only a part of the passages has vectors: `python -m bench.partial_vectors FOLDER…
[--scope NAME] [--questions] [--share 70 --draws 8]`.

For each set and each share of embedded passages, recall@10 of the words alone and of the fused
search. Which passages have a vector is drawn by the hash of their id, so each larger share contains
the smaller ones. Of several draws, each with another hash, the mean is printed and the least and
the greatest value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from django.db import connection, transaction

from bench.datasets import Dataset, Question, chosen_sets, sets_parser
from bench.metrics import mean_measures, measures_of
from bench.scratch import connect

SHARES = (0, 3, 30, 70, 100)
WAYS = ("keyword leg", "fused, score")
HIDE = """
UPDATE {table} SET embedding_model = '' WHERE embedding_model <> ''
  AND ('x' || substr(md5(id::text || %s), 1, 4))::bit(16)::int %% 100 >= %s
"""


Ranker = Callable[[Question], list[str]]


def main() -> None:
    parser = sets_parser(__doc__)
    parser.add_argument(
        "--questions", action="store_true", help="Also our own, about the SRD and the demo."
    )
    parser.add_argument("--share", type=int, action="append", help="Only these shares, per cent.")
    parser.add_argument(
        "--draws", type=int, default=1, help="How often the passages with a vector are drawn."
    )
    options = parser.parse_args()
    connect()
    print(f"{'recall@10':24}{'share':>8}{'words':>9}{'fused':>9}")
    measure_set = partial(measure, shares=options.share or SHARES, draws=options.draws)
    for dataset in chosen_sets(options):
        measure_set(dataset.name, *rankers_of_set(dataset))
    if options.questions:
        from bench.own_questions import load_rules_and_demo

        load_rules_and_demo()
        for name, domain in (("srd_en", "srd"), ("lore", "lore")):
            measure_set(name, *rankers_of_own(name, domain))


def rankers_of_set(dataset: Dataset) -> tuple[Any, list[Question], dict[str, Ranker]]:
    """Return the table of the passages, the questions, and each way to rank documents."""
    from bench.corpora import model_for, preset_for, shelve, tenant
    from bench.peers import Tenant
    from bench.rankers import ways

    keys, model = shelve(dataset, lambda _line: None), model_for(dataset)
    asked = {
        scope: ways(Tenant(model.objects.filter(tenant=name), [name], preset_for(dataset)))
        for scope, name in ((scope, tenant(dataset, scope)) for scope in dataset.scopes)
    }

    def ranker(way: str) -> Ranker:
        return lambda question: [keys[id_] for id_ in asked[question.scope][way](question)]

    return model, dataset.questions, {way: ranker(way) for way in WAYS}


def rankers_of_own(name: str, domain: str) -> tuple[Any, list[Question], dict[str, Ranker]]:
    from bench.own_questions import load_questions, rankers_of
    from retrieval.models import get_passage_model

    def ranker(way: str) -> Ranker:
        return lambda question: rankers_of(question.meta["world"], domain)[way](question)

    return get_passage_model(domain), load_questions(name), {way: ranker(way) for way in WAYS}


def measure(
    name: str,
    model: Any,
    questions: Sequence[Question],
    rankers: Mapping[str, Ranker],
    *,
    shares: Sequence[int],
    draws: int,
) -> None:
    for share in shares:
        recalls = np.array(
            [
                recalls_of(questions, rankers, model=model, share=share, draw=draw)
                for draw in range(draws)
            ]
        )
        figures = "".join(f"{mean:9.3f}" for mean in recalls.mean(axis=0))
        fused = recalls[:, -1]
        spread = f"  ({fused.min():.3f}-{fused.max():.3f}, {draws} draws)" if draws > 1 else ""
        print(f"{name:24}{share:>7}%{figures}{spread}", flush=True)


def recalls_of(
    questions: Sequence[Question],
    rankers: Mapping[str, Ranker],
    *,
    model: Any,
    share: int,
    draw: int,
) -> list[float]:
    """Return recall@10 of each ranker while `share` per cent of the passages have a vector."""
    with only_embedded(model, share, draw=draw):
        means = [
            mean_measures(measures_of(rank(each), each.relevant) for each in questions)
            for rank in rankers.values()
        ]
    return [mean["recall@10"] for mean in means]


@contextmanager
def only_embedded(model: Any, share: int, *, draw: int) -> Iterator[None]:
    """Search as if `share` per cent of the passages had a vector; nothing stays changed."""
    salt = str(draw) if draw else ""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(HIDE.format(table=model._meta.db_table), [salt, share])
        yield
        transaction.set_rollback(True)


if __name__ == "__main__":
    main()
