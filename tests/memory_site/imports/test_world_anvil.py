"""World Anvil: articles with category, mentions, spoilers, secrets, images; people are NPCs."""

import time
from pathlib import Path
from typing import Any

import pytest

from knowledge.graph.models import GraphEdge
from knowledge.importers.bbcode import bbcode_to_markdown
from knowledge.importers.files import Bundle
from knowledge.importers.markup import PictureCollector
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

QUAY = {
    "id": "11111111-aaaa",
    "title": "The Quay",
    "slug": "the-quay",
    "entityClass": "Location",
    "templateType": "location",
    "state": "public",
    "isDraft": False,
    "content": "[h1]Tides[/h1]Wet. See @[the clerk](person:22222222-bbbb) and "
    "@[Nobody](person:9).\r\n"
    "[spoiler]Mined by @[Mira](person:22222222-bbbb).[/spoiler]Cold.[secret:55555555-eeee]",
    "tags": "harbour,trade",
    "category": {"id": "c2", "title": "Carrow"},
    "cover": {"id": 7, "title": "quay.png", "url": "https://example.org/uploads/quay.png"},
    "geography": "Long [b]stone[/b] walls.\nAnd rope.",
    "population": "400",
    "authornotes": "The quay sinks in act two.",
    "wordcount": 12,
}
MIRA = {
    "id": "22222222-bbbb",
    "title": "Mira Voss",
    "entityClass": "Person",
    "templateType": "person",
    "state": "public",
    "subheading": "Clerk of the quay",
    "content": "She keeps the [url=https://example.org]ledger[/url].",
    "firstname": "Mira",
    "lastname": "Elen Voss",
    "nickname": "Ink",
    "currentLocation": {"id": "11111111-aaaa", "title": "The Quay", "entityClass": "Location"},
    "articleParent": {"id": "44444444-dddd", "title": "The Cult"},
    "relations": {
        "organizations": {
            "items": [
                {"id": "33333333-cccc", "title": "Harbour Guild", "relationshipType": "article"},
                {"id": "44444444-dddd", "title": "The Cult", "relationshipType": "article"},
            ]
        }
    },
    "sections": {"seeded": {"content": "x"}, "motivation": {"content": "Wants the bell back."}},
    "portrait": {"id": 8, "title": "mira.png"},
    "eyes": "grey",
}
CLUB = {
    "id": "7",
    "title": "Supper Club",
    "templateType": "organization",
    "state": "public",
    "subscribergroups": [{"id": "g", "title": "Patrons"}],
    "content": "Gilded.",
}
GUILD = {
    "id": "33333333-cccc",
    "title": "Harbour Guild",
    "templateType": "organization",
    "state": "public",
    "content": "Tolls.",
}
CULT = {
    "id": "44444444-dddd",
    "title": "The Cult",
    "templateType": "organization",
    "state": "private",
    "content": "Drowned.",
}
SECRET = {
    "id": "55555555-eeee",
    "title": "Who pays",
    "entityClass": "Secret",
    "content": "The guild [/spoiler] pays.",
}
DRAFT = {"id": "6", "title": "Bell", "templateType": "item", "isDraft": True, "content": "Rings."}
MAP = {
    "id": "m",
    "title": "Map of Carrow",
    "entityClass": "Map",
    "state": "public",
    "pins": [{"title": "Docks", "article": {"id": "11111111-aaaa", "title": "The Quay"}}, None],
}
CATEGORIES = [
    {"id": "c1", "title": "North", "entityClass": "Category"},
    {"id": "c2", "title": "Carrow", "entityClass": "Category", "parent": {"id": "c1"}},
]
FILES: dict[str, Any] = {
    "World/articles/the-quay.json": QUAY,
    "World/articles/mira.json": MIRA,
    "World/articles/guild.json": GUILD,
    "World/articles/cult.json": CULT,
    "World/articles/bell.json": DRAFT,
    "World/articles/club.json": CLUB,
    "World/secrets/pays.json": SECRET,
    "World/maps/map.json": MAP,
    "World/categories.json": CATEGORIES,
    "World/images/quay.json": {"id": 7, "title": "quay.png", "entityClass": "Image"},
    "World/images/quay.png": PIXEL,
    "World/images/mira.png": PIXEL,
}


def text_of(text: str, **titles: str) -> str:
    return bbcode_to_markdown(text, titles=titles, pictures=PictureCollector(Bundle()))


def test_a_drop_cap_is_a_letter_of_its_word() -> None:
    assert text_of("[p][dc]O[/dc]nce, [b]far[/b] away.[/p]") == "Once, **far** away."


def test_keys_and_values_of_a_panel_are_lines() -> None:
    panel = "--Inhabitants::24,000--\n--Ruler::@[the prior](person:22-bb)--\nA -- dash::mark."
    assert text_of(panel, **{"22-bb": "Prior Hasp"}) == (
        "**Inhabitants:** 24,000\n\n**Ruler:** [[Prior Hasp|the prior]]\n\nA -- dash::mark."
    )


def test_articles_with_category_texts_fields_and_pictures(tmp_path: Path) -> None:
    reading = read_files(tmp_path, FILES)
    assert set(formats_of(reading).values()) == {"worldanvil", "picture"}
    assert reading.problems == []
    drafts = drafts_by_title(reading)
    assert set(drafts) == {
        *("The Quay", "Mira Voss", "Harbour Guild", "The Cult", "Bell", "Map of Carrow"),
        "Supper Club",
    }
    quay = drafts["The Quay"]
    assert (quay.entry.kind, quay.folder) == ("place", "North/Carrow")
    assert quay.entry.tags == ["harbour", "trade"]
    assert quay.entry.body == (
        "# Tides\n\nWet. See [[Mira Voss|the clerk]] and [[Nobody]].\n\n"
        ":::secret\n\nMined by [[Mira Voss|Mira]].\n\n:::\n\nCold.\n\n"
        ":::secret\n\nThe guild  pays.\n\n:::\n\n"
        "## Geography\n\nLong **stone** walls.\nAnd rope.\n\n"
        ":::secret\n## Authornotes\n\nThe quay sinks in act two.\n:::"
    )
    assert quay.entry.extra["population"] == "400"
    assert [(each.file, each.is_portrait) for each in quay.pictures] == [
        ("World/images/quay.png", True)
    ]
    assert "- [[The Quay|Docks]]" in drafts["Map of Carrow"].entry.body
    assert (drafts["Bell"].entry.kind, drafts["Bell"].entry.status) == ("item", "draft")


def test_people_become_npcs_and_what_is_private_stays_so(world: World, tmp_path: Path) -> None:
    import_files(world, tmp_path, FILES)
    mira = NPC.objects.get()
    assert (mira.name, mira.role, mira.home, mira.faction) == (
        "Mira Voss",
        "Clerk of the quay",
        "The Quay",
        "Harbour Guild",
    )
    entry = Lore.objects.get(title="Mira Voss")
    assert entry.aliases == ["Ink", "Mira Elen Voss"]
    assert "She keeps the [ledger](<https://example.org>)." in entry.body
    assert "## Motivation\n\nWants the bell back." in entry.body
    assert entry.extra["eyes"] == "grey"
    edges = GraphEdge.objects.filter(src__name="Mira Voss")
    assert {(each.dst.name, each.relation_id, each.visibility) for each in edges} == {
        ("Harbour Guild", "PART_OF", "public"),
        ("The Cult", "PART_OF", "gm"),
        ("The Quay", "LOCATED_IN", "public"),
        ("The Quay", "RELATES_TO", "public"),
    }
    assert Lore.objects.get(title="The Cult").visibility == "gm"
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert {"Wet", "Cold"} <= set(seen.replace(".", " ").split())
    for secret in ("Mined", "pays", "sinks", "Drowned", "Rings", "Gilded"):
        assert secret not in seen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[b]a[/b][i]b[/i][s]c[/s]", "**a***b*~~c~~"),
        ("[h3]a[/h3]b[br]c[hr]d", "### a\n\nb\nc\n\n---\n\nd"),
        ("[ul][li]a[/li][li]b[/li][/ul]", "- a\n- b"),
        ("[list][*]a[*]b[/list]", "- a\n- b"),
        (
            "[table][tr][th]A[/th][th]B[/th][/tr][tr][td]1\n2[/td][td]3[/td][/tr][/table]",
            "| A | B |\n| --- | --- |\n| 1 2 | 3 |",
        ),
        ("[url:https://example.org]x[/url]", "[x](<https://example.org>)"),
        ("[url=javascript:alert(1)]x[/url]", "x"),
        ("[url]https://example.org[/url]", "[https://example.org](<https://example.org>)"),
        ("[spoiler]never closed", ":::secret\n\nnever closed\n\n:::"),
        ("open[/spoiler]", "open"),
        ("[spoiler]a[spoiler]b[/spoiler]c[/spoiler]d", ""),
        ("an old [sic] word", "an old [sic] word"),
        ("@[x]] y](person:1)", "@[x]] y](person:1)"),
        ("[img:404]", ""),
        ("@[b](person:1)", "[[b]]"),
        ("[[spoiler]x[/spoiler]]", "[\n\n:::secret\n\nx\n\n:::\n\n]"),
        ("[url=https://a.org][spoiler]x[/spoiler][/url]", ":::secret\n\nx\n\n:::"),
        ("[/url][/td][/tr][/img]", "|\n|"),
    ],
)
def test_bbcode_becomes_markdown(text: str, words: str) -> None:
    shown = text_of(text)
    if words:
        assert shown == words
    assert shown.count(":::secret") == sum(line == ":::" for line in shown.split("\n"))


def test_many_open_tags_take_linear_time() -> None:
    started = time.process_time()
    text_of("[url][img][td][spoiler][" * 20_000)
    assert time.process_time() - started < 5


BROKEN: list[Any] = [
    5,
    {"templateType": "person"},
    {
        **MIRA,
        "id": "x",
        "title": "Odd",
        "relations": 5,
        "sections": [1],
        "portrait": "x",
        "tags": 7,
    },
    {**QUAY, "id": "y", "title": "Odd place", "category": "x", "content": {"a": 1}, "pins": 3},
]


def test_broken_articles_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"all.json": [GUILD, *BROKEN, CULT]})
    assert set(drafts_by_title(reading)) >= {"Harbour Guild", "The Cult", "Odd", "Odd place"}
    assert [problem.file for problem in reading.errors] == ["all.json: 2", "all.json: 3"]
