"""Things with a name inside a section of an imported book, rows of long tables and statistics below
bold names, are rules of their own."""

from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from knowledge.models import Rule
from knowledge.rule_books.named_things import named_things
from tests.memory_site.imports.test_rule_books import FILLING, found, import_rules, world_of
from worlds.models import Membership

SPELLS = {
    "Anchor": "A rope holds what you throw it at.",
    "Bell": "Everybody near you hears a bell.",
    "Calm": "The water lies still for an hour.",
    "Drift": "A boat follows you without oars.",
    "Ebb": "The tide goes out at once.",
    "Filch": "A small thing flies into your hands.",
    "Gull": "You speak with the birds of the harbour.",
    "Haze": "Fog hides you and your friends.",
    "Ice": "The surface bears you for a minute.",
    "Push/Pull": "A thing moves as if one man pushed it.",
}
ROWS = "\n".join(
    f"| {at} | [{name}](#{name.lower()}) | {text} |  "
    for at, (name, text) in enumerate(SPELLS.items(), start=1)
)
CREATURES = """**Reed Goblin**  
4 HP, 8 STR, 14 DEX, spear (d6)
- Avoids a fight.

**Tide Troll**
12 HP, 1 Armor, 15 STR, claws (d8)
- Grows moss.

**General advice**
- Make them odd.
"""
BOOK = f"""# Salt and Oars
{FILLING}

## Ten Spells

| | | |
|---|---|---|
{ROWS}

{FILLING}

## Bestiary

{CREATURES}

{FILLING}
"""


def rows_of(names: list[str], *, cells: str = "says what it does") -> str:
    rows = "\n".join(f"| {name} | {cells} |" for name in names)
    return f"| Name | Effect |\n|---|---|\n{rows}"


class TestReading:
    def test_the_rows_of_a_long_table_are_things_with_their_texts(self) -> None:
        things = named_things(f"{FILLING}\n\n{rows_of(list(SPELLS))}\n\n{FILLING}")
        assert [thing.name for thing in things] == list(SPELLS)
        assert things[0].text == "**Effect** says what it does"

    @pytest.mark.parametrize(
        "table",
        [
            rows_of(list(SPELLS)[:9]),
            rows_of(list(SPELLS), cells="5 gp"),
            rows_of([f"Level {number}" for number in range(1, 13)]),
            rows_of([f"{number}–{number + 4}" for number in range(1, 60, 5)]),
            rows_of(["Mishap"] * 12),
        ],
        ids=["short", "prices", "levels", "dice", "one name"],
    )
    def test_other_tables_hold_no_things(self, table: str) -> None:
        assert named_things(table) == []

    def test_statistics_below_bold_names_are_things(self) -> None:
        things = named_things(CREATURES)
        assert [thing.name for thing in things] == ["Reed Goblin", "Tide Troll"]
        assert things[0].text == "4 HP, 8 STR, 14 DEX, spear (d6)\n- Avoids a fight."

    def test_the_thing_that_a_section_is_about_is_no_part_of_it(self) -> None:
        assert named_things(CREATURES.split("**Tide Troll**", 1)[0]) == []

    @pytest.mark.parametrize(
        "body",
        [
            *("|", "|\n|---|", "a|b\n|-|\nc", "**\n**", "|" * 5000, "**a**\n" * 5000),
            "a|b\n-" + " " * 200_000 + "x",
        ],
    )
    def test_odd_texts_hold_nothing(self, body: str) -> None:
        assert named_things(body) == []


@pytest.mark.django_db
class TestImporting:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        path = tmp_path / "salt.md"
        path.write_text(BOOK)
        return path

    def test_a_thing_is_found_by_its_name_and_its_section_stays(self, book: Path) -> None:
        import_rules(book, "Salt")
        rows = {rule.title: rule for rule in Rule.objects.all()}
        assert rows["Filch"].key == "salt/ten-spells/filch"
        assert rows["Filch"].body == SPELLS["Filch"]
        assert rows["Filch"].breadcrumb == ["Salt and Oars", "Ten Spells"]
        assert (rows["Filch"].kind, rows["Tide Troll"].kind) == ("spell", "monster")
        assert SPELLS["Filch"] in rows["Ten Spells"].body
        world = world_of("salt")
        for name in ("Filch", "what does the Filch spell do", "Tide Troll"):
            assert found(world, name)[0] in name

    def test_the_search_page_shows_the_row(self, book: Path) -> None:
        import_rules(book, "Salt")
        world = world_of("salt")
        user = get_user_model().objects.create_user("gm")
        Membership.objects.create(user=user, world=world, role="gm")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        page = client.get(reverse("find", args=[world.slug]), {"q": "small thing into hands"})
        assert SPELLS["Filch"] in page.content.decode()

    def test_importing_again_changes_nothing(self, book: Path) -> None:
        first = import_rules(book, "Salt").split()[0]
        assert f"{first} unchanged" in import_rules(book, "Salt")

    def test_names_that_most_tables_of_a_book_repeat_are_no_things(self, tmp_path: Path) -> None:
        sections = "\n\n".join(
            f"## {name}\n\n{rows_of(['Own ' + name, *list(SPELLS)])}\n\n{FILLING}"
            for name in ("Ferryman", "Diver")
        )
        path = tmp_path / "classes.md"
        path.write_text(f"# Classes\n{FILLING}\n\n{sections}\n")
        import_rules(path, "Salt")
        titles = set(Rule.objects.values_list("title", flat=True))
        assert {"Ferryman", "Diver"} < titles
        assert titles.isdisjoint(SPELLS)
