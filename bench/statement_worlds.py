"""The worlds that the statements of `bench.fact_check` speak about: the demo world, Dunmarrow,
whose facts have other relations, and those of later authors, most facts of which say more in a
label."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent / "data"
DUNMARROW = DATA / "dunmarrow" / "world.yaml"
LABELLED_WORLDS = {
    slug: DATA / slug / "world.json"
    for slug in (
        "ombrel",
        "humbrel",
        "veyl-lanterns",
        "tallowick-night-line",
        "brasca-nine-keys",
    )
}
"""The files of worlds by slug; `bench.fact_check --set` adds the one that it is told."""
DAYS_PER_YEAR = 360
NODE_KINDS = {
    "person": "Character",
    "place": "Location",
    "faction": "Faction",
    "item": "Item",
    "event": "Event",
}
LORE_KINDS = {
    "Location": "place",
    "Faction": "faction",
    "Character": "biography",
    "Item": "item",
    "Event": "event",
}
JOINABLE = {
    ("Location", "LOCATED_IN", "Location"): "PART_OF",
    ("Item", "PART_OF", "Faction"): "RELATES_TO",
}


def load_statement_world(slug: str) -> Any:
    """Load the calendar, the lore and the graph of a world and return it. Call it in a
    transaction."""
    if slug == "dunmarrow":
        return _load_dunmarrow()
    if slug in LABELLED_WORLDS:
        return _load_labelled(slug)
    from memory_site.demo.load import load_graph, load_lore, load_setting
    from memory_site.demo.world_files import read_world

    demo = read_world()
    world = load_setting(demo)
    load_lore(demo, world)
    load_graph(demo, world)
    return world


def last_day_of(slug: str) -> float | None:
    """Return the last day of the present year of a world; None if its file has no present."""
    if slug not in LABELLED_WORLDS:
        return None
    now = json.loads(LABELLED_WORLDS[slug].read_text(encoding="utf-8"))["now"]
    return float(DAYS_PER_YEAR * (now + 1) - 1)


def _load_dunmarrow() -> Any:
    from knowledge.schemas import LoreIn
    from knowledge.upsert import upsert_lore

    data = yaml.safe_load(DUNMARROW.read_text(encoding="utf-8"))
    world = _create_world(data["slug"], data["name"], data["calendar"])
    for entry in data["entries"]:
        lore = LoreIn(
            slug=entry["slug"],
            title=entry["name"],
            kind=LORE_KINDS[entry["kind"]],
            aliases=entry["aliases"],
            language=entry["language"],
            body=entry["body"],
            in_world_at=entry.get("at"),
            visibility="public",
            status="published",
        )
        upsert_lore(world, lore)
    _write_graph(world, data)
    return world


def _create_world(slug: str, name: str, calendar: dict[str, Any]) -> Any:
    """Create a world with a calendar in which day 360 · y is the first one of the year y."""
    from worlds.calendars.definition import CalendarDefinition, Month
    from worlds.models import World
    from worlds.world_calendar import save_calendar

    world = World.objects.create(slug=slug, name=name)
    months = [Month(name=month, days=calendar["days_per_month"]) for month in calendar["months"]]
    year = len(months) * calendar["days_per_month"]
    definition = CalendarDefinition(name=calendar["epoch"], months=months, year_one_begins=year)
    save_calendar(world, definition, by="bench")
    return world


def _load_labelled(slug: str) -> Any:
    """Load a world whose entities have no entries: its lore is about several of them. A year is
    its first day as `since`, and its last one as `until`."""
    from knowledge.graph.relations import Relations
    from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
    from knowledge.graph.upsert import upsert_facts
    from knowledge.schemas import LoreIn
    from knowledge.upsert import upsert_lore

    data = json.loads(LABELLED_WORLDS[slug].read_text(encoding="utf-8"))
    months = [f"Month {number}" for number in range(1, 13)]
    calendar = {"epoch": "Year", "days_per_month": 30, "months": months}
    world = _create_world(slug, data["world"], calendar)
    for entry in data["lore"]:
        lore = LoreIn(
            slug=entry["id"],
            title=entry["title"],
            kind="custom",
            language=entry["lang"],
            body=entry["text"],
            visibility="public",
            status="published",
        )
        upsert_lore(world, lore)
    public = {"visibility": "public", "source_kind": "editor"}
    nodes = [
        NodeFact.model_validate(
            {
                "slug": entity["slug"],
                "kind": NODE_KINDS[entity["kind"]],
                "name": entity["names"]["en"],
                "aliases": [entity["names"]["ru"], entity["names"]["ko"]],
                **public,
            }
        )
        for entity in data["entities"]
    ]
    kinds = {node.slug: node.kind for node in nodes}
    relations = Relations.load()
    rows = [_fact_of(fact, kinds, relations) for fact in data["facts"]]
    edges = [EdgeFact.model_validate({**public, **row}) for row in rows]
    upsert_facts(
        world, [*(GraphFact(node=node) for node in nodes), *(GraphFact(edge=e) for e in edges)]
    )
    return world


def _fact_of(fact: dict[str, Any], kinds: Mapping[str, str], relations: Any) -> dict[str, Any]:
    """Return the fact in a relation that may join its ends: its author knew the names of the
    relations, and not which kinds they join."""
    ends = (kinds[fact["source"]], kinds[fact["target"]])
    relation = JOINABLE.get((ends[0], fact["kind"], ends[1]), fact["kind"])
    row = relations[relation]
    stored = relations[row.stored_as] if row.stored_as else row
    if (ends[::-1] if row.stored_as else ends) not in stored.joins:
        relation = "RELATES_TO"
    row = {"src": fact["source"], "relation": relation, "dst": fact["target"]}
    row["label"] = fact["label"]
    if "since" in fact:
        row["since"] = DAYS_PER_YEAR * fact["since"]
    if "until" in fact:
        row["until"] = DAYS_PER_YEAR * (fact["until"] + 1) - 1
    return row


def _write_graph(world: Any, data: dict[str, Any]) -> None:
    from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
    from knowledge.graph.upsert import upsert_facts
    from knowledge.models import Lore

    lore = dict(Lore.objects.filter(world=world).values_list("slug", "pk"))
    public = {"visibility": "public", "source_kind": "lore"}
    nodes = [
        NodeFact.model_validate(
            {
                **{name: entry[name] for name in ("slug", "kind", "name", "aliases")},
                **public,
                "source_ref": entry["slug"],
                "lore_id": lore[entry["slug"]],
            }
        )
        for entry in data["entries"]
    ]
    edges = [EdgeFact.model_validate({**public, **fact}) for fact in data["facts"]]
    upsert_facts(
        world, [*(GraphFact(node=node) for node in nodes), *(GraphFact(edge=e) for e in edges)]
    )
