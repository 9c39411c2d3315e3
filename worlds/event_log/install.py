"""The triggers that write the event log: installed after `migrate`, as every table is declared by
an `EventSource`. No writer has to think of the log, and none can forget it.

A statement writes the events of all its rows at once. At the commit each event gets its position
under a lock of its world, which is held until the transaction has ended: positions are the order
of commits (docs/decisions/0054).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

POSITION = Path(__file__).parent / "position.sql"


@dataclass(frozen=True)
class EventSource:
    """How the rows of a table become events. The texts are SQL over a row `r`, of one line.

    `model` is its label. `ref` is what the API calls the row; `world`, `campaign`, `version`,
    `visibility` and `known_to` are columns or expressions. `exists` is false for a row that is in
    the trash or retracted: its event is a deletion. `player_text` is what players can read of the
    row, and `prose` a text that they can read but for its secret blocks; null: no change of it is
    told to them. Nor is any change of a text with a block, because it may be one of the block."""

    kind: str
    model: str
    ref: str
    world: str = "r.world_id"
    campaign: str = "NULL"
    version: str = "NULL"
    visibility: str = "'gm'"
    known_to: str = "'[]'"
    exists: str = "true"
    player_text: str = "NULL"
    prose: str = "NULL"


ROW = """
SELECT r.id::text AS row_id, ({ref})::text AS ref, ({world})::uuid AS world_id,
  ({campaign})::uuid AS campaign_id, ({version})::int AS version,
  ({visibility})::text AS visibility, ({known_to})::jsonb AS known_to,
  md5(ROW({columns})::text) AS state, ({player_text})::text AS player_text,
  ({prose})::text AS prose
FROM {rows} AS r WHERE {exists}
"""

INSERT = """
INSERT INTO worlds_event (id, world_id, campaign_id, at, kind, action, row_id, ref, version,
  visibility, known_to, was_visibility, was_known_to, seen_change)
SELECT gen_random_uuid(), world_id, campaign_id, clock_timestamp(), '{kind}', action, row_id, ref,
  version, visibility, known_to, was_visibility, was_known_to, seen_change
"""

FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    {insert}
    FROM (
      SELECT after.*, 'created' AS action, '' AS was_visibility, '[]'::jsonb AS was_known_to,
        true AS seen_change
      FROM ({new}) AS after) AS event WHERE world_id IS NOT NULL;
  ELSIF TG_OP = 'DELETE' THEN
    {insert}
    FROM (
      SELECT before.row_id, before.ref, before.world_id, before.campaign_id, before.version,
        'deleted' AS action, '' AS visibility, '[]'::jsonb AS known_to,
        before.visibility AS was_visibility, before.known_to AS was_known_to, true AS seen_change
      FROM ({old}) AS before) AS event WHERE world_id IS NOT NULL;
  ELSE
    {insert}
    FROM (
      SELECT row_id, coalesce(after.ref, before.ref) AS ref,
        coalesce(after.world_id, before.world_id) AS world_id,
        coalesce(after.campaign_id, before.campaign_id) AS campaign_id,
        coalesce(after.version, before.version) AS version,
        CASE WHEN before.ref IS NULL THEN 'created' WHEN after.ref IS NULL THEN 'deleted'
          ELSE 'changed' END AS action,
        coalesce(after.visibility, '') AS visibility, coalesce(after.known_to, '[]') AS known_to,
        coalesce(before.visibility, '') AS was_visibility,
        coalesce(before.known_to, '[]') AS was_known_to,
        coalesce(after.player_text <> before.player_text, false)
          OR coalesce(after.prose <> before.prose AND position(':::' IN before.prose) = 0
            AND position(':::' IN after.prose) = 0, false) AS seen_change
      FROM ({new}) AS after FULL JOIN ({old}) AS before USING (row_id)
      WHERE after.state IS DISTINCT FROM before.state
        OR after.known_to IS DISTINCT FROM before.known_to
        OR after.visibility IS DISTINCT FROM before.visibility) AS event WHERE world_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$
"""

TRIGGERS = {
    "INSERT": "REFERENCING NEW TABLE AS new_rows",
    "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "REFERENCING OLD TABLE AS old_rows",
}
TRIGGER = """
CREATE TRIGGER {name}_{suffix} AFTER {event} ON {table} {tables}
FOR EACH STATEMENT EXECUTE FUNCTION {name}()
"""
BOOKKEEPING = {
    *("created_at", "updated_at", "deleted_by", "trash_data", "known_to", "visibility"),
    # What is computed from a passage's text.
    *("embedding", "embedding_model", "search_vector", "word_count", "rev", "embedded_rev"),
    *("embed_tries", "embed_after", "embed_error", "surroundings", "name_keys"),
}
"""Columns whose change is no change of the row."""


def install_event_log(connection: BaseDatabaseWrapper, sources: Iterable[EventSource]) -> None:
    """Install the functions, and the triggers of the tables of `sources`. Idempotent: what is there
    as it should be is left alone, because a new trigger waits for all writers of its table."""
    with connection.cursor() as cursor:
        for statement in POSITION.read_text().split(";;"):
            cursor.execute(statement)
        for source in sources:
            table = apps.get_model(source.model)._meta.db_table
            name = f"memory37_event_{table}"
            cursor.execute(function_of(source, name))
            for event, tables in TRIGGERS.items():
                cursor.execute(HAS_TRIGGER, [f"{name}_{event.lower()}", table])
                if cursor.fetchone() is None:
                    values = {"name": name, "event": event, "table": table, "tables": tables}
                    cursor.execute(TRIGGER.format(suffix=event.lower(), **values))


HAS_TRIGGER = "SELECT FROM pg_trigger WHERE tgname = %s AND tgrelid = %s::regclass"


def function_of(source: EventSource, name: str) -> str:
    """Return the statement that creates the trigger function."""
    fields = apps.get_model(source.model)._meta.concrete_fields
    columns = ", ".join(f'r."{each.column}"' for each in fields if each.name not in BOOKKEEPING)
    expressions = {
        part.name: getattr(source, part.name)
        for part in dataclass_fields(source)
        if part.name not in ("kind", "model")
    }
    rows = {
        which: ROW.format(rows=f"{which}_rows", columns=columns, **expressions)
        for which in ("new", "old")
    }
    insert = INSERT.format(kind=source.kind)
    return FUNCTION.format(name=name, insert=insert, **rows)
