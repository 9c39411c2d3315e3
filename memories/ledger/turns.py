"""The turn before each turn of a conversation: its id, and its text as `surroundings`.

A turn is a message, or a memory with a speaker or a context. Its conversation is that of the
message or the source of the memory, within one namespace. The first turn after a long pause has no
turn before it, and a memory that is out of use stands before no other.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F

from memories.models import MemoryItem, Message, Namespace
from memories.states import State

MAX_PAUSE = timedelta(hours=12)
MAX_SURROUNDINGS = 1_000
"""Characters of the turn before by which a turn is found."""

LINK = """
UPDATE {table} AS linked
SET previous_turn = before.id, surroundings = coalesce(left(before.text, %(most)s), '')
FROM {table} AS turn
LEFT JOIN LATERAL (
    SELECT earlier.* FROM {table} AS earlier
    WHERE earlier.namespace_id = turn.namespace_id AND earlier.{in_use}
      AND earlier.{conversation} = turn.{conversation}
      AND (earlier.{order}, earlier.id) < (turn.{order}, turn.id)
    ORDER BY earlier.{order} DESC, earlier.id DESC LIMIT 1
) AS before ON {pause} BETWEEN -%(pause)s AND %(pause)s
WHERE linked.id = turn.id AND turn.{order} IS NOT NULL AND {chosen}
  AND (linked.previous_turn, linked.surroundings)
    IS DISTINCT FROM (before.id, coalesce(left(before.text, %(most)s), ''))
"""
AFTER = """
SELECT following.id FROM {table} AS turn
CROSS JOIN LATERAL (
    SELECT later.id FROM {table} AS later
    WHERE later.namespace_id = turn.namespace_id AND later.{in_use}
      AND later.{conversation} = turn.{conversation}
      AND (later.{order}, later.id) > (turn.{order}, turn.id)
    ORDER BY later.{order}, later.id LIMIT 1
) AS following
WHERE turn.id = ANY(%(ids)s)
UNION
SELECT id FROM {table} WHERE previous_turn = ANY(%(ids)s)
"""
NAMES: dict[type[Any], dict[str, str]] = {
    MemoryItem: {
        "table": "memories_memoryitem",
        "order": "turn_order",
        "conversation": "source",
        "in_use": "state = 'active'",
        # Unless both say when they happened, the times of recording are compared.
        "pause": "coalesce(turn.event_at - before.event_at,"
        " (turn.turn_order - before.turn_order) * interval '1 millisecond')",
    },
    Message: {
        "table": "memories_message",
        "order": "said_at",
        "conversation": "conversation",
        "in_use": "id IS NOT NULL",
        "pause": "turn.said_at - before.said_at",
    },
}
"""What the statements are composed of, by model."""


@dataclass(frozen=True)
class NewTurn:
    """A memory to insert that is a turn; `order` places it in its conversation."""

    id: UUID
    text: str
    conversation: str
    order: int
    event_at: datetime | None
    is_in_use: bool

    @property
    def surroundings(self) -> str:
        """What the turn after this one has as its surroundings."""
        return self.text[:MAX_SURROUNDINGS]

    def is_close_to(self, other: "NewTurn") -> bool:
        if self.event_at and other.event_at:
            return abs(self.event_at - other.event_at) <= MAX_PAUSE
        return abs(timedelta(milliseconds=self.order - other.order)) <= MAX_PAUSE


def turns_before(namespace: Namespace, turns: Iterable[NewTurn]) -> dict[UUID, NewTurn]:
    """Return the turn before each of `turns`, which are at the ends of their conversations."""
    turns = list(turns)
    last_turns = _last_turns(namespace, {turn.conversation for turn in turns}) if turns else {}
    before: dict[UUID, NewTurn] = {}
    for turn in turns:
        last = last_turns.get(turn.conversation)
        if last and turn.is_close_to(last):
            before[turn.id] = last
        if turn.is_in_use:
            last_turns[turn.conversation] = turn
    return before


def _last_turns(namespace: Namespace, conversations: Collection[str]) -> dict[str, NewTurn]:
    rows = MemoryItem.objects.of(namespace).filter(turn_order__isnull=False, state=State.ACTIVE)
    last = {}
    for conversation in conversations:
        latest = rows.filter(source=conversation).order_by("-turn_order", "-pk")
        row = latest.only("text", "source", "turn_order", "event_at").first()
        if row:
            last[conversation] = NewTurn(
                row.pk, row.text, row.source, row.turn_order, row.event_at, is_in_use=True
            )
    return last


def link_changed_turns(model: type[Any], ids: Collection[UUID]) -> None:
    """Find again the turn before each of `ids`, which came into use or left it, and before the
    turns that come after them."""
    if ids:
        link_turns(model, {*ids, *turns_after(model, ids)})


def turns_after(model: type[Any], ids: Collection[UUID]) -> list[UUID]:
    """Return the turns that come next after each of `ids`, and those for which one of `ids` is the
    turn before."""
    with connection.cursor() as cursor:
        cursor.execute(AFTER.format(**NAMES[model]), {"ids": list(ids)})
        return [pk for (pk,) in cursor.fetchall()]


def link_turns(model: type[Any], ids: Collection[UUID]) -> None:
    """Find the turn before each of `ids`; what is no turn is left alone."""
    if ids:
        _link(model, "turn.id = ANY(%(chosen)s)", list(ids))


def link_namespace(namespace: Namespace) -> None:
    """Find the turn before each turn of `namespace`, after rows came in by another way than a
    commit."""
    unplaced = MemoryItem.objects.of(namespace).filter(turn_order=None).exclude(speaker="")
    unplaced.update(turn_order=F("timestamp_ms"))
    for model in NAMES:
        _link(model, "turn.namespace_id = %(chosen)s", namespace.pk)


def _link(model: type[Any], chosen: str, values: object) -> None:
    statement = LINK.format(**NAMES[model], chosen=chosen)
    parameters: dict[str, Any] = {"chosen": values, "most": MAX_SURROUNDINGS, "pause": MAX_PAUSE}
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
