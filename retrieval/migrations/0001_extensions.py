"""pgvector is needed; the others make some things faster and may be missing."""

from typing import ClassVar

from django.db import migrations
from pgvector.django import VectorExtension

OPTIONAL = """
DO $$
DECLARE wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['pg_trgm', 'unaccent', 'btree_gin', 'pg_stat_statements'] LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE 'extension % is not available', wanted;
    END;
  END LOOP;
END $$
"""


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = []
    operations: ClassVar[list[migrations.operations.base.Operation]] = [
        VectorExtension(),
        migrations.RunSQL(OPTIONAL, migrations.RunSQL.noop),
    ]
