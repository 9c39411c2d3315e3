"""The values of rows before and after an import: for the undo, and to tell what has changed
since."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from knowledge.entry_store import LORE_FIELDS, RULE_FIELDS
from knowledge.graph.fact_store import STATEMENT_FIELDS
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.upsert import NODE_FIELDS
from knowledge.models import Lore, Rule
from npcs.models import NPC
from npcs.upsert import versioned_fields

Values = dict[str, Any]
_META: Any = Lore._meta
LORE_COLUMNS = [_META.get_field(name).attname for name in LORE_FIELDS]
_RULE_META: Any = Rule._meta
RULE_COLUMNS = [_RULE_META.get_field(name).attname for name in RULE_FIELDS]


def _columns(*names: str) -> Callable[[Any], Values]:
    return lambda row: {name: getattr(row, name) for name in names}


def _npc_values(npc: NPC) -> Values:
    # Sorted here: the secrets of many NPCs are loaded at once.
    secrets = sorted(npc.secrets.all(), key=lambda each: each.position)
    return {**versioned_fields(npc), "secrets": [[each.text, each.known_to] for each in secrets]}


VALUES: Mapping[str, Callable[[Any], Values]] = {
    "lore": _columns(*LORE_COLUMNS),
    "rule": _columns(*RULE_COLUMNS),
    "npc": _npc_values,
    "entity": _columns(*NODE_FIELDS),
    "relation": _columns(*STATEMENT_FIELDS, "believed_until"),
    "picture": _columns("picture_id", "lore_id", "npc_id", "is_portrait", "removed_at"),
}
"""What is kept of a row of each kind."""

MODELS: Mapping[str, Any] = {
    "lore": Lore,
    "rule": Rule,
    "npc": NPC,
    "entity": GraphNode,
    "relation": GraphEdge,
}
LOADED_WITH: Mapping[str, tuple[str, ...]] = {"npc": ("secrets",)}
"""Rows of others that the values are made of."""


def values_of(kind: str, row: Any) -> Values:
    """Return the values of a row as JSON holds them."""
    values: Values = json.loads(json.dumps(VALUES[kind](row), cls=DjangoJSONEncoder))
    return values


def mark_of(values: Values) -> str:
    """A digest of values: equal marks mean that nothing was changed in between."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
