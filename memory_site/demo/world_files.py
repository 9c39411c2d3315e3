"""The demo world as typed values, read from the files under `world/`. Knows no database: the apps load what they own.

world = read_world()
world.lore["toll-bell"].secrets[0].text
"""

import re
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, HttpUrl

FOLDER = Path(__file__).parent / "world"

Language = Literal["en", "ru", "ko"]
Shown = Literal["public", "gm", "revealed"]
LoreKind = Literal["place", "faction", "biography", "timeline", "event", "item", "custom"]
NodeKind = Literal["Character", "Location", "Item", "Faction", "Quest", "Event"]
EdgeKind = Literal[
    "KNOWS",
    "LOCATED_IN",
    "OWNS",
    "OWNED_BY",
    "ALLY_WITH",
    "ENEMY_OF",
    "PART_OF",
    "INVOLVES",
    "RELATES_TO",
]
Axis = Literal["trust", "respect", "affection", "fear"]
NODE_KIND_OF_LORE: dict[str, NodeKind] = {
    "place": "Location",
    "faction": "Faction",
    "item": "Item",
    "event": "Event",
}

SECRET = re.compile(
    r"^:::secret[ \t]*(?P<audiences>[^\n]*)\n(?P<text>.*?)\n:::[ \t]*$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\[\[([^\]|]+)(?:\|[^\]]*)?\]\]")


class Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Guarded(Value):
    """`known_to` lists audiences such as `party:lanternbearers`; it matters only where visibility is `revealed`."""

    visibility: Shown = "public"
    known_to: list[str] = []


class Moment(Value):
    at: float
    label: str


class MonthNames(Value):
    en: str
    ru: str
    ko: str


class Calendar(Value):
    epoch: str
    days_per_month: int
    months: list[MonthNames]

    def day(self, label: str) -> int:
        """The world day of a label such as `12 Lantern 212` or `12 Lantern 212, evening`."""
        day, month, year = label.split(",")[0].split()
        names = [each.en for each in self.months]
        return (int(year) * len(names) + names.index(month)) * self.days_per_month + int(day) - 1


class Campaign(Value):
    slug: str
    name: str


class Member(Value):
    name: str
    about: str


class Party(Value):
    slug: str
    name: str
    aliases: list[str] = []
    members: list[Member]


class Setting(Value):
    """`world.yaml`: the world itself, its calendar, campaign and parties."""

    slug: str
    name: str
    system: str
    language: Language
    description: str
    now: Moment
    calendar: Calendar
    campaign: Campaign
    parties: list[Party]


class Secret(Value):
    """A `:::secret` block. Without audiences only the GM knows it."""

    text: str
    known_to: list[str] = []


class Lore(Guarded):
    slug: str
    title: str
    kind: LoreKind
    language: Language
    aliases: list[str] = []
    tags: list[str] = []
    in_world_at: float | None = None
    in_world_label: str = ""
    body: str

    @cached_property
    def secrets(self) -> list[Secret]:
        return [
            Secret(text=match["text"].strip(), known_to=match["audiences"].split())
            for match in SECRET.finditer(self.body)
        ]

    @cached_property
    def open_text(self) -> str:
        """The body without its secret blocks."""
        return SECRET.sub("", self.body).strip()

    @property
    def names(self) -> list[str]:
        return [self.slug, self.title, *self.aliases]

    @classmethod
    def read(cls, path: Path) -> Self:
        _nothing, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        return cls(slug=path.stem, body=body.strip(), **yaml.safe_load(head))


class Fact(Guarded):
    """Something about an NPC that held from a day on."""

    at: float
    label: str
    text: str


class NPC(Guarded):
    """Players may see name, aliases, role, faction and home. Goals, secrets and lines are the GM's."""

    slug: str
    name: str
    aliases: list[str]
    role: str
    faction: str
    home: str
    lore: str
    voice: str
    goals: list[str]
    secrets: list[Secret]
    play_them_now: list[str] = Field(min_length=3, max_length=3)
    in_world: list[Fact]

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(slug=path.stem, **_yaml(path))


class SummaryTime(Value):
    in_world_at: float
    in_world_label: str
    real: datetime


class Who(Value):
    players: list[str]
    npcs: list[str]


class Delta(Value):
    npc: str
    delta: int = Field(ge=-5, le=5)
    axis: Axis
    reason: str


class Episode(Value):
    """An episodic summary in the form of requirement 1.3."""

    summary_id: str
    campaign_id: str
    party_id: str
    scene_id: str
    when: SummaryTime
    who: Who
    where: str
    what: str
    flags: list[str]
    relations_delta: list[Delta]
    notes: str = ""
    version: int = 1


class Reveal(Value):
    """Who learned what in a scene: a lore entry or, with `secret` (1 is the first), one secret of it or of an NPC."""

    lore: str = ""
    npc: str = ""
    secret: int | None = None
    to: list[str]
    note: str = ""


class Scene(Value):
    slug: str
    title: str
    party: str
    place: str
    in_world_at: float
    in_world_label: str
    episode: Episode
    reveals: list[Reveal] = []


class Session(Value):
    slug: str
    number: int
    title: str
    played_at: datetime
    in_world_at: float
    in_world_label: str
    scenes: list[Scene]


class ArtCard(Value):
    image_id: str
    scene_id: str
    cdn_url: HttpUrl
    prompt_text: str
    entities: list[str]
    visual_tags: list[str]
    style: str
    seed: int
    moderation: Literal["approved", "pending", "flagged", "rejected"]


class Node(Guarded):
    """A node of the relation graph. `lore` and `npc` are the slugs of its pages, where it has any."""

    id: str
    kind: NodeKind
    name: str
    aliases: list[str] = []
    lore: str = ""
    npc: str = ""


class Edge(Guarded):
    """`since` is the first day on which it held, `until` the first on which it no longer did."""

    src: str
    edge: EdgeKind
    dst: str
    label: str = ""
    since: float | None = None
    until: float | None = None
    source: str

    def overlaps(self, other: "Edge") -> bool:
        return _before(self.since, other.until) and _before(other.since, self.until)


class Graph(Value):
    nodes: list[Node]
    facts: list[Edge]


class DemoWorld(Value):
    setting: Setting
    lore: dict[str, Lore]
    npcs: dict[str, NPC]
    sessions: list[Session]
    art: list[ArtCard]
    graph: Graph

    @property
    def scenes(self) -> list[Scene]:
        return [scene for session in self.sessions for scene in session.scenes]

    @cached_property
    def lore_by_name(self) -> dict[str, Lore]:
        """Every entry under its slug, title and aliases, in lower case: how `[[links]]` are resolved."""
        return {name.lower(): entry for entry in self.lore.values() for name in entry.names}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """All nodes: the NPCs, the lore that is a place, faction, item, event or person, and the listed ones."""
        of_lore = {
            slug: _node_of_lore(entry) for slug, entry in self.lore.items() if _is_node(entry)
        }
        of_npcs = {slug: _node_of_npc(npc) for slug, npc in self.npcs.items()}
        return {**of_lore, **of_npcs, **{node.id: node for node in self.graph.nodes}}

    def links(self, text: str) -> list[Lore]:
        """The entries that a text links to; a `KeyError` names a link that leads nowhere."""
        return [self.lore_by_name[name.strip().lower()] for name in LINK.findall(text)]


def read_world(folder: Path = FOLDER) -> DemoWorld:
    return DemoWorld(
        setting=Setting(**_yaml(folder / "world.yaml")),
        lore={
            entry.slug: entry for entry in map(Lore.read, sorted((folder / "lore").glob("*.md")))
        },
        npcs={npc.slug: npc for npc in map(NPC.read, sorted((folder / "npcs").glob("*.yaml")))},
        sessions=[Session(**_yaml(path)) for path in sorted((folder / "sessions").glob("*.yaml"))],
        art=[ArtCard(**card) for card in _yaml(folder / "art.yaml")],
        graph=Graph(**_yaml(folder / "graph.yaml")),
    )


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _before(day: float | None, end: float | None) -> bool:
    return day is None or end is None or day < end


def _is_node(entry: Lore) -> bool:
    return entry.kind in NODE_KIND_OF_LORE or entry.kind == "biography"


def _node_of_lore(entry: Lore) -> Node:
    return Node(
        id=entry.slug,
        kind=NODE_KIND_OF_LORE.get(entry.kind, "Character"),
        name=entry.title,
        aliases=entry.aliases,
        lore=entry.slug,
        visibility=entry.visibility,
        known_to=entry.known_to,
    )


def _node_of_npc(npc: NPC) -> Node:
    return Node(
        id=npc.slug,
        kind="Character",
        name=npc.name,
        aliases=npc.aliases,
        lore=npc.lore,
        npc=npc.slug,
        visibility=npc.visibility,
        known_to=npc.known_to,
    )
