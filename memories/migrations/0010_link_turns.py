"""Link the turns that are stored already, as `memories.ledger.turns` links new ones."""

from django.db import migrations

PLACE = "UPDATE memories_memoryitem SET turn_order = timestamp_ms WHERE speaker <> ''"
LINK = """
UPDATE {table} AS turn
SET previous_turn = placed.before_id, surroundings = left(placed.before_text, 1000)
FROM (
    SELECT id, lag(id) OVER w AS before_id, lag(text) OVER w AS before_text, {pause} AS pause
    FROM {table} WHERE {is_turn}
    WINDOW w AS (PARTITION BY namespace_id, {conversation} ORDER BY {order}, id)
) AS placed
WHERE turn.id = placed.id
  AND placed.pause BETWEEN -interval '12 hours' AND interval '12 hours'
"""
MEMORIES = LINK.format(
    table="memories_memoryitem",
    conversation="source",
    order="turn_order",
    is_turn="turn_order IS NOT NULL AND state = 'active'",
    pause="coalesce(event_at - lag(event_at) OVER w,"
    " (turn_order - lag(turn_order) OVER w) * interval '1 millisecond')",
)
MESSAGES = LINK.format(
    table="memories_message",
    conversation="conversation",
    order="said_at",
    is_turn="true",
    pause="said_at - lag(said_at) OVER w",
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0009_turns_of_conversations")]

    operations = [
        migrations.RunSQL([PLACE, MEMORIES, MESSAGES], reverse_sql=migrations.RunSQL.noop)
    ]
