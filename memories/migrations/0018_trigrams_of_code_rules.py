"""An index by which code rules of like names are found."""

from django.db import migrations

# Not in Meta: an installation may lack pg_trgm, and then nothing is indexed.
CREATE = """
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX idx_code_rules_name_trigrams ON memory_code_rules USING gin (name gin_trgm_ops);
  END IF;
END $$;
"""
DROP = "DROP INDEX IF EXISTS idx_code_rules_name_trigrams;"


class Migration(migrations.Migration):
    dependencies = [("memories", "0017_trigrams_of_records")]

    operations = [migrations.RunSQL(CREATE, DROP)]
