"""Rows of every model of a world, with values that hypothesis draws for every column.

A model that is new gets rows by the types of its columns; only what a constraint asks for is said
in `CHOICES`. Rows go into the database as they are, past the services, so that anything that a
column can hold is there.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import models
from hypothesis import strategies as st
from pgvector.django import VectorField

from knowledge.graph.contradiction_models import ConflictRule
from knowledge.graph.models import GraphRelation, NodeKind
from knowledge.models import Document, Rule
from memory_site.archive.inventory import ARCHIVED, Table
from tests import cast
from tests.art.image_samples import image_bytes
from worlds.models import GameSystem, World

Row = Any
TEXTS = st.text(
    st.sampled_from("ab Жя 가나 é \"'\\\n\t{}[]|😀\u200d\u2028null"), min_size=1, max_size=12
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXTS | st.floats(-1e300, 1e300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
TIMES = st.datetimes(
    datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC), allow_imaginary=False
)
BY_TYPE: list[tuple[type[Any], Callable[[Any], Any]]] = [
    (models.UUIDField, lambda _field: st.builds(uuid4)),
    (models.BooleanField, lambda _field: st.booleans()),
    (models.PositiveSmallIntegerField, lambda _field: st.integers(0, 30_000)),
    (models.SmallIntegerField, lambda _field: st.integers(-100, 100)),
    (models.PositiveBigIntegerField, lambda _field: st.integers(0, 2**60)),
    (models.PositiveIntegerField, lambda _field: st.integers(0, 2**31 - 1)),
    (models.BigIntegerField, lambda _field: st.integers(-(2**60), 2**60)),
    (models.FloatField, lambda _field: st.floats(0, 1)),
    (models.DateTimeField, lambda _field: TIMES),
    (models.DateField, lambda _field: st.dates()),
    (models.JSONField, lambda field: json_like(field)),
    (VectorField, lambda _field: st.lists(st.floats(-2, 2, width=32), min_size=3, max_size=3)),
    (models.TextField, lambda _field: TEXTS),
    (models.CharField, lambda field: TEXTS.map(lambda text: text[: field.max_length])),
]
UNIQUE_TEXTS = ("slug", "external_id", "key", "sha256", "name", "step_id", "path")
UNIQUE_NUMBERS = ("number", "position")
ONE_OF_A_WORLD = {"npcs.DispositionRules"}


def json_like(field: Any) -> Any:
    """Lists where the default is one, so that the code that reads them after a restore can."""
    empty = field.get_default()
    if isinstance(empty, list):
        return st.lists(TEXTS, max_size=3)
    if isinstance(empty, dict):
        return st.dictionaries(TEXTS, JSON, max_size=3)
    return JSON.filter(lambda value: value is not None)  # Django would store NULL


class GeneratedWorld:
    """A world with `rows_each` rows of every archived model."""

    def __init__(self, draw: Callable[[Any], Any], *, rows_each: int = 2) -> None:
        self.draw, self.rows_each = draw, rows_each
        self.numbers = count(1)
        self.rows: dict[str, list[Row]] = {}
        self.users = [
            User.objects.get_or_create(username=name)[0] for name in ("дизайнер", "игрок", "지기")
        ]
        self.world = cast.create_world(slug="generated", name=draw(TEXTS))
        self.rows["worlds.World"] = [self.world]
        self.relation = GraphRelation.objects.get(code="RELATES_TO")
        for label, path in ARCHIVED.items():
            if label != "worlds.World":
                model = Table(label, path).model
                number = 1 if label in ONE_OF_A_WORLD else rows_each
                rows = [self.make(label, model, place) for place in range(number)]
                self.rows[label] = model._base_manager.bulk_create(rows)

    def make(self, label: str, model: type[models.Model], place: int) -> Row:
        chosen = CHOICES.get(label, lambda _world, _place: {})(self, place)
        hidden = {field.name for field in Table(label, "").hidden_fields}
        values = {}
        for field in model._meta.concrete_fields:
            is_made = field.primary_key or field.name in hidden
            if field.name in chosen:
                values[field.name] = chosen[field.name]
            elif not is_made or field.remote_field:
                values[field.attname] = self.value(field, label, place)
        return model(**values)

    def value(self, field: Any, label: str, place: int) -> Any:
        if field.related_model:
            return self.reference(field, label, place)
        if field.choices:
            return self.draw(st.sampled_from([value for value, _label in field.flatchoices]))
        if field.null and self.draw(st.booleans()):
            return None
        if field.name in UNIQUE_TEXTS:
            return f"{field.name}-{next(self.numbers)}"
        if field.name in UNIQUE_NUMBERS:
            return next(self.numbers)
        if isinstance(field, ArrayField):
            return self.draw(st.lists(strategy_of(field.base_field), max_size=3))
        return self.draw(strategy_of(field))

    def reference(self, field: Any, label: str, place: int) -> Any:
        """The key of the row in the same place; of the one before for a row of its own model."""
        target = field.related_model._meta.label
        if field.related_model is User:
            return self.users[place % len(self.users)].pk
        if field.related_model is GameSystem:
            return self.world.system_id
        if target == label:
            return None
        if target == "knowledge.GraphRelation":
            return self.relation.pk
        return self.rows[target][place % len(self.rows[target])].pk

    def pick(self, label: str, place: int) -> Row:
        return self.rows[label][place % len(self.rows[label])]


def strategy_of(field: Any) -> Any:
    return next(make(field) for kind, make in BY_TYPE if isinstance(field, kind))


# --- what constraints ask for


def membership(_world: GeneratedWorld, place: int) -> dict[str, Any]:
    role = ("designer", "gm", "player")[place % 3]
    return {"role": role, "party": None, "character": None}


def house_rule(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    """The first replaces a rule of all worlds, the others stand by themselves."""
    if place:
        return {"campaign": None, "overrides": None}
    system = generated.world.system
    document, _new = Document.objects.get_or_create(system=system, slug="shared", world=None)
    shared, _new = Rule.objects.get_or_create(document=document, key="shared/rule", world=None)
    return {"campaign": None, "overrides": shared}


def lore(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    """Of an own kind, with a campaign, and the second in the trash."""
    body = f"{generated.draw(TEXTS)} [[{generated.draw(TEXTS)}]]"
    ends = generated.draw(st.none() | st.floats(2, 3))
    trash = {"deleted_at": generated.draw(TIMES) if place else None}
    return {"kind": "custom", "overrides": None, "body": body, "in_world_until": ends, **trash}


def fact(_generated: GeneratedWorld, _place: int) -> dict[str, Any]:
    return {"since": None}


def edge(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    one, other = (
        generated.pick("knowledge.GraphNode", place),
        generated.pick("knowledge.GraphNode", place + 1),
    )
    kinds = {"src_kind": one.kind, "dst_kind": other.kind}
    return {"src": one, "dst": other, **kinds, "since": None}


def contradiction(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    rule, _new = ConflictRule.objects.get_or_create(
        code="drawn", form="single", relation=generated.relation, says="One at a time."
    )
    edges = generated.rows["knowledge.GraphEdge"]
    if place % 2:
        return {"rule": rule, "second": None}
    return {"rule": rule, "second": edges[(place + 1) % len(edges)], "ended": None}


def ruling(_generated: GeneratedWorld, place: int) -> dict[str, Any]:
    """Changes of episodes and by hand; a ruling needs a change that is stored."""
    kind = ("episode", "correction")[place % 2]
    values = {"kind": kind, "delta": place + 1, "about": None, "episode_version": 1}
    return {**values, "cause": None, "rule": ""}


def disposition_rules(_generated: GeneratedWorld, _place: int) -> dict[str, Any]:
    return {"kin": 50, "ally": 25, "enemy": 0, "member": 100}


def opinion(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    """A consequence for a standing, and what an episode changed between two NPCs."""
    if place % 2:
        other = generated.pick("npcs.NPC", place + 1)
        values: dict[str, Any] = {"kind": "episode", "cause": None, "rule": "", "delta": 7}
        return {**values, "faction": None, "party": None, "other": other, "episode_version": 1}
    values = {"kind": "consequence", "rule": "member", "episode": None, "episode_version": None}
    return {**values, "npc": None, "other": None, "delta": -7}


def merge(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    return {
        "merged": generated.pick("npcs.NPC", place + 1),
        "undone_at": generated.draw(TIMES),
        "moved": {"facts": [str(generated.pick("knowledge.GraphEdge", place).pk)]},
    }


def merged_entry(_generated: GeneratedWorld, place: int) -> dict[str, Any]:
    return {"opinion": None, "side": "npc"} if place % 2 else {"change": None, "side": "other"}


def picture(generated: GeneratedWorld, _place: int) -> dict[str, Any]:
    key = uuid4()
    names = {}
    for size in ("file", "preview", "thumbnail"):
        name = f"pictures/{generated.world.pk}/{key}/{size}.webp"
        colour = generated.draw(st.tuples(*[st.integers(0, 255)] * 3))
        content = image_bytes("WEBP", colour=colour)
        names[size] = default_storage.save(name, ContentFile(content))
    return {"id": key, "content_type": "image/webp", **names}


def picture_use(_generated: GeneratedWorld, place: int) -> dict[str, Any]:
    return {"npc": None} if place % 2 else {"lore": None}


def succession(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    return {"newer": generated.pick("memories.MemoryItem", place + 1)}


def reflection(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    return {"done_at": generated.draw(TIMES) if place else None}


def decision_effect(generated: GeneratedWorld, place: int) -> dict[str, Any]:
    """On a fact, or on the end of an entity."""
    if place % 2:
        return {"node": None, "until": None, "fact": generated.pick("knowledge.GraphEdge", place)}
    return {
        "fact": None,
        "became": None,
        "node": generated.pick("knowledge.GraphNode", place),
        "until": 5.0,
    }


def passage(_generated: GeneratedWorld, place: int) -> dict[str, Any]:
    pictures: list[UUID] = [uuid4()]
    return {"pictures": pictures, "position": place}


CHOICES: dict[str, Callable[[GeneratedWorld, int], dict[str, Any]]] = {
    "worlds.Membership": membership,
    "knowledge.Rule": house_rule,
    "knowledge.Lore": lore,
    "knowledge.LorePassage": passage,
    "knowledge.GraphNode": lambda generated, place: {
        "kind": list(NodeKind)[place % len(NodeKind)],
        **fact(generated, place),
    },
    "knowledge.GraphEdge": edge,
    "knowledge.Contradiction": contradiction,
    "knowledge.DecisionEffect": decision_effect,
    "npcs.DispositionChange": ruling,
    "npcs.DispositionRules": disposition_rules,
    "npcs.OpinionChange": opinion,
    "npcs.NPCMerge": merge,
    "npcs.MergedEntry": merged_entry,
    "npcs.NPC": lambda _generated, _place: {"half_life": None},
    "art.Picture": picture,
    "art.PictureUse": picture_use,
    "memories.Succession": succession,
    "memories.Reflection": reflection,
    "memories.MemoryItem": lambda generated, _place: {
        "importance": generated.draw(st.floats(0, 1))
    },
    "memories.Hearsay": lambda generated, _place: {"sureness": generated.draw(st.floats(0.01, 1))},
    "memories.Tombstone": lambda _generated, _place: {"id": uuid4()},
    "worlds.ImportRun": lambda _generated, _place: {"file": ""},
}


def delete_generated_files(world: World) -> None:
    folder = f"pictures/{world.pk}"
    if not default_storage.exists(folder):
        return
    for key in default_storage.listdir(folder)[0]:
        for name in default_storage.listdir(f"{folder}/{key}")[1]:
            default_storage.delete(f"{folder}/{key}/{name}")
