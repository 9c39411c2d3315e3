"""Evaluation sets: folders of `<name>.corpus.jsonl[.gz]` and `<name>.queries.jsonl[.gz]`, one JSON object a line.

A document is `{id, text, meta}`, a question `{id, text, relevant_ids, meta}`. `meta.scope` is a tenant; `meta.title`,
`meta.speaker` and `meta.date` become the context of a passage, `meta.lang` its language, `meta.seq` its place in a
talk.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

CYRILLIC, HANGUL = ("\u0400", "\u04ff"), ("\uac00", "\ud7a3")


@dataclass(frozen=True)
class Document:
    id: str
    text: str
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        return str(self.meta.get("scope", ""))

    @property
    def context(self) -> str:
        """What a reader would need to understand the text: who spoke and when, or the title."""
        if speaker := self.meta.get("speaker"):
            return f"{speaker} ({self.meta['date']})" if self.meta.get("date") else str(speaker)
        return str(self.meta.get("context") or self.meta.get("title") or "")

    @property
    def surroundings(self) -> str:
        return str(self.meta.get("surroundings") or "")

    @property
    def language(self) -> str:
        return str(self.meta.get("lang") or language_of(self.text))


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    relevant: frozenset[str]
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        return str(self.meta.get("scope", ""))

    @property
    def language(self) -> str:
        return str(self.meta.get("lang") or language_of(self.text))

    @property
    def half(self) -> str:
        """tuning or report, where a set says so."""
        return str(self.meta.get("half", ""))


@dataclass(frozen=True)
class Dataset:
    name: str
    documents: list[Document]
    questions: list[Question]

    @property
    def talk(self) -> bool:
        """Whether the documents are turns of a conversation."""
        return any("speaker" in document.meta for document in self.documents)

    @property
    def scopes(self) -> list[str]:
        return sorted({document.scope for document in self.documents})


def language_of(text: str) -> str:
    """Guess by script: enough to choose how words are cut."""
    for language, (first, last) in (("ko", HANGUL), ("ru", CYRILLIC)):
        if sum(first <= letter <= last for letter in text) * 4 > len(text):
            return language
    return "en"


def datasets_in(folder: Path, only: set[str] | None = None) -> Iterator[Dataset]:
    """Yield the sets of `folder` by name. Questions without words or without an answer are left out."""
    for path in sorted(folder.glob("*.corpus.jsonl*")):
        name = path.name.split(".")[0]
        if only is None or name in only:
            documents = [
                Document(row["id"], row["text"], row.get("meta") or {}) for row in _rows(path)
            ]
            asked = [
                _question(row)
                for row in _rows(path.with_name(path.name.replace(".corpus.", ".queries.")))
            ]
            yield Dataset(
                name, documents, [each for each in asked if each.relevant and each.text.strip()]
            )


def sampled(dataset: Dataset, most: int) -> Dataset:
    """The same documents with every n-th question, at most `most` of them (0: all)."""
    step = -(-len(dataset.questions) // most) if most else 1
    return replace(dataset, questions=dataset.questions[::step])


def with_neighbours(dataset: Dataset, turns: int = 1) -> Dataset:
    """The same set, where each turn is also found by the turns around it (same scope and session)."""
    ordered = sorted(
        dataset.documents, key=lambda document: (document.scope, document.meta.get("seq", 0))
    )
    documents = []
    for place, document in enumerate(ordered):
        around = ordered[max(0, place - turns) : place] + ordered[place + 1 : place + 1 + turns]
        same = [other.text for other in around if _talk(other) == _talk(document)]
        meta = {**document.meta, "surroundings": " ".join(same)}
        documents.append(Document(document.id, document.text, meta))
    return Dataset(f"{dataset.name}+neighbours", documents, dataset.questions)


def _talk(document: Document) -> tuple[str, Any]:
    return document.scope, document.meta.get("session")


def _question(row: dict[str, Any]) -> Question:
    return Question(
        row["id"],
        row["text"],
        frozenset(map(str, row.get("relevant_ids") or ())),
        row.get("meta") or {},
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
