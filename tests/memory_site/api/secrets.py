"""The demo world with marked secrets, questions about it, and the same world without what an
audience may not know.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import QuerySet
from pydantic import BaseModel

from art.models import ArtCard
from episodes.models import Episode, Scene
from knowledge.entry_store import save_all, save_entry
from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.models import GraphEdge
from knowledge.models import Document, Lore, LorePassage, Rule, RulePassage
from memory_site.demo.load import load
from memory_site.demo.world_files import DemoWorld, read_world
from memory_site.toolbox import TOOLS, Tool
from npcs.models import NPC, Secret
from retrieval.indexing import count_words
from retrieval.models import Passage
from retrieval.search import clear_row_estimates
from tests.memory_site.demo.consistency import secrets
from worlds.audiences import Audience, Visibility
from worlds.models import Campaign, Party, World

MARK = "zqx"
"""Every hidden text holds a word that begins so and says who may read it: `zqxgm17`, `zqxlan4`,
`zqxoath2`; `zqxeach5` is for each of the Lanternbearers, one by one.
"""
TAGS = {
    "party:lanternbearers": "lan",
    "party:gilded-oath": "oath",
    "npc:mira-voss": "mira",
    "character:nuri": "nuri",
}
MARKS_OF = {
    "party:lanternbearers": {"lan", "each"},
    "character:nuri": {"nuri", "lan", "each"},
    "character:kade-wint": {"lan", "each"},
    "party:gilded-oath": {"oath"},
    "npc:mira-voss": {"mira"},
}
"""What an audience may read."""
AUDIENCES = ["public", *MARKS_OF]
EACH_LANTERNBEARER = [
    f"character:{slug}" for slug in ("kade-wint", "nuri", "sister-ilse", "tobin-marrow")
]
LAYERS = {"knowledge", "episodes", "npcs", "art"}
KINDS = {"subject": "graphnode", "object": "graphnode", "node": "graphnode"}
RELATIONS = [
    "is allied with",
    "is an enemy of",
    "owns",
    "leads",
    "lives in",
    "is part of",
    "knows",
    "союзник",
    "의 적이다",
]


# --- The world
def build(slug: str) -> World:
    """Load the demo under `slug`, add hidden rules, drafts and overlays, and mark every secret."""
    demo = _marked(read_world())
    renamed = demo.model_copy(update={"setting": demo.setting.model_copy(update={"slug": slug})})
    load(renamed)
    world = World.objects.get(slug=slug)
    _add_lore(world)
    _add_rules(world)
    _add_scenes_of_characters(world)
    refresh_word_counts()
    return world


def refresh_word_counts() -> None:
    """Bring the word counts of every searched domain up to date, and forget what was measured
    before.
    """
    for model in apps.get_models():
        if issubclass(model, Passage) and hasattr(model, "search_config"):
            count_words(model)
    clear_row_estimates()


class Marker:
    """Writes a marked word before every text that not everybody may read."""

    def __init__(self) -> None:
        self.number = 0

    def secret(self, text: str, known_to: list[str] | None = None) -> str:
        self.number += 1
        tag = next((TAGS[each] for each in known_to or () if each in TAGS), "gm")
        return f"{MARK}{tag}{self.number} {text}"

    def lore(self, entry: Any) -> Any:
        body = entry.body
        for text, known_to in secrets(entry):
            body = body.replace(text, self.secret(text, known_to))
        body = body if entry.visibility == "public" else self.secret(body, entry.known_to)
        return entry.model_copy(update={"body": body})

    def npc(self, npc: Any) -> Any:
        secrets = [
            each.model_copy(update={"text": self.secret(each.text, each.known_to)})
            for each in npc.secrets
        ]
        own = [f"npc:{npc.npc_id}"]  # who plays the NPC gets them
        private = {
            "voice": self.secret(npc.voice, own),
            "goals": [self.secret(goal, own) for goal in npc.goals],
        }
        return npc.model_copy(update={"secrets": secrets, **private})

    def session(self, session: Any) -> Any:
        return session.model_copy(
            update={"scenes": [self.scene(scene) for scene in session.scenes]}
        )

    def scene(self, scene: Any) -> Any:
        noted = scene.episode.model_copy(update={"notes": self.secret(scene.episode.notes)})
        return scene.model_copy(update={"episode": noted})


def _marked(demo: DemoWorld) -> DemoWorld:
    marker = Marker()
    marked = {
        "lore": {slug: marker.lore(entry) for slug, entry in demo.lore.items()},
        "npcs": {slug: marker.npc(npc) for slug, npc in demo.npcs.items()},
        "sessions": [marker.session(session) for session in demo.sessions],
    }
    return demo.model_copy(update=marked)


def _add_lore(world: World) -> None:
    campaign = Campaign.objects.filter(world=world).first()
    canon = Lore.objects.filter(world=world, visibility=Visibility.PUBLIC).first()
    shared = {"world": world, "kind": "place", "status": "published"}
    hidden = [
        {
            "title": f"Vault of {MARK}gm900",
            "body": f"The ferry toll is kept in {MARK}gm901.",
            "visibility": "gm",
        },
        {
            "title": "Unwritten Chapter",
            "body": f"A draft of {MARK}gm902.",
            "visibility": "public",
            "status": "draft",
        },
        {
            "title": "Other Bell",
            "body": f"Overlay {MARK}gm903",
            "visibility": "gm",
            "campaign": campaign,
            "overrides": canon,
        },
        {
            "title": "Ferry of Night",
            "body": f"Open words.\n\n:::secret\nA {MARK}gm904 cargo.\n:::\n\nMore open words.",
            "visibility": "public",
        },
        {
            "title": "Lantern Oil",
            "body": f"Made of {MARK}lan905 eels.",
            "visibility": "revealed",
            "known_to": ["party:lanternbearers"],
        },
        {
            "title": f"Dream of {MARK}nuri906",
            "body": f"A gnome dreams of {MARK}nuri907.",
            "visibility": "revealed",
            "known_to": ["character:nuri"],
        },
        {
            "title": "Four Oaths",
            "body": f"Each of them heard of {MARK}each908.",
            "visibility": "revealed",
            "known_to": EACH_LANTERNBEARER,
        },
        {
            "title": "Three Oaths",
            "body": f"One of them did not hear of {MARK}gm909.",
            "visibility": "revealed",
            "known_to": [*EACH_LANTERNBEARER[2:], "character:corvane-ault"],
        },
        {
            "title": "Lantern Wick",
            "body": f"Of {MARK}lan910 hemp.\n\n:::secret character:nuri\nSoaked in {MARK}nuri911."
            f"\n:::\n\n:::secret character:corvane-ault\nStolen from {MARK}gm912.\n:::\n",
            "visibility": "revealed",
            "known_to": ["party:lanternbearers"],
        },
        {
            "title": f"Diary {MARK}nuri913",
            "body": f"Twice.\n\n:::secret party:lanternbearers\n{MARK}nuri914 is signed.\n:::\n",
            "visibility": "revealed",
            "known_to": ["character:nuri"],
        },
    ]
    for number, fields in enumerate(hidden):
        save_entry(Lore(**{**shared, "slug": f"extra-{number}", **fields}))


def _add_scenes_of_characters(world: World) -> None:
    """What one character lived through alone, and what a secret and a fact of it are."""
    party = Party.objects.get(world=world, slug="lanternbearers")
    shared = {
        "world": world,
        "campaign": party.campaign,
        "party": party,
        "visibility": "revealed",
        "known_to": ["character:nuri"],
    }
    scene = Scene.objects.create(**shared, external_id="alone", title=f"Alone {MARK}nuri920")
    Episode.objects.create(
        **shared,
        scene=scene,
        external_id="alone-1",
        what=f"Nuri met {MARK}nuri921.",
        text=f"Nuri met {MARK}nuri921.",
    )
    npc = NPC.objects.filter(world=world, visibility="public").order_by("slug")[0]
    Secret.objects.create(
        world=world,
        npc=npc,
        position=90,
        text=f"Sings to {MARK}nuri922.",
        visibility="revealed",
        known_to=["character:nuri"],
    )
    fact = GraphEdge.objects.believed_now().filter(world=world, visibility="public").earliest("pk")
    GraphEdge.objects.filter(pk=fact.pk).update(
        label=f"{MARK}nuri923", visibility="revealed", known_to=["character:nuri"]
    )


def _add_rules(world: World) -> None:
    house = Document.objects.create(
        slug="house", title="House rules", system=world.system, world=world
    )
    rules = [
        ("grappled", "Grappled", "A grappled creature's speed becomes 0.", "public"),
        ("prone", "Prone", "A prone creature can only crawl.", "public"),
        (
            "drowning",
            f"Drowning {MARK}gm910",
            f"A {MARK}gm911 creature drowns; its speed becomes 0.",
            "gm",
        ),
        ("grappled-twice", "Grappled twice", f"Grappled creatures are {MARK}gm912.", "gm"),
    ]
    save_all(
        [
            Rule(
                key=f"house/{key}",
                document=house,
                world=world,
                title=title,
                body=body,
                visibility=visibility,
            )
            for key, title, body, visibility in rules
        ]
    )


# --- The same world without what an audience may not know
@contextmanager
def no_guards() -> Iterator[None]:
    """Inside a transaction: let rows go that the database's own rules would keep (the ledger is
    append-only).
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        cursor.execute("SET LOCAL session_replication_role = origin")


def remove_hidden(world: World, audience: Audience) -> int:
    """Delete every row of `world` that `audience` may not know of; return how many."""
    with no_guards():
        removed = sum(rows.delete()[0] for rows in _hidden(world, audience))
    refresh_word_counts()
    return removed


def remove_world(world: World) -> None:
    with transaction.atomic(), no_guards():
        world.delete()


def _hidden(world: World, audience: Audience) -> Iterator[QuerySet[Any]]:
    for model in apps.get_models():
        names = {field.name for field in model._meta.get_fields()}
        if model._meta.app_label not in LAYERS or not {"visibility", "world"} <= names:
            continue
        if model.__name__.startswith("Historical"):
            continue
        rows: Any = model._default_manager.filter(world=world)
        if model is FactProposal:
            # For game masters alone; its visibility is that of the fact that it would become.
            yield rows
            continue
        seen = rows.visible_to(audience)
        seen = seen.only_published() if hasattr(seen, "only_published") else seen
        yield rows.exclude(pk__in=list(seen.values_list("pk", flat=True)))
    yield ArtCard.objects.filter(world=world).exclude(moderation="approved")


# --- Questions
@cache
def request_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


class Asker:
    """Makes arguments for any tool from its schema, with words and names that are hidden as often
    as not.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = _names(world)
        self.any_name = sorted(name for names in self.names.values() for name in names)
        texts = [*LorePassage.objects.filter(world=world).values_list("text", flat=True)]
        texts += RulePassage.objects.filter(world=world).values_list("text", flat=True)
        words = sorted(
            {word.strip(".,;:!?\"'()").lower() for text in texts for word in text.split()}
        )
        self.words = [word for word in words if len(word) > 2]
        self.secrets = [word for word in self.words if word.startswith(MARK)]

    def question(self, number: int) -> tuple[Tool, dict[str, Any]]:
        reading = [tool for tool in TOOLS if tool.reads_only]
        tool = reading[number % len(reading)]
        schema = request_schema(tool.request_model)
        return tool, self._object(schema, schema.get("$defs", {}))

    def _object(self, schema: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
        needed = set(schema.get("required", ()))
        chosen = {}
        for name, node in schema.get("properties", {}).items():
            if name in needed or self.random.random() < self._chance(name):
                chosen[name] = self._value(name, node, defs)
        return chosen

    @staticmethod
    def _chance(name: str) -> float:
        usual = {
            "as": 0.04,
            "explain": 0.03,
            # It takes longer than all else that a search does.
            "rerank": 0.05,
            "term": 0.9,
            "query": 0.7,
            "party_id": 0.6,
            "filters": 0.15,
            "expand": 0.5,
        }
        return usual.get(name, 0.2)

    def _value(self, name: str, node: dict[str, Any], defs: dict[str, Any]) -> Any:
        if "$ref" in node:
            node = {
                **defs[node["$ref"].rsplit("/", 1)[-1]],
                **{k: v for k, v in node.items() if k != "$ref"},
            }
        for several in ("anyOf", "oneOf", "allOf"):
            if several in node:
                return self._value(name, self.random.choice(node[several]), defs)
        if "enum" in node:
            return self.random.choice(node["enum"])
        kinds = {
            "string": lambda: self._text(name),
            "integer": lambda: self.random.randint(
                node.get("minimum", 1), min(node.get("maximum", 60), 60_000)
            ),
            "number": lambda: self.random.choice([0.0, 70_000.0, 76_000.5, -1.0]),
            "boolean": lambda: self.random.random() < 0.5,
            "array": lambda: [
                self._value(name, node.get("items", {}), defs)
                for _ in range(self.random.randint(0, 2))
            ],
            "object": lambda: self._object(node, defs),
        }
        return kinds.get(node.get("type", ""), lambda: None)()

    def _text(self, name: str) -> str:
        if name == "as":
            return self.random.choice([*AUDIENCES, "gm", "party:nobody", "npc:jory-fenn"])
        if name in ("fact", "relation"):
            relation = self.random.choice(RELATIONS)
            return (
                relation
                if name == "relation"
                else f"{self._name('node')} {relation} {self._name('node')}"
            )
        if name.endswith(("_id", "subject", "object")) or self.random.random() < 0.35:
            return self._name(name.removesuffix("_id"))
        pools = self.random.choices([self.words, self.secrets], [4, 1], k=self.random.randint(1, 5))
        return " ".join(self.random.choice(pool) for pool in pools)

    def _name(self, kind: str) -> str:
        """A name of that kind of thing, hidden or not; now and then of anything."""
        fitting = self.names.get(KINDS.get(kind, kind), self.any_name)
        return self.random.choice(fitting if self.random.random() < 0.85 else self.any_name)


def _names(world: World) -> dict[str, list[str]]:
    """Return ids, slugs and names of the rows of `world`, by the name of their model."""
    found: dict[str, list[str]] = {}
    for model in apps.get_models():
        fields = {field.name for field in model._meta.get_fields() if field.concrete}
        if model._meta.app_label not in LAYERS | {"worlds"} or "world" not in fields:
            continue
        wanted = [
            name for name in ("slug", "title", "name", "external_id", "key") if name in fields
        ]
        rows = (
            model._default_manager.filter(world=world)
            .order_by("pk")
            .values_list("pk", *wanted)[:200]
        )
        found[str(model._meta.model_name)] = [str(value) for row in rows for value in row if value]
    return {kind: names for kind, names in found.items() if names}
