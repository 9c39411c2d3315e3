"""Indexes by which errors are looked up among the records of coding agents."""

from django.db import migrations

# Not in Meta: an installation may lack pg_trgm, and then nothing is indexed.
CREATE = """
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX memory_record_text_trigrams ON memories_memoryitem
      USING gin (text gin_trgm_ops) WHERE payload ? 'kind';
    CREATE INDEX memory_record_error_trigrams ON memories_memoryitem
      USING gin ((payload #>> '{episode,errors}') gin_trgm_ops) WHERE payload ? 'kind';
  END IF;
END $$;
"""
DROP = """
DROP INDEX IF EXISTS memory_record_text_trigrams;
DROP INDEX IF EXISTS memory_record_error_trigrams;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_states_of_code_rules")]

    operations = [migrations.RunSQL(CREATE, DROP)]
