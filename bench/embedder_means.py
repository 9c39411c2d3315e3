"""Compute the means that the local embedder subtracts from the vectors of bge and e5:
`python -m bench.embedder_means`. They come from our own texts alone: the questions and memories of
`bench/questions` and `bench/data`, and the rules. No evaluation set is read.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from django.core.management import call_command

from bench.scratch import connect

FOLDER = Path(__file__).parent
QUESTIONS = (
    *("questions/srd_en.queries.jsonl", "questions/srd_ko.queries.jsonl"),
    *("questions/srd_ru.queries.jsonl", "questions/lore.queries.jsonl"),
    *("data/abstention_questions.jsonl", "data/abstention_a.jsonl", "data/abstention_b.jsonl"),
)
MEMORIES = (
    "data/abstention_memories.jsonl",
    "data/abstention_a_memories.jsonl",
    "data/abstention_b_memories.jsonl",
)
PREFIXES = ("query: ", "passage: ")
SAMPLE = 250
SEED = 37


def main() -> None:
    connect()
    from retrieval.embedders.e5 import load_e5
    from retrieval.embedders.local import BEGINNING, FULL, MEAN_LANGUAGES, MEANS, load_bge

    call_command("import_srd")
    e5, bge, texts = load_e5(), load_bge(), sample_texts()
    e5_means, bge_means = [], []
    for prefix in PREFIXES:
        for language in MEAN_LANGUAGES:
            windows = BEGINNING if (prefix, language) == ("passage: ", "en") else FULL
            samples = texts[prefix, language]
            rows = [e5.embed(chosen, windows, prefix=prefix).mean(axis=0) for chosen in samples]
            e5_means.append(np.mean(rows, axis=0))
        rows = [bge.embed(chosen, FULL).mean(axis=0) for chosen in texts[prefix, "en"]]
        bge_means.append(np.mean(rows, axis=0))
    by_language = np.array(e5_means, dtype=np.float16).reshape(2, len(MEAN_LANGUAGES), -1)
    np.savez(MEANS, e5=by_language, bge=np.array(bge_means, dtype=np.float16))


def sample_texts() -> dict[tuple[str, str], list[list[str]]]:
    """Return samples by prefix and language; every sample counts the same in the mean."""
    from knowledge.models import RulePassage

    texts = defaultdict(list)
    for prefix, files in zip(PREFIXES, (QUESTIONS, MEMORIES), strict=True):
        by_language: dict[str, list[str]] = defaultdict(list)
        for language, text in read_texts(files):
            by_language[language].append(text)
        for language, found in by_language.items():
            texts[prefix, language].append(sample(found))
    rules = RulePassage.objects.filter(language="en").order_by("pk")
    texts["passage: ", "en"].append(sample([row.indexed_text for row in rules]))
    return texts


def read_texts(files: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in files:
        for line in (FOLDER / name).read_text().splitlines():
            row = json.loads(line)
            yield row.get("language") or row["meta"]["language"], row["text"]


def sample(texts: list[str]) -> list[str]:
    distinct = sorted(set(texts))
    return random.Random(SEED).sample(distinct, min(SAMPLE, len(distinct)))


if __name__ == "__main__":
    main()
