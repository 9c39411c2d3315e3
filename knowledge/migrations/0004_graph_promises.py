"""What Django cannot declare: an edge joins nodes of its own world, of kinds its relation allows; and the outbox."""

from django.db import migrations

KEYS = """
ALTER TABLE knowledge_graphedge
    ADD CONSTRAINT edge_src_in_world FOREIGN KEY (world_id, src_id, src_kind)
        REFERENCES knowledge_graphnode (world_id, id, kind) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT edge_dst_in_world FOREIGN KEY (world_id, dst_id, dst_kind)
        REFERENCES knowledge_graphnode (world_id, id, kind) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT edge_kinds_allowed FOREIGN KEY (relation_id, src_kind, dst_kind)
        REFERENCES knowledge_graphjoin (relation_id, src_kind, dst_kind) DEFERRABLE INITIALLY DEFERRED;
"""
NO_KEYS = """
ALTER TABLE knowledge_graphedge
    DROP CONSTRAINT edge_src_in_world, DROP CONSTRAINT edge_dst_in_world, DROP CONSTRAINT edge_kinds_allowed;
"""
OUTBOX = """
CREATE FUNCTION knowledge_graph_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM knowledge_graphmirror) THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'knowledge_graphnode' THEN
        INSERT INTO knowledge_graphoutbox (world_id, node_id) SELECT world_id, id FROM changed;
    ELSE
        INSERT INTO knowledge_graphoutbox (world_id, edge_id) SELECT world_id, id FROM changed;
    END IF;
    RETURN NULL;
END $$;
"""
TRIGGER = """
CREATE TRIGGER graph_outbox_{event} AFTER {event} ON {table}
    REFERENCING {which} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION knowledge_graph_outbox();
"""
TABLES = ("knowledge_graphnode", "knowledge_graphedge")
EVENTS = {"insert": "NEW", "update": "NEW", "delete": "OLD"}


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0003_graph")]

    operations = [
        migrations.RunSQL(KEYS, NO_KEYS),
        migrations.RunSQL(OUTBOX, "DROP FUNCTION knowledge_graph_outbox() CASCADE"),
        *[
            migrations.RunSQL(
                TRIGGER.format(table=table, event=event, which=which),
                f"DROP TRIGGER IF EXISTS graph_outbox_{event} ON {table}",
            )
            for table in TABLES
            for event, which in EVENTS.items()
        ],
    ]
