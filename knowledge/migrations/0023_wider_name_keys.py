import django.contrib.postgres.fields
from django.db import migrations, models

import knowledge.graph.models


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0022_facts_as_written")]

    operations = [
        migrations.AlterField(
            model_name="graphnode",
            name="keys",
            field=knowledge.graph.models.NameKeysField(
                base_field=models.CharField(max_length=16), default=list, editable=False, size=None
            ),
        ),
    ]
