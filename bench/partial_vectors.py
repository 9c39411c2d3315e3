"""Search while only a part of the passages has vectors: `python -m bench.partial_vectors FOLDER…
[--scope NAME] [--questions]`.

For each set and each share of embedded passages, recall@10 of the words alone and of the fused
search. Which passages have a vector is drawn by the hash of their id, so each larger share contains
the smaller ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from bench.datasets import Dataset, Question, chosen_sets, sets_parser
from bench.metrics import mean_measures, measures_of
from bench.scratch import connect

SHARES = (0, 3, 30, 70, 100)
WAYS = ("keyword leg", "fused, score")
HIDE = """
UPDATE {table} SET embedding_model = '' WHERE embedding_model <> ''
  AND ('x' || substr(md5(id::text), 1, 4))::bit(16)::int %% 100 >= %s
"""


Ranker = Callable[[Question], list[str]]


def main() -> None:
    parser = sets_parser(__doc__)
    parser.add_argument(
        "--questions", action="store_true", help="Also our own, about the SRD and the demo."
    )
    options = parser.parse_args()
    connect()
    print(f"{'recall@10':24}{'share':>8}{'words':>9}{'fused':>9}")
    for dataset in chosen_sets(options):
        measure(dataset.name, *rankers_of_set(dataset))
    if options.questions:
        from bench.own_questions import load_rules_and_demo

        load_rules_and_demo()
        for name, domain in (("srd_en", "srd"), ("lore", "lore")):
            measure(name, *rankers_of_own(name, domain))


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
    name: str, model: Any, questions: Sequence[Question], rankers: Mapping[str, Ranker]
) -> None:
    for share in SHARES:
        with only_embedded(model, share):
            means = [
                mean_measures(measures_of(rank(each), each.relevant) for each in questions)
                for rank in rankers.values()
            ]
        figures = "".join(f"{mean['recall@10']:9.3f}" for mean in means)
        print(f"{name:24}{share:>7}%{figures}", flush=True)


@contextmanager
def only_embedded(model: Any, share: int) -> Iterator[None]:
    """Search as if `share` per cent of the passages had a vector; nothing stays changed."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(HIDE.format(table=model._meta.db_table), [share])
        yield
        transaction.set_rollback(True)


if __name__ == "__main__":
    main()
