"""The worlds that the statements of `bench.fact_check` speak about: the demo world, and Dunmarrow,
whose facts have other relations."""

from pathlib import Path
from typing import Any

import yaml

DUNMARROW = Path(__file__).parent / "data" / "dunmarrow" / "world.yaml"
LORE_KINDS = {
    "Location": "place",
    "Faction": "faction",
    "Character": "biography",
    "Item": "item",
    "Event": "event",
}


def load_statement_world(slug: str) -> Any:
    """Load the calendar, the lore and the graph of a world and return it. Call it in a
    transaction."""
    if slug == "dunmarrow":
        return _load_dunmarrow()
    from memory_site.demo.load import load_graph, load_lore, load_setting
    from memory_site.demo.world_files import read_world

    demo = read_world()
    world = load_setting(demo)
    load_lore(demo, world)
    load_graph(demo, world)
    return world


def _load_dunmarrow() -> Any:
    from knowledge.schemas import LoreIn
    from knowledge.upsert import upsert_lore
    from worlds.calendars.definition import CalendarDefinition, Month
    from worlds.models import World
    from worlds.world_calendar import save_calendar

    data = yaml.safe_load(DUNMARROW.read_text(encoding="utf-8"))
    world = World.objects.create(slug=data["slug"], name=data["name"])
    calendar = data["calendar"]
    months = [Month(name=name, days=calendar["days_per_month"]) for name in calendar["months"]]
    year = len(months) * calendar["days_per_month"]
    definition = CalendarDefinition(name=calendar["epoch"], months=months, year_one_begins=year)
    save_calendar(world, definition, by="bench")
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
