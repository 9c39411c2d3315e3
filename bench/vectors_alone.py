"""Vectors alone, compared exactly and without a database, and the CPU time of making them:
`python -m bench.vectors_alone FOLDER srd_x2en srd_ko2en srd_ru2en`, a corpus and the questions that
are asked of it; `--sample`, `--embedder minilm`.

Texts are embedded one by one, as a search embeds its question. The CPU time is that of this
process, so other work on the machine does not change it much.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import Document, Question, evenly_spaced, question_from, read_rows
from bench.metrics import mean_measures, measures_of

Vectors = NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("corpus", help="Name of the corpus.")
    parser.add_argument("queries", nargs="*", help="Names of the questions. Default: its own.")
    parser.add_argument("--sample", type=int, default=0, help="Only so many questions of each.")
    parser.add_argument("--embedder", default="local", help="Value of EMBEDDER. Default: local.")
    options = parser.parse_args()
    os.environ["EMBEDDER"] = options.embedder
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    documents = read_documents(options.folder, options.corpus)
    keys, passages = [each.id for each in documents], [indexed_text(each) for each in documents]
    vectors = embed_each(passages, op="document", name=options.corpus)
    for name in options.queries or [options.corpus]:
        questions = evenly_spaced(read_questions(options.folder, name), options.sample)
        asked = embed_each([each.text for each in questions], op="query", name=name)
        order = np.argsort(-(asked @ vectors.T), axis=1)[:, :10]
        means = mean_measures(
            measures_of([keys[place] for place in best], question.relevant)
            for best, question in zip(order, questions, strict=True)
        )
        print(f"{name}: nDCG@10 {means['nDCG@10']:.3f}, recall@10 {means['recall@10']:.3f}")


def read_documents(folder: Path, name: str) -> list[Document]:
    [path] = folder.glob(f"{name}.corpus.jsonl*")
    return [Document(row["id"], row["text"], row.get("meta") or {}) for row in read_rows(path)]


def read_questions(folder: Path, name: str) -> list[Question]:
    [path] = folder.glob(f"{name}.queries.jsonl*")
    asked = map(question_from, read_rows(path))
    return [each for each in asked if each.relevant and each.text.strip()]


def indexed_text(document: Document) -> str:
    """The text of a passage as it is embedded: its context is the first line."""
    return f"{document.context}\n{document.text}" if document.context else document.text


def embed_each(texts: Sequence[str], *, op: str, name: str) -> Vectors:
    """Return one vector of length 1 for each text; print the mean CPU time of a text."""
    from retrieval.embedders import get_embedder

    embedder: Any = get_embedder("srd").inner
    embedder._embed(texts[:1], op=op)
    started = process_time()
    rows = [embedder._embed([text], op=op)[0] for text in texts]
    spent = 1000 * (process_time() - started) / len(texts)
    length = sum(map(len, texts)) // len(texts)
    print(f"{name}, {len(texts)} × {op} of {length} characters: {spent:.1f} ms of CPU", flush=True)
    return np.array(rows, dtype=np.float32)


if __name__ == "__main__":
    main()
