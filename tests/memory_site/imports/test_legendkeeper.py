"""LegendKeeper: packed and plain exports, pages, properties, hidden things, maps with pins."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from knowledge.graph.models import GraphEdge
from knowledge.importers.files import Bundle
from knowledge.importers.markup import PictureCollector
from knowledge.importers.prosemirror import ProseMirrorWriter
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from tests.memory_site.imports.uploads import (
    PIXEL,
    drafts_by_title,
    formats_of,
    import_files,
    read_files,
)
from worlds.audiences import PUBLIC
from worlds.models import World


def text(words: str, *marks: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **({"marks": [*marks]} if marks else {})}


def paragraph(*nodes: Any) -> dict[str, Any]:
    return {"type": "paragraph", "content": [*nodes]}


def page(*nodes: Any, name: str = "Main", **more: Any) -> dict[str, Any]:
    content = {"type": "doc", "content": [*nodes]}
    return {"id": name, "name": name, "pos": name, "type": "page", "content": content, **more}


SECRET = {
    "type": "bodiedExtension",
    "attrs": {"extensionKey": "block-secret"},
    "content": [paragraph(text("Mined below."))],
}
QUAY = {
    "id": "quay",
    "parentId": "north",
    "name": "The Quay",
    "aliases": ["Low Quay"],
    "tags": ["Location", "river"],
    "isHidden": False,
    "iconGlyph": "anchor",
    "banner": {"enabled": True, "url": "https://assets.example.org/quay.png?w=1"},
    "properties": [
        {"id": "p1", "title": "Population", "type": "TEXT_FIELD", "data": {"value": "400"}},
        {
            "id": "p2",
            "title": "Ruler",
            "type": "RESOURCE_LINK",
            "data": {"items": [{"resourceId": "mira"}, {"resourceId": "gone"}]},
        },
        {
            "id": "p3",
            "title": "Truth",
            "type": "TEXT_FIELD",
            "isHidden": True,
            "data": {"fragment": {"type": "doc", "content": [paragraph(text("It sinks."))]}},
        },
    ],
    "documents": [
        page(
            {"type": "heading", "attrs": {"level": 2}, "content": [text("Tides")]},
            paragraph(
                text("Very "),
                text("wet ", {"type": "strong"}),
                {"type": "mention", "attrs": {"id": "mira", "text": "@the clerk"}},
                {"type": "hardBreak"},
                {"type": "mention", "attrs": {"id": "gone", "text": "Nobody"}},
            ),
            SECRET,
            {
                "type": "bulletList",
                "content": [
                    {"type": "listItem", "content": [paragraph(text("eel"))]},
                    {"type": "listItem", "content": [paragraph(text("rope"))]},
                ],
            },
            {"type": "expand", "attrs": {"title": "More"}, "content": [paragraph(text("Fog."))]},
            {
                "type": "mediaSingle",
                "content": [
                    {"type": "media", "attrs": {"url": "https://assets.example.org/quay.png"}}
                ],
            },
        ),
        page(paragraph(text("The dead walk.")), name="Plans", isHidden=True),
        {
            "id": "m",
            "name": "Map",
            "pos": "z",
            "type": "map",
            "map": {
                "pins": [
                    {"name": "Office", "resourceId": "mira"},
                    {"name": "Hidden cove", "isHidden": True},
                    {"name": "Well"},
                ]
            },
        },
    ],
}
MIRA = {
    "id": "mira",
    "parentId": "root",
    "name": "Mira Voss",
    "tags": [],
    "mood": "grim",
    "properties": [
        {
            "title": "Lives in",
            "type": "RESOURCE_LINK",
            "data": {"items": [{"resourceId": "quay"}]},
        },
        {"title": "Portrait", "type": "IMAGE", "data": {"url": "https://x.org/mira.png"}},
    ],
    "documents": [
        page(paragraph(text("A clerk.")), name="Overview", pos="A", isFirst=True),
        page(paragraph(text("Born here.")), name="Backstory", pos="B"),
    ],
}
CULT = {
    "id": "cult",
    "parentId": "root",
    "name": "The Cult",
    "isHidden": True,
    "documents": [page(paragraph(text("Drowned ones.")))],
}
PRIEST = {
    "id": "p",
    "parentId": "cult",
    "name": "Priest",
    "documents": [page(paragraph(text("Salt.")))],
}
EXPORT: dict[str, Any] = {
    "version": 1,
    "exportId": "e",
    "resources": [
        {"id": "root", "name": "Carrow", "documents": [page()]},
        {"id": "north", "parentId": "root", "name": "North", "documents": [page()]},
        QUAY,
        MIRA,
        CULT,
        PRIEST,
    ],
    "calendars": [],
    "resourceCount": 6,
}
FILES: dict[str, Any] = {
    "carrow.lk": gzip.compress(json.dumps(EXPORT).encode()),
    "img/quay.png": PIXEL,
    "img/mira.png": PIXEL,
}


def test_a_packed_export_keeps_tree_texts_and_properties(tmp_path: Path) -> None:
    reading = read_files(tmp_path, FILES)
    assert formats_of(reading)["carrow.lk"] == "legendkeeper"
    assert reading.problems == []
    drafts = drafts_by_title(reading)
    assert set(drafts) == {"North", "The Quay", "Mira Voss", "The Cult", "Priest"}
    quay = drafts["The Quay"]
    assert (quay.folder, quay.entry.kind) == ("North", "place")
    assert (quay.entry.aliases, quay.entry.tags) == (["Low Quay"], ["Location", "river"])
    assert quay.entry.body == (
        "## Tides\n\nVery **wet** [[Mira Voss|the clerk]]\nNobody\n\n"
        ":::secret\nMined below.\n:::\n\n- eel\n- rope\n\n**More**\n\nFog.\n\n![](import:0)\n\n"
        ":::secret\n## Plans\n\nThe dead walk.\n:::\n\n"
        "## Map\n\n- [[Mira Voss|Office]]\n:::secret\n- Hidden cove\n:::\n- Well\n\n"
        ":::secret\n**Truth.** It sinks.\n:::"
    )
    assert quay.entry.extra == {"Population": "400"}
    assert [(each.target, each.words) for each in quay.relations] == [
        ("Mira Voss", "ruler"),
        ("North", "part of"),
    ]
    mira = drafts["Mira Voss"]
    assert (mira.entry.kind, mira.template) == ("biography", "character")
    assert mira.entry.body == "A clerk.\n\n## Backstory\n\nBorn here."
    assert mira.entry.extra == {"mood": "grim"}
    assert [each.file for each in mira.pictures] == ["img/mira.png"]


def test_what_is_hidden_and_what_lies_below_it_stays_gm_only(world: World, tmp_path: Path) -> None:
    import_files(world, tmp_path, {"carrow.json": EXPORT})
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert "wet" in seen
    for secret in ("Mined", "dead walk", "Hidden cove", "sinks", "Drowned", "Salt"):
        assert secret not in seen
    assert Lore.objects.get(title="Priest").visibility == "gm"
    assert NPC.objects.get().name == "Mira Voss"
    edge = GraphEdge.objects.get(src__name="Mira Voss")
    assert (edge.dst.name, edge.relation_id) == ("The Quay", "LOCATED_IN")


def write(*nodes: Any) -> str:
    return ProseMirrorWriter({}, PictureCollector(Bundle())).write(
        {"type": "doc", "content": [*nodes]}
    )


def cells(*texts: Any) -> dict[str, Any]:
    content = [{"type": "tableCell", "content": [each]} for each in texts]
    return {"type": "tableRow", "content": content}


@pytest.mark.parametrize(
    ("node", "markdown"),
    [
        ({"type": "panel", "content": [paragraph(text("a")), paragraph(text("b"))]}, "> a\n>\n> b"),
        ({"type": "codeBlock", "content": [text("a ``` b")]}, "````\na ``` b\n````"),
        ({"type": "rule"}, "---"),
        (
            {
                "type": "table",
                "content": [cells(paragraph(text("A|B"))), cells(paragraph(text("1")))],
            },
            "| A\\|B |\n| --- |\n| 1 |",
        ),
        (
            {"type": "table", "content": [cells(paragraph(text("A"))), cells(SECRET)]},
            "A\n\n:::secret\nMined below.\n:::",
        ),
        (
            paragraph(text("x", {"type": "link", "attrs": {"href": "javascript:alert(1)"}})),
            "x",
        ),
        (
            paragraph(text("x", {"type": "link", "attrs": {"href": "https://a.org"}})),
            "[x](<https://a.org>)",
        ),
        ({"type": "unknownBlock", "content": [paragraph(text("kept"))]}, "kept"),
        ({"type": "layoutSection", "content": [{"content": [paragraph(text("col"))]}]}, "col"),
        (
            paragraph(text("a"), {"type": "secretInline", "content": [text("b")]}),
            "a\n\n:::secret\nb\n:::",
        ),
    ],
)
def test_nodes_become_markdown(node: Any, markdown: str) -> None:
    assert write(node).strip() == markdown


def nested(depth: int) -> Any:
    node: Any = paragraph(text("deep"))
    for _level in range(depth):
        node = {"type": "blockquote", "content": [node]}
    return node


def test_broken_resources_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    loop = {"id": "a", "parentId": "b", "name": "Loop", "documents": []}
    resources = [
        MIRA,
        5,
        {"id": "x"},
        {"id": "d", "name": "Deep", "documents": [page(nested(200))]},
        {"id": "o", "name": "Odd", "documents": [7], "properties": "x", "tags": 5, "banner": 1},
        loop,
        {**loop, "id": "b", "parentId": "a", "name": "Loop too"},
    ]
    reading = read_files(tmp_path, {"b.json": {"resources": resources}})
    assert set(drafts_by_title(reading)) == {"Mira Voss", "Odd", "Loop", "Loop too"}
    assert [problem.file for problem in reading.errors] == ["b.json: 2", "b.json: 3", "b.json: 4"]


UNREADABLE = {
    "empty": b"",
    "the beginning of a gzip file": b"\x1f\x8b",
    "half of an object": gzip.compress(b"{"),
    "nested too deep": gzip.compress(b"[" * 100_000),
    "a bomb": gzip.compress(b"\x00" * 60_000_000),
    "resources that are a number": gzip.compress(b'{"resources": 5}'),
    "no JSON": b'{"resources": [}',
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_unpacked_is_named(tmp_path: Path, name: str) -> None:
    reading = read_files(tmp_path, {"bad.lk": UNREADABLE[name]})
    assert reading.drafts == []
    assert {problem.file for problem in reading.problems} == {"bad.lk"}
