"""The question files keep what their README promises."""

import json
import os
import re
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from bench.own_questions import FILES
from knowledge.srd.render import render_rules
from knowledge.srd.source import EDITIONS, fetch
from memory_site.demo.world_files import read_world
from memory_site.env import BASE_DIR

FOLDER = Path(BASE_DIR) / "bench" / "questions"
RULE_ID = re.compile(r"srd-5\.1(/[a-z0-9-]+){2,4}")


def questions(pattern: str = "*") -> list[dict[str, Any]]:
    """The questions whose answers are given by id."""
    return [
        json.loads(line)
        for name in FILES
        if fnmatch(name, pattern)
        for line in (FOLDER / f"{name}.queries.jsonl").read_text("utf-8").splitlines()
    ]


def word_runs(text: str, length: int = 4) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


def test_there_are_enough_in_each_language_and_domain() -> None:
    counts = Counter((each["meta"]["domain"], each["meta"]["language"]) for each in questions())
    assert counts["srd", "en"] >= 60
    assert counts["srd", "ru"] >= 25
    assert counts["srd", "ko"] >= 25
    assert sum(count for (domain, _language), count in counts.items() if domain == "lore") >= 30


def test_ids_and_texts_are_unique_and_every_question_has_an_answer() -> None:
    everything = questions()
    assert (
        len({each["id"] for each in everything})
        == len({each["text"] for each in everything})
        == len(everything)
    )
    assert all(each["relevant_ids"] for each in everything)


@pytest.mark.parametrize("name", ["srd_en", "srd_ru", "srd_ko", "lore"])
def test_each_file_has_enough_for_tuning_and_for_reporting(name: str) -> None:
    halves = Counter(each["meta"]["half"] for each in questions(name))
    assert set(halves) == {"tuning", "reporting"}
    assert min(halves.values()) >= 20


def test_questions_about_rules_name_rules() -> None:
    for each in questions("srd_*"):
        assert all(RULE_ID.fullmatch(rule) for rule in each["relevant_ids"]), each


@pytest.fixture(scope="module")
def rule_ids() -> set[str]:
    """The ids that the importer gives to the rules of the real document; nothing is downloaded on a
    developer's run.
    """
    if not os.environ.get("CI") and not list((Path(settings.VAR_DIR) / "downloads").glob("*.whl")):
        pytest.skip("the SRD is not here: run `manage.py import_srd` once")
    edition = EDITIONS["5.1"]
    return {f"{edition.slug}/{rule.path}" for rule in render_rules(fetch(edition).rows)}


def test_questions_about_rules_name_rules_that_exist(rule_ids: set[str]) -> None:
    asked = {rule for each in questions("srd_*") for rule in each["relevant_ids"]}
    assert asked - rule_ids == set()


def test_questions_about_the_world_name_lore_and_do_not_quote_it() -> None:
    world = read_world()
    for each in questions("lore"):
        for slug in each["relevant_ids"]:
            assert not word_runs(each["text"]) & word_runs(world.lore[slug].body), each
