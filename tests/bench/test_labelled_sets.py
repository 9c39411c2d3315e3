"""The labelled sets keep what their README promises."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.abstention import SETS
from bench.agent_memory import AUTHORS
from memory_site.env import BASE_DIR

FOLDER = Path(BASE_DIR) / "bench" / "data"
LANGUAGES = {"en", "ru", "ko"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("statements", 150),
        ("pairs", 500),
        ("events", 200),
        ("intents", 160),
        ("abstention_questions", 180),
    ],
)
def test_a_set_is_large_enough_and_split_in_halves(name: str, least: int) -> None:
    everything = rows(name)
    halves = Counter(each["half"] for each in everything)
    assert len({each["id"] for each in everything}) == len(everything) >= least
    assert {each["language"] for each in everything} == LANGUAGES
    assert set(halves) == {"tuning", "reporting"}
    assert abs(halves["tuning"] - halves["reporting"]) <= len(everything) // 10


@pytest.mark.parametrize(
    ("name", "field", "labels"),
    [
        ("statements", "label", 3),
        ("events", "bucket", 5),
        ("intents", "intent", 6),
        ("pairs", "duplicate", 2),
    ],
)
def test_labels_are_balanced_in_each_language_and_half(name: str, field: str, labels: int) -> None:
    for language in LANGUAGES:
        for half in ("tuning", "reporting"):
            counts = Counter(
                each[field]
                for each in rows(name)
                if (each["language"], each["half"]) == (language, half)
            )
            assert len(counts) == labels
            assert max(counts.values()) - min(counts.values()) <= 1, (language, half, counts)


def test_the_unseen_questions_are_balanced_and_stand_in_no_other_set() -> None:
    unseen = rows("intents_unseen")
    counts = Counter((each["intent"], each["language"]) for each in unseen)
    assert len(counts) == 18
    assert set(counts.values()) == {6}
    assert {each["half"] for each in unseen} == {"unseen"}
    assert not {each["text"] for each in unseen} & {
        each["text"] for each in rows("intents") + rows("intents_fresh")
    }


@pytest.mark.parametrize("author", ["a", "b"])
def test_each_authors_intents_are_balanced_and_of_that_author_alone(author: str) -> None:
    own = rows(f"intents_{author}")
    counts = Counter((each["intent"], each["language"]) for each in own)
    assert len(counts) == 18
    assert set(counts.values()) <= {14, 15}
    other = (
        rows("intents_b" if author == "a" else "intents_a")
        + rows("intents")
        + rows("intents_unseen")
    )
    assert not {each["text"] for each in own} & {each["text"] for each in other}


def test_nothing_is_fitted_to_the_set_for_reporting_alone() -> None:
    """It is labelled as unseen, balanced, and in no list of what is fitted to. Four short questions
    another author happened to write as well."""
    intents, questions = rows("intents_c"), rows("abstention_c")
    assert {each["half"] for each in intents + questions} == {"unseen"}
    assert set(Counter((each["intent"], each["language"]) for each in intents).values()) == {10}
    assert set(Counter((each["answerable"], each["language"]) for each in questions).values()) == {
        40
    }
    shipped = Path(BASE_DIR) / "memories" / "buckets" / "intent_examples.jsonl"
    taught = {json.loads(line)["text"] for line in shipped.read_text("utf-8").splitlines()}
    by_chance = {"how does Dana take her coffee", "go on", "дальше", "계속해"}
    assert taught & {each["text"] for each in intents} == by_chance
    fitted = {file for author in AUTHORS.values() for file in author}
    fitted |= {f"abstention_{file}" for pairs in SETS.values() for pair in pairs for file in pair}
    assert fitted
    assert not {"intents_c", "abstention_c", "abstention_c_memories"} & fitted


def test_no_sentence_of_the_pairs_is_in_both_halves() -> None:
    halves: dict[str, set[str]] = {}
    for pair in rows("pairs"):
        for text in (pair["a"], pair["b"]):
            halves.setdefault(text, set()).add(pair["half"])
    assert [text for text, found in halves.items() if len(found) > 1] == []


def test_pairs_differ_and_no_pair_is_labelled_twice() -> None:
    pairs = rows("pairs")
    assert all(pair["a"] != pair["b"] for pair in pairs)
    assert len({frozenset((pair["a"], pair["b"])) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("asked", "remembered", "least"),
    [
        ("questions", "memories", 120),
        ("fresh", "fresh_memories", 60),
        ("a", "a_memories", 90),
        ("b", "b_memories", 90),
        ("c", "c_memories", 90),
    ],
)
def test_answerable_questions_point_to_memories_and_the_others_to_none(
    asked: str, remembered: str, least: int
) -> None:
    memories = {memory["id"] for memory in rows(f"abstention_{remembered}")}
    assert len(memories) >= least
    for question in rows(f"abstention_{asked}"):
        assert set(question["relevant_ids"]) <= memories
        assert bool(question["relevant_ids"]) == question["answerable"]
