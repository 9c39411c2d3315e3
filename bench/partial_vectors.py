"""Search while only a part of the passages has vectors: `python -m bench.partial_vectors FOLDER…`.

For each set and each share of embedded passages, recall@10 of the words alone and of the fused
search. Which passages have a vector is drawn by the hash of their id, so each larger share contains
the smaller ones.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from bench.datasets import Dataset, load_datasets, sample_questions
from bench.metrics import mean_measures, measures_of
from bench.scratch import connect

SHARES = (0, 3, 30, 70, 100)
WAYS = ("keyword leg", "fused, score")
HIDE = """
UPDATE {table} SET embedding_model = '' WHERE embedding_model <> ''
  AND ('x' || substr(md5(id::text), 1, 4))::bit(16)::int %% 100 >= %s
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", action="append", help="Only these sets.")
    parser.add_argument("--sample", type=int, default=100, help="Questions of each set.")
    options = parser.parse_args()
    connect()
    print(f"{'recall@10':24}{'share':>8}{'words':>9}{'fused':>9}")
    for folder in options.folders:
        for dataset in load_datasets(folder, set(options.only) if options.only else None):
            for share, words, fused in measure(sample_questions(dataset, options.sample)):
                print(f"{dataset.name:24}{share:>7}%{words:9.3f}{fused:9.3f}", flush=True)


def measure(dataset: Dataset) -> Iterator[tuple[int, float, float]]:
    from bench.corpora import model_for, preset_for, shelve, tenant
    from bench.peers import Tenant
    from bench.rankers import ways

    keys = shelve(dataset, lambda _line: None)
    model = model_for(dataset)
    for share in SHARES:
        with only_embedded(model, share):
            means = []
            for name in WAYS:
                rows = []
                for question in dataset.questions:
                    scope = tenant(dataset, question.scope)
                    where = Tenant(model.objects.filter(tenant=scope), [scope], preset_for(dataset))
                    ranked = [keys[id_] for id_ in ways(where)[name](question)]
                    rows.append(measures_of(ranked, question.relevant))
                means.append(mean_measures(rows)["recall@10"])
        yield share, means[0], means[1]


@contextmanager
def only_embedded(model: Any, share: int) -> Iterator[None]:
    """Search as if `share` per cent of the passages had a vector; nothing stays changed."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(HIDE.format(table=model._meta.db_table), [share])
        yield
        transaction.set_rollback(True)


if __name__ == "__main__":
    main()
