"""normalise → chunk → ingest: text of any kind in, entries out, secrets kept, the same twice is
once.
"""

import pytest

from knowledge.ingest import ingest_lore, ingest_srd
from knowledge.models import Lore, LorePassage, Rule
from retrieval.errors import Invalid
from retrieval.indexing import normalize_lore, normalize_srd
from retrieval.text import guess_language, slugify
from worlds.audiences import PUBLIC
from worlds.models import World

NOTE = """---
title: Mira Voss
kind: biography
aliases: [Мира Восс]
visibility: public
status: published
---
# Mira Voss

She keeps the ledger.

:::secret party:lanternbearers
She forged page nine.
:::
"""


def test_front_matter_heading_and_secrets_are_understood() -> None:
    opened, secret = normalize_lore(NOTE)
    assert opened.payload == {
        "entry": "mira-voss",
        "title": "Mira Voss",
        "aliases": ["Мира Восс"],
        "headings": [],
    }
    assert (opened.metadata["kind"], opened.metadata["language"]) == ("biography", "en")
    assert (secret.text, secret.metadata["audiences"]) == (
        "She forged page nine.",
        ["party:lanternbearers"],
    )


def test_a_dict_is_understood_like_a_note() -> None:
    (chunk,) = normalize_lore(
        {"name": "The Quay", "desc": ["Wet.", "Cold."], "index": "quay", "tags": ["river"]}
    )
    assert (chunk.id, chunk.text, chunk.metadata["tags"]) == ("quay#0", "Wet.\n\nCold.", ["river"])


def test_bare_text_is_titled_by_its_heading_or_its_first_line() -> None:
    assert normalize_srd("# Grappled\n\nSpeed 0.")[0].payload["title"] == "Grappled"
    assert normalize_srd("Speed becomes 0.\nNo bonus.")[0].payload["title"] == "Speed becomes 0."


@pytest.mark.parametrize(
    "nothing", ["", " \n", {}, {"title": " "}, "---\n: [\n---\nx", "---\na: &a [x]\nb: *a\n---\nx"]
)
def test_empty_or_broken_input_is_refused(nothing: object) -> None:
    with pytest.raises(Invalid):
        normalize_lore(nothing)  # type: ignore[arg-type]


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(Invalid, match="not int"):
        normalize_lore(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The quay", "en"),
        ("Зал вёсел", "ru"),
        ("노의 전당 (Hall)", "ko"),
        ("Мира Voss и паром", "ru"),
        ("", "en"),
    ],
)
def test_the_language_is_guessed_from_the_script(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_slugs_keep_the_letters_of_every_script() -> None:
    assert [slugify(text) for text in ("The Ferrymen's Guild!", "Зал вёсел", "노의 전당")] == [
        "the-ferrymens-guild",
        "зал-вёсел",
        "노의-전당",
    ]


@pytest.mark.django_db
class TestIngesting:
    def test_chunks_become_an_entry_with_its_secrets(self, world: World) -> None:
        assert ingest_lore(normalize_lore(NOTE), world=world) == {"mira-voss": "created"}
        assert set(LorePassage.objects.values_list("text", "visibility")) == {
            ("# Mira Voss\n\nShe keeps the ledger.", "public"),
            ("She forged page nine.", "revealed"),
        }
        assert not LorePassage.objects.visible_to(PUBLIC).filter(text__contains="forged").exists()

    def test_the_same_twice_changes_nothing(self, world: World) -> None:
        ingest_lore(normalize_lore(NOTE), world=world)
        assert ingest_lore(normalize_lore(NOTE), world=world) == {"mira-voss": "unchanged"}
        assert Lore.objects.get().version == 1

    def test_without_an_audience_an_entry_is_for_the_game_master(self, world: World) -> None:
        ingest_lore(normalize_lore("# The Quay\n\nWet."), world=world)
        assert Lore.objects.values_list("visibility", "status").get() == ("gm", "draft")

    def test_rules_become_house_rules(self, world: World) -> None:
        assert ingest_srd(normalize_srd("# Seasick\n\nRoll a d20."), world=world) == {
            "house/seasick": "created"
        }
        assert Rule.objects.get().world == world

    def test_chunks_of_another_domain_are_refused(self, world: World) -> None:
        with pytest.raises(Invalid, match="srd"):
            ingest_lore(normalize_srd("# Seasick\n\nRoll."), world=world)
