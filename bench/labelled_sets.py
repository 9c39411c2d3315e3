"""Loads our own labelled sets (bench/data)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.datasets import Dataset, Document, Question

DATA = Path(__file__).parent / "data"


def load_rows(path: Path, *, half: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of a file, all or of one half: "tuning" or "reporting"."""
    rows = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    return [row for row in rows if half is None or row["half"] == half]


def own_memory_sets() -> Iterator[Dataset]:
    """Yield memories that are no conversation, with their questions, as sets for the search. They
    are searched as agent memory is, which a set with speakers is."""
    yield memory_set(
        "own_words",
        load_rows(DATA / "own_words_memories.jsonl"),
        load_rows(DATA / "own_words_questions.jsonl"),
    )
    memories = [
        {**row, "language": language, "scope": language}
        for language in ("ru", "ko")
        for row in load_rows(DATA / f"short_memories_{language}.jsonl")
    ]
    yield memory_set("short_memories", memories, load_rows(DATA / "short_questions.jsonl"))


def memory_set(
    name: str, memories: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> Dataset:
    scopes = {row["id"]: row["scope"] for row in memories}
    documents = [
        Document(
            row["id"],
            row["text"],
            {"scope": row["scope"], "lang": row["language"], "speaker": ""},
        )
        for row in memories
    ]
    asked = [
        Question(
            row["id"],
            row["text"],
            frozenset(row["relevant_ids"]),
            {"scope": scopes[row["relevant_ids"][0]], "lang": row["language"]},
        )
        for row in questions
    ]
    return Dataset(name, documents, asked)
