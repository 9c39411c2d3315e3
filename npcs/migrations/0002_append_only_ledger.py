"""The ledger of dispositions is append-only: the database refuses edits, and deletes outside a deletion for good."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION npcs_ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger of dispositions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
CREATE TRIGGER npcs_ledger_is_append_only BEFORE UPDATE OR DELETE ON npcs_dispositionchange
  FOR EACH ROW EXECUTE FUNCTION npcs_ledger_is_append_only();
"""

BACKWARD = """
DROP TRIGGER npcs_ledger_is_append_only ON npcs_dispositionchange;
DROP FUNCTION npcs_ledger_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("npcs", "0001_npcs_and_dispositions")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
