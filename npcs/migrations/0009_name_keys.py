import django.contrib.postgres.indexes
from django.db import migrations, models

import knowledge.graph.models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0024_keys_of_whole_names"),
        ("npcs", "0008_changes_by_hand"),
    ]

    operations = [
        migrations.AddField(
            model_name="npc",
            name="name_keys",
            field=knowledge.graph.models.NameKeysField(
                base_field=models.CharField(max_length=16), default=list, editable=False, size=None
            ),
        ),
        migrations.AddIndex(
            model_name="npc",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["name_keys"], name="npc_name_keys"
            ),
        ),
    ]
