"""p50 of a search beside the stores of other projects: `python -m bench.peer_speed PASSAGES`.

All have the same generated passages, vectors and questions (bench/scaled_world.py). Each question
is asked of every store before the next one is asked, so that all have the same load beside them.
"""

import os
import sys
from collections import defaultdict

import numpy as np

from bench.peer_packages import OURS, export, read_rankings, running_stores
from bench.results import bench_folder, save_json, time_table
from bench.scale import QUESTIONS, ROUNDS, K, ask_all, database_name_of
from bench.scaled_database import fill_database, generated_world
from bench.scratch import connect

os.environ["EMBEDDER"] = "bench.scaled_world.ScaledEmbedder"


def main() -> None:
    passage_count, stores = int(sys.argv[1]), sys.argv[2:]
    connect(database_name_of(passage_count, 1))
    from bench.passage_counts import PART
    from bench.scaled_world import ScaledEmbedder

    fill_database(passage_count, 1)
    world = generated_world()
    questions = list(world.questions(passage_count, QUESTIONS))
    ScaledEmbedder.vectors = {each.text: each.vector for each in questions}
    parts = [world.part(number) for number in range(passage_count // PART)]
    folder = bench_folder() / "peers"
    export(
        folder,
        ids=[str(id_) for part in parts for id_ in part.ids],
        texts=[world.text(words) for part in parts for words in part.words],
        vectors=np.concatenate([part.vectors for part in parts]),
        questions=[(str(number), each.text) for number, each in enumerate(questions)],
        question_vectors=np.stack([each.vector for each in questions]),
    )
    ask_all(questions)  # warms up
    times: dict[str, list[float]] = defaultdict(list)
    with running_stores(folder, stores, depth=K) as ask_stores:
        for _round in range(ROUNDS):
            for place, question in enumerate(questions):
                times[OURS] += [ms for row in ask_all([question]).values() for ms in row]
                ask_stores(place)
    for line in read_rankings(folder):
        times[line["store"]].append(line["milliseconds"])
    print(f"\n{passage_count} passages, ms\n{time_table(times)}")
    save_json(bench_folder() / "peer_speed.json", {name: sorted(ms) for name, ms in times.items()})


if __name__ == "__main__":
    main()
