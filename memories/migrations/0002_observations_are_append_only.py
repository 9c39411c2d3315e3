"""Observations never change: the database refuses edits, and deletes outside a deletion for good."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION memories_observations_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'observations are append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Add what is right, or erase it for good with a receipt.';
END $$;
CREATE TRIGGER memories_observations_are_append_only BEFORE UPDATE OR DELETE ON memories_observation
  FOR EACH ROW EXECUTE FUNCTION memories_observations_are_append_only();
"""

BACKWARD = """
DROP TRIGGER memories_observations_are_append_only ON memories_observation;
DROP FUNCTION memories_observations_are_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_agent_memory")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
