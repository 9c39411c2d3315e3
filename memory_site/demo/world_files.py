"""The demo world: the files under `world/`, read into the input models of the apps. Does not touch
the database.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from art.schemas import ArtCardIn
from episodes.schemas import EpisodeIn, SceneIn, SessionIn
from knowledge.entry_entities import NODE_KINDS
from knowledge.graph.models import NodeKind, SourceKind
from knowledge.graph.schemas import EdgeFact, NodeFact
from knowledge.schemas import LoreIn
from npcs.schemas import NPCIn
from retrieval.text import split_front_matter
from worlds.calendars.definition import CalendarDefinition, Month

FOLDER = Path(__file__).parent / "world"
FACT_DEFAULTS = {"visibility": "public", "source_kind": SourceKind.LORE}


class DemoModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DemoCalendar(DemoModel):
    """Each month by its name in each language of the site."""

    epoch: str
    days_per_month: int
    months: list[dict[str, str]]

    def definition(self, language: str) -> CalendarDefinition:
        """Return the calendar of the world: its year 0 begins with world day 0."""
        months = [
            Month(
                name=names[language],
                days=self.days_per_month,
                other_names=[name for code, name in names.items() if code != language],
            )
            for names in self.months
        ]
        return CalendarDefinition(
            name=self.epoch, months=months, year_one_begins=len(months) * self.days_per_month
        )


class DemoParty(DemoModel):
    slug: str
    name: str
    aliases: list[str]
    members: list[dict[str, str]]


class DemoSetting(DemoModel):
    """`world.yaml`. Worlds, campaigns and parties are made in the admin, so they have no input
    model.
    """

    slug: str
    name: str
    system: str
    language: str
    description: str
    now: dict[str, Any]
    calendar: DemoCalendar
    campaign: dict[str, str]
    parties: list[DemoParty]
    disposition_rules: dict[str, int] = {}


class DemoScene(DemoModel):
    """`approved` are the NPCs whose large changes the game master has let count."""

    scene: SceneIn
    episode: EpisodeIn
    approved: list[str] = []


class DemoSession(DemoModel):
    session: SessionIn
    scenes: list[DemoScene]


class DemoWorld(DemoModel):
    """`nodes` and `facts` are those of `graph.yaml`; `all_nodes` adds the NPCs and the lore."""

    setting: DemoSetting
    lore: dict[str, LoreIn]
    npcs: dict[str, NPCIn]
    sessions: list[DemoSession]
    art: list[ArtCardIn]
    nodes: list[NodeFact]
    facts: list[EdgeFact]

    @property
    def scenes(self) -> list[DemoScene]:
        return [scene for session in self.sessions for scene in session.scenes]

    @cached_property
    def all_nodes(self) -> dict[str, NodeFact]:
        """All entities by slug. Those with a lore entry name it as their source."""
        nodes = [
            _node(entry, slug, NODE_KINDS[entry.kind], name=entry.title, lore=slug)
            for slug, entry in self.lore.items()
            if entry.kind in NODE_KINDS
        ]
        # An NPC replaces the biography of the same slug: its page knows more names.
        nodes += [
            _node(npc, slug, NodeKind.CHARACTER, name=npc.name, lore=npc.biography)
            for slug, npc in self.npcs.items()
        ]
        return {node.slug: node for node in (*nodes, *self.nodes)}


def read_world(folder: Path = FOLDER) -> DemoWorld:
    """Raises `ValidationError` when a file does not fit the product's input model."""
    graph = _yaml(folder / "graph.yaml")
    by_editor = {"source_kind": SourceKind.EDITOR}
    return DemoWorld(
        setting=_yaml(folder / "world.yaml"),
        lore={path.stem: _lore(path) for path in sorted((folder / "lore").glob("*.md"))},
        npcs={path.stem: _yaml(path) for path in sorted((folder / "npcs").glob("*.yaml"))},
        sessions=[_yaml(path) for path in sorted((folder / "sessions").glob("*.yaml"))],
        art=_yaml(folder / "art.yaml"),
        nodes=[by_editor | node for node in graph["nodes"]],
        facts=[FACT_DEFAULTS | fact for fact in graph["facts"]],
    )


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _lore(path: Path) -> LoreIn:
    fields, body = split_front_matter(path.read_text(encoding="utf-8"))
    origin = {"status": "published", "author": "Memory37", "origin": "demo"}
    return LoreIn(slug=path.stem, body=body.strip(), **fields, **origin)


def _node(page: LoreIn | NPCIn, slug: str, kind: NodeKind, *, name: str, lore: str) -> NodeFact:
    return NodeFact(
        slug=slug,
        kind=kind,
        name=name,
        aliases=page.aliases,
        visibility=page.visibility,
        known_to=page.known_to,
        source_kind=SourceKind.LORE if lore else SourceKind.EDITOR,
        source_ref=lore,
    )
