"""CPU of the local embedder beside the former default, in one process:
`python -m bench.embedding_cost FOLDER [--texts 24] [--rounds 3]`.

The folder holds the sets `srd_x2en` (English rules), `xquad_ru` and `belebele_ko`, whose passages
and questions are embedded. CPU is that of the whole process, all threads: other work on the
machine changes it little. Of each model the least of the rounds counts, because interruptions only
add to it.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.datasets import Question, load_datasets, question_from, read_rows

PASSAGES = {"en": "srd_x2en", "ru": "xquad_ru", "ko": "belebele_ko"}
MOST_CHARACTERS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=24, help="Of each kind and language.")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    from retrieval.embedders.local import LocalEmbedder
    from retrieval.embedders.minilm import MiniLMEmbedder

    models: dict[str, Any] = {"former": MiniLMEmbedder(), "present": LocalEmbedder()}
    for (kind, language), texts in texts_to_embed(options.folder, options.texts).items():
        spent = {
            name: least_cpu(model, kind, texts, rounds=options.rounds)
            for name, model in models.items()
        }
        each = ", ".join(f"{name} {1000 * value:.1f}" for name, value in spent.items())
        ratio = spent["present"] / spent["former"]
        words = sum(len(text.split()) for text in texts) / len(texts)
        print(
            f"{kind} {language} ({len(texts)} texts of {words:.0f} words): {each} cpu-ms a text,"
            f" ratio {ratio:.2f}",
            flush=True,
        )


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


def least_cpu(model: Any, kind: str, texts: list[str], *, rounds: int) -> float:
    """Return the CPU seconds a text of the quickest round, one text a call, as a query comes and
    as the models read the passages of a batch."""
    embed = model.embed_document if kind == "passage" else model.embed_query
    embed(texts[:1])  # The first call loads the model.
    spent = []
    for _round in range(rounds):
        begun = time.process_time()
        for text in texts:
            embed([text])
        spent.append((time.process_time() - begun) / len(texts))
    return min(spent)


if __name__ == "__main__":
    main()
