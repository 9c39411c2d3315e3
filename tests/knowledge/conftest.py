"""A few rules and a few entries of Ferrymark, written by the same functions as real ones."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from knowledge.entry_store import save_all, save_entry
from knowledge.glossary.load import load_glossary, rule_name_lookup
from knowledge.glossary.terms import RULE_KINDS, read_terms
from knowledge.models import Document, Lore, Rule
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from worlds.audiences import Visibility
from worlds.callers import Caller
from worlds.models import GameSystem, World

RULES = {
    "conditions/grappled": (
        "condition",
        "Grappled",
        "A grappled creature's speed becomes 0. The condition ends if an "
        "effect moves it out of reach of the grappler, such as when it is hurled away.",
        ["схваченный", "붙잡힌 상태"],
    ),
    "conditions/prone": (
        "condition",
        "Prone",
        "A prone creature's only movement option is to crawl.",
        [],
    ),
    "spells/fireball": (
        "spell",
        "Fireball",
        "Each creature in a 20-foot-radius sphere takes 8d6 fire damage.",
        ["огненный шар", "화염구"],
    ),
    "spells/fly": (
        "spell",
        "Fly",
        "You touch a willing creature. It gains a flying speed of 60 feet.",
        ["полёт"],
    ),
    "rules/resting/long-rest": (
        "section",
        "Long Rest",
        "A period of extended downtime, at least 8 hours long.",
        [],
    ),
}


@pytest.fixture
def rules(world: World) -> dict[str, Rule]:
    document = Document.objects.create(
        slug="srd-5.1",
        title="System Reference Document 5.1",
        system=world.system,
        publisher="Wizards of the Coast",
        edition="SRD 5.1 (2014)",
        licence="CC-BY-4.0",
        attribution="This work includes material …",
    )
    written = [
        Rule(
            key=f"srd-5.1/{path}",
            document=document,
            kind=kind,
            title=title,
            body=body,
            aliases=aliases,
        )
        for path, (kind, title, body, aliases) in RULES.items()
    ]
    save_all(written)
    return {rule.title: rule for rule in written}


CLASSES = "Barbarian Bard Cleric Druid Fighter Monk Paladin Ranger Rogue Sorcerer Warlock Wizard"


@pytest.fixture
def all_names(world: World) -> World:
    """A world whose rules have the names of the glossary's terms, and the levels of the classes:
    as many names to be confused as the SRD has, almost without texts."""
    book = Document.objects.create(slug="names", title="All names", system=world.system)
    names = rule_name_lookup()
    kinds = {term.term: min(RULE_KINDS.get(term.kind, {"section"})) for term in read_terms()}
    kinds |= {term.term: "spell" for term in read_terms() if term.kind == "spell"}
    levels = (f"{each}, level {n}" for each in CLASSES.split() for n in range(1, 21))
    kinds |= dict.fromkeys(levels, "class")
    rules = [
        Rule(
            key=f"names/{number}",
            document=book,
            kind=kind,
            title=title,
            body=f"{title}.",
            aliases=names(title, kind),
        )
        for number, (title, kind) in enumerate(kinds.items())
    ]
    save_all(rules)
    load_glossary(GameSystem.objects.get())
    return world


@pytest.fixture
def write(world: World) -> Callable[..., Lore]:
    """Write a published, public entry; keyword arguments override."""

    def write_entry(title: str, body: str, **fields: Any) -> Lore:
        given = {
            "world": world,
            "slug": title.lower().replace(" ", "-"),
            "status": Lore.Status.PUBLISHED,
            "visibility": Visibility.PUBLIC,
        }
        entry = Lore(**{**given, "title": title, "body": body, **fields})
        save_entry(entry)
        return entry

    return write_entry


def first_titles(world: World, questions: Iterable[str]) -> dict[str, str]:
    """Return the title of the first rule found for each question."""
    caller = Caller.gm(world)
    return {term: find_rules(RulesQuestion(term=term), caller).hits[0].title for term in questions}
