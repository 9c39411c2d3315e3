"""Evaluation sets: folders of `<name>.corpus.jsonl[.gz]` and `<name>.queries.jsonl[.gz]`, one JSON
object a line.

A document is `{id, text, meta}`, a question `{id, text, relevant_ids, meta}`. `meta.scope` is a
tenant; `meta.title`, `meta.speaker` and `meta.date` become the context of a passage, `meta.lang`
its language, `meta.seq` its position in a dialogue.
"""

import argparse
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
        """The speaker and the date, or the title."""
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
    def is_dialogue(self) -> bool:
        """Whether the documents are turns of a conversation."""
        return any("speaker" in document.meta for document in self.documents)

    @property
    def scopes(self) -> list[str]:
        return sorted({document.scope for document in self.documents})


def language_of(text: str) -> str:
    """Guess by script, which is enough to choose a stemmer."""
    for language, (first, last) in (("ko", HANGUL), ("ru", CYRILLIC)):
        if sum(first <= letter <= last for letter in text) * 4 > len(text):
            return language
    return "en"


def load_datasets(folder: Path, only: set[str] | None = None) -> Iterator[Dataset]:
    """Yield the sets of `folder` in the order of their names, without questions that have no text
    or no answer."""
    for path in sorted(folder.glob("*.corpus.jsonl*")):
        name = path.name.split(".")[0]
        if only is None or name in only:
            documents = [
                Document(row["id"], row["text"], row.get("meta") or {}) for row in read_rows(path)
            ]
            asked = [
                question_from(row)
                for row in read_rows(path.with_name(path.name.replace(".corpus.", ".queries.")))
            ]
            yield Dataset(
                name, documents, [each for each in asked if each.relevant and each.text.strip()]
            )


def sample_questions(dataset: Dataset, most: int) -> Dataset:
    """Return the set with every n-th question, at most `most` of them (0: all)."""
    return replace(dataset, questions=evenly_spaced(dataset.questions, most))


def evenly_spaced(questions: list[Question], most: int) -> list[Question]:
    """Return every n-th question, at most `most` of them (0: all)."""
    return questions[:: -(-len(questions) // most) if most else 1]


def sets_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the arguments that `chosen_sets` reads."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", action="append", help="Only these sets.")
    parser.add_argument("--scope", action="append", help="Of sets with scopes, only these.")
    parser.add_argument("--sample", type=int, default=100, help="Questions of each set.")
    return parser


def chosen_sets(options: argparse.Namespace) -> Iterator[Dataset]:
    """Yield the sets of all folders, each with a sample of its questions."""
    only = set(options.only) if options.only else None
    for folder in options.folders:
        for dataset in load_datasets(folder, only):
            scopes = set(options.scope or ()).intersection(dataset.scopes)
            some = only_scopes(dataset, scopes) if scopes else dataset
            yield sample_questions(some, options.sample)


def only_scopes(dataset: Dataset, scopes: set[str]) -> Dataset:
    return Dataset(
        dataset.name,
        [each for each in dataset.documents if each.scope in scopes],
        [each for each in dataset.questions if each.scope in scopes],
    )


def with_adjacent_turns(dataset: Dataset, turns: int = 1) -> Dataset:
    """Return the set with adjacent turns of the same session as the surroundings of each turn."""
    ordered = sorted(
        dataset.documents, key=lambda document: (document.scope, document.meta.get("seq", 0))
    )
    documents = []
    for place, document in enumerate(ordered):
        around = ordered[max(0, place - turns) : place] + ordered[place + 1 : place + 1 + turns]
        same = [
            other.text for other in around if conversation_of(other) == conversation_of(document)
        ]
        meta = {**document.meta, "surroundings": " ".join(same)}
        documents.append(Document(document.id, document.text, meta))
    return Dataset(f"{dataset.name}+neighbours", documents, dataset.questions)


def conversation_of(document: Document) -> tuple[str, Any]:
    return document.scope, document.meta.get("session")


def question_from(row: dict[str, Any]) -> Question:
    return Question(
        row["id"],
        row["text"],
        frozenset(map(str, row.get("relevant_ids") or ())),
        row.get("meta") or {},
    )


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
