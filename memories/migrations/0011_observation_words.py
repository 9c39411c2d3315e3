"""Observations are found by their words. The configuration `russian` reads English words, too
(decision 0011); what is beyond 100,000 characters is not indexed: a tsvector has at most 1 MB."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memories", "0010_link_turns")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX memory_observation_words ON memories_observation "
            "USING gin (to_tsvector('russian', left(text, 100000)))",
            "DROP INDEX memory_observation_words",
        )
    ]
