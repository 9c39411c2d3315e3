"""Names and their relations, read by the small model."""

from pathlib import Path
from typing import Any

import pytest

from retrieval.named_relations import (
    FoundName,
    MarkedSpan,
    ReadText,
    RelationClass,
    find_names,
    has_relation_model,
    prepare_relation_model,
    relations_between,
)
from retrieval.named_relations.marked_text import mark_names

TEXTS = [
    ("The tollkeeper Wilma Drost owns the Green Barge.", "Wilma Drost", "Green Barge"),
    ("Баржа «Зелёная» принадлежит Вильме Дрост.", "Вильме Дрост", "Зелёная"),
    ("녹색 바지선의 주인은 빌마 드로스트이다.", "빌마 드로스트", "녹색 바지선"),
]
"""A text, who owns something in it, and what."""


def window_of(text: str, first: str, second: str, *kinds: str) -> Any:
    spans = [
        MarkedSpan(text.index(name), text.index(name) + len(name), kind, name == first)
        for name, kind in zip((first, second), kinds, strict=True)
    ]
    window = ReadText(text).window(spans)
    assert window
    return window


def names_in(text: str) -> list[tuple[str, str]]:
    return [(text[each.start : each.end], each.kind) for each in find_names(text)]


@pytest.mark.parametrize(("text", "owner", "thing"), TEXTS)
def test_names_are_found_where_they_stand(text: str, owner: str, thing: str) -> None:
    found = names_in(text)
    assert any(owner in name and kind == "person" for name, kind in found), found
    assert any(thing in name for name, _kind in found), found


def test_narration_without_names_has_none() -> None:
    assert names_in("Nobody slept much that night, and in the morning it rained.") == []


@pytest.mark.parametrize(("text", "owner", "thing"), TEXTS)
def test_who_owns_what_is_told_in_either_order(text: str, owner: str, thing: str) -> None:
    is_first = text.index(owner) < text.index(thing)
    names = (owner, thing) if is_first else (thing, owner)
    kinds = ("person", "item") if is_first else ("item", "person")
    best, probability = relations_between(window_of(text, *names, *kinds).marked)[0]
    assert best == RelationClass("owns", is_first)
    assert 0.5 < probability <= 1


def test_what_a_pronoun_means_is_read_from_the_sentence_before() -> None:
    text = "Otto Brand keeps bees. His sister Klara sells the honey."
    best, _probability = relations_between(
        window_of(text, "Otto Brand", "Klara", "person", "person").marked
    )[0]
    assert best.relation == "siblings"


def test_a_window_has_the_sentences_of_both_names_and_the_one_before() -> None:
    text = "It rained. Otto slept. Klara left. The dog barked."
    window = window_of(text, "Otto", "Klara", "person", "person")
    assert window.marked.text == "It rained. @ person Otto @  slept. # person Klara #  left."
    assert text[window.start : window.end].strip() == "Otto slept. Klara left."
    assert [window.marked.text[place] for place in window.marked.firsts] == ["@"]


def test_names_that_are_far_apart_have_no_window() -> None:
    text = "Otto slept. The dog barked. Klara left."
    spans = [MarkedSpan(0, 4, "person", True), MarkedSpan(28, 33, "person", False)]
    assert ReadText(text).window(spans) is None
    assert ReadText(text).window(spans[:1]) is None


def test_signs_of_the_text_are_no_marks() -> None:
    text = "@ # Otto"
    assert mark_names(text, [MarkedSpan(4, 8, "person", True)]).text.count("@") == 2


@pytest.mark.parametrize(
    "text", ["", " ", "\ud800", "a" * 5000, "칼 " * 900, "🙂\n\n🙂", "A. " * 400]
)
def test_any_text_is_read(text: str) -> None:
    assert all(isinstance(each, FoundName) for each in find_names(text))
    windows = list(ReadText(text).parts())
    assert "".join(text[start:end] for start, end in windows) == text


def test_without_the_weights_there_is_no_model(settings: Any, tmp_path: Path) -> None:
    assert has_relation_model()
    settings.MODEL_PACKAGES = str(tmp_path)
    assert not has_relation_model()
    prepare_relation_model()  # nothing to do


@pytest.mark.parametrize(
    "text",
    [
        "- Ada keeps the gate.\n- Bo sleeps.",
        "1. Ada keeps the gate.\n2. Bo sleeps.",
        "| Ada | gate |\n| Bo | bed |",
        "## Ada\n\nBo sleeps.",
        "- Ada keeps the gate.\n\nBo sleeps.",
    ],
)
def test_items_rows_and_headings_are_read_apart(text: str) -> None:
    spans = [
        MarkedSpan(text.index(name), text.index(name) + 2, "person", name == "Ada")
        for name in ("Ada", "Bo")
    ]
    assert ReadText(text).window(spans) is None


@pytest.mark.parametrize(
    "text", ["- Ada keeps the gate.\n  Bo sleeps.", "It rained.\nAda keeps the gate.\n\nBo sleeps."]
)
def test_an_item_goes_on_in_its_next_line_and_prose_in_the_next_paragraph(text: str) -> None:
    window = window_of(text, "Ada", "Bo", "person", "person")
    assert not window.marked.text.startswith("-")
    assert window.marked.text.endswith("sleeps.")
