"""Labelled pairs of texts for the model of `retrieval.statement_pairs`: what it is trained on
(`python -m bench.pair_training`), and what it is not, so that others can be fitted beside it.

`pair_groups_*.txt` are groups of lines, each with a mark: `1` a statement, `=` the same, `>` what
follows from it, `!` what it excludes, `~` nearly its words and neither, `^` a later text that ends
it, `+` something else about the same, `q` a question that it answers, `x` one that it does not.

`pair_passages_*.txt` are passages: `P` and a language, the passage on the next line, `T` what it
says, `F` what it excludes, `U` what it leaves open.

`pair_statements.jsonl` are statements about the worlds of `bench.fact_check`, each with the fact or
the sentence by which it was decided, or with those that do not decide it.

The others are described where they are read: `bench.updates` (`statement_groups*.txt`),
`bench.dedup` (`duplicate_groups*.txt`), `bench.question_map` (`question_pairs_*.jsonl`),
`bench.abstention` and `bench.proposals`. `UNSEEN_*` names what the model was not trained on.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from bench.labelled_sets import DATA, load_rows

UNSEEN_QUESTIONS = {
    "first": [("questions", "memories"), ("fresh", "fresh_memories")],
    "e": [("e", "e_memories")],
}
"""Of `bench.abstention.SETS`, by author."""
UNSEEN_DUPLICATES = ("e",)
"""Of `bench.dedup.GROUPS`."""
UNSEEN_STATEMENTS = ("first",)
"""Of `bench.updates.GROUPS`."""
UNSEEN_HALF = "reporting"
"""Of the labelled pairs of `bench.dedup`."""
QUESTION_AUTHORS = ("a", "b", "d")
PROPOSAL_AUTHORS = ("fourth", "fifth", "sixth")
MOST_OF_A_KIND = 1500
"""Pairs of one file with the same task and label: no file outweighs the others."""
SYMMETRIC = (
    *("brother", "sister", "sibling", "cousin", "friend", "all", "enem", "rival"),
    *("marr", "spouse", "near", "twin", "partner"),
)
"""Beginnings of words of relations that hold in both directions, or may."""
SHARED_PLACES = ("member", "lives", "works", "serves", "located")
"""Words of relations that several names may have to one."""


class Task(Enum):
    RELATION = 0
    SAME = 1
    ANSWERS = 2
    OUTDATED = 3


FOLLOWS, NEITHER, EXCLUDED, NOT_FOLLOWS = range(4)
"""Labels of `Task.RELATION`; of the others, 0 and 1."""


@dataclass(frozen=True)
class LabelledPair:
    one: str
    other: str
    task: Task
    label: int


Pairs = Iterator[LabelledPair]


def training_sets() -> dict[str, list[LabelledPair]]:
    """Return the pairs by file, at most `MOST_OF_A_KIND` of each task and label, in any order."""
    chance = random.Random(1)
    readers: list[tuple[Iterable[Path], Callable[[Path], Pairs]]] = [
        (sorted(DATA.glob("pair_groups_*.txt")), pairs_of_groups),
        (sorted(DATA.glob("pair_passages_*.txt")), pairs_of_passages),
        ([DATA / "pair_statements.jsonl"], pairs_of_decided),
        ([DATA / "statement_groups_f.txt"], pairs_of_statements),
        ([DATA / "duplicate_groups.txt", DATA / "duplicate_groups_d.txt"], pairs_of_duplicates),
        ([DATA / "pairs.jsonl"], pairs_of_tuning_half),
        (sorted(DATA.glob("question_pairs_*.jsonl")), pairs_of_questions),
        ([DATA / f"abstention_{author}.jsonl" for author in QUESTION_AUTHORS], pairs_of_abstention),
        (
            [DATA / f"proposals_{each}_author.jsonl" for each in PROPOSAL_AUTHORS],
            pairs_of_proposals,
        ),
    ]
    return {
        file.name: limited([*dict.fromkeys(read(file))], chance)
        for files, read in readers
        for file in files
    }


def limited(pairs: list[LabelledPair], chance: random.Random) -> list[LabelledPair]:
    chance.shuffle(pairs)
    kept: dict[tuple[Task, int], list[LabelledPair]] = {}
    for pair in pairs:
        kept.setdefault((pair.task, pair.label), []).append(pair)
    return [pair for of_a_kind in kept.values() for pair in of_a_kind[:MOST_OF_A_KIND]]


def marked_groups(file: Path, first: str) -> Iterator[dict[str, list[str]]]:
    """Yield the texts of each group by their mark. A group begins with the mark `first`."""
    group: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.strip().partition(" ")
        if not text or mark == "#":
            continue
        if mark == first and group:
            yield group
            group = {}
        group.setdefault(mark, []).append(text.strip())
    if group:
        yield group


def pairs_of_groups(file: Path) -> Pairs:
    for group in marked_groups(file, "1"):
        same = [*group["1"], *group.get("=", [])]
        yield from pairs_of_same(same)
        for one in same:
            for mark, both, label in ((">", False, FOLLOWS), ("!", True, EXCLUDED)):
                for other in group.get(mark, []):
                    yield LabelledPair(one, other, Task.RELATION, label)
                    back = EXCLUDED if both else NOT_FOLLOWS
                    yield LabelledPair(other, one, Task.RELATION, back)
                    yield from both_ways(one, other, Task.SAME, 0)
            for other in group.get("~", []):
                yield LabelledPair(one, other, Task.RELATION, NEITHER)
                yield from both_ways(one, other, Task.SAME, 0)
            for mark, outdated, label in (("^", 1, NOT_FOLLOWS), ("+", 0, NEITHER)):
                for other in group.get(mark, []):
                    yield LabelledPair(one, other, Task.OUTDATED, outdated)
                    yield LabelledPair(one, other, Task.SAME, 0)
                    yield LabelledPair(one, other, Task.RELATION, label)
            for other in [*group.get(">", []), *group.get("~", [])]:
                yield LabelledPair(one, other, Task.OUTDATED, 0)
            for other in group.get("+", []):
                yield LabelledPair(other, one, Task.OUTDATED, 0)
            yield from pairs_of_asked(group.get("q", []), [one], answers=True)
            yield from pairs_of_asked(group.get("x", []), [one], answers=False)
        yield from pairs_of_asked(group.get("q", []), group.get("+", []), answers=False)


def pairs_of_statements(file: Path) -> Pairs:
    for group in marked_groups(file, "?"):
        same = [*group["1"], *group.get("=", [])]
        others = [text for mark in "+-*/" for text in group.get(mark, [])]
        yield from pairs_of_asked(group["?"], [*same, *group.get(">", [])], answers=True)
        yield from pairs_of_asked(group["?"], others, answers=False)
        yield from pairs_of_same(same)
        for one in same:
            for other in group.get("~", []):
                yield from both_ways(one, other, Task.SAME, 0)
                yield LabelledPair(one, other, Task.RELATION, NOT_FOLLOWS)
            for other in group.get(">", []):
                yield LabelledPair(one, other, Task.OUTDATED, 1)
                yield LabelledPair(one, other, Task.SAME, 0)
                yield LabelledPair(one, other, Task.RELATION, NOT_FOLLOWS)
            for other in others:
                yield LabelledPair(one, other, Task.OUTDATED, 0)
                yield LabelledPair(one, other, Task.SAME, 0)
                yield LabelledPair(one, other, Task.RELATION, NEITHER)
        for marks, label in (("-/", 1), (">*", 0)):
            for one in group.get(marks[0], []):
                for other in group.get(marks[1], []):
                    yield LabelledPair(one, other, Task.OUTDATED, label)


def pairs_of_duplicates(file: Path) -> Pairs:
    for group in marked_groups(file, "1"):
        same = [*group["1"], *group.get("=", [])]
        for one, other in permutations(same, 2):
            yield LabelledPair(one, other, Task.SAME, 1)
            yield LabelledPair(one, other, Task.RELATION, FOLLOWS)
        for one in same:
            for other in group.get("~", []):
                yield from both_ways(one, other, Task.SAME, 0)


def pairs_of_tuning_half(file: Path) -> Pairs:
    for row in load_rows(file, half="tuning"):
        yield from both_ways(row["a"], row["b"], Task.SAME, int(row["duplicate"]))


def pairs_of_same(texts: Sequence[str]) -> Pairs:
    # A text says the same as itself: many others in nearly the same words do not.
    for one, other in [(texts[0], texts[0]), *permutations(texts, 2)]:
        yield LabelledPair(one, other, Task.SAME, 1)
        yield LabelledPair(one, other, Task.RELATION, FOLLOWS)
        yield LabelledPair(one, other, Task.OUTDATED, 0)


def pairs_of_asked(questions: Iterable[str], texts: Iterable[str], *, answers: bool) -> Pairs:
    texts = [*texts]
    for question in questions:
        for text in texts:
            yield LabelledPair(question, text, Task.ANSWERS, int(answers))


def both_ways(one: str, other: str, task: Task, label: int) -> Pairs:
    yield LabelledPair(one, other, task, label)
    yield LabelledPair(other, one, task, label)


def pairs_of_passages(file: Path) -> Pairs:
    """The line after `P` and its language is the passage."""
    labels = {"T": FOLLOWS, "F": EXCLUDED, "U": NEITHER}
    passage, is_next = "", False
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.strip().partition(" ")
        if is_next:
            passage, is_next = line.strip(), False
        elif mark == "P":
            is_next = True
        elif mark in labels and text:
            yield LabelledPair(passage, text.strip(), Task.RELATION, labels[mark])


def pairs_of_decided(file: Path) -> Pairs:
    labels = {"follows": FOLLOWS, "excluded": EXCLUDED, "neither": NEITHER}
    for row in load_rows(file):
        yield LabelledPair(row["one"], row["other"], Task.RELATION, labels[row["label"]])


def pairs_of_questions(file: Path) -> Pairs:
    """Each question with its memory, with two of its scope that share words with that memory, and
    with another."""
    chance = random.Random(5)
    by_scope: dict[str, list[dict[str, Any]]] = {}
    for row in load_rows(file):
        by_scope.setdefault(row["scope"], []).append(row)
    for rows in by_scope.values():
        for row in rows:
            yield LabelledPair(row["question"], row["memory"], Task.ANSWERS, 1)
            others = [each["memory"] for each in rows if each["memory"] != row["memory"]]
            others.sort(key=partial(shared_words, row["memory"]), reverse=True)
            chosen = others[:2] + chance.sample(others, min(1, len(others)))
            yield from pairs_of_asked([row["question"]], chosen, answers=False)


def shared_words(one: str, other: str) -> int:
    return len(set(one.lower().split()) & set(other.lower().split()))


def pairs_of_abstention(file: Path) -> Pairs:
    """Each question with the memories that answer it, with the three others that share the most
    letters with it, and with another."""
    chance = random.Random(6)
    memories = load_rows(file.with_name(f"{file.stem}_memories.jsonl"))
    for row in load_rows(file):
        own = [each for each in memories if each["language"] == row["language"]]
        answers = [each["text"] for each in own if each["id"] in row["relevant_ids"]]
        others = [each["text"] for each in own if each["id"] not in row["relevant_ids"]]
        question = row["text"]
        others.sort(key=partial(shared_trigrams, question), reverse=True)
        yield from pairs_of_asked([question], answers, answers=True)
        chosen = others[:3] + chance.sample(others[3:], min(1, len(others) - 3))
        yield from pairs_of_asked([question], chosen, answers=False)


def shared_trigrams(one: str, other: str) -> int:
    return len(trigrams(one) & trigrams(other))


def trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def pairs_of_proposals(file: Path) -> Pairs:
    """Each passage with its relations, turned round, and between other names."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        facts = [
            (each["src"], each.get("words") or each.get("label"), each["dst"])
            for each in row["expected"]
            if each["kind"] == "fact"
        ]
        names = {each["name"] for each in [*row["known"], *row["expected"]] if "name" in each}
        told = {(source, target) for source, _words, target in facts}
        for source, words, target in facts:
            if words:
                yield from pairs_of_fact(row["text"], (source, words, target), names, told)


def pairs_of_fact(
    passage: str, fact: tuple[str, str, str], names: set[str], told: set[tuple[str, str]]
) -> Pairs:
    source, words, target = fact
    yield LabelledPair(passage, f"{source} {words} {target}", Task.RELATION, FOLLOWS)
    wrong = [(source, name) for name in sorted(names - {source, target})]
    if not any(word in words for word in SHARED_PLACES):
        wrong += [(name, target) for name in sorted(names - {source, target})]
    if not any(word in words for word in SYMMETRIC):
        wrong.append((target, source))
    for one, other in wrong:
        if (one, other) not in told:
            yield LabelledPair(passage, f"{one} {words} {other}", Task.RELATION, NOT_FOLLOWS)
