from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models

from memories.similarity.own_names import own_name_keys
from worlds.stored_names import replace_name_keys


def fill_keys(apps, schema_editor):
    """Of memories with a subject, with names in their metadata, or that begin with an identifier."""
    model = apps.get_model("memories", "MemoryItem")
    rows = model.objects.exclude(subject="") | model.objects.filter(metadata__has_key="names")
    rows |= model.objects.filter(text__regex=r"^[a-z0-9]+_[a-z0-9_]+\s")
    columns = rows.values_list("pk", "text", "subject", "metadata")
    replace_name_keys(
        model, ((pk, own_name_keys(*about)) for pk, *about in columns.iterator(chunk_size=500))
    )


class Migration(migrations.Migration):

    dependencies = [("memories", "0012_witnesses")]

    operations = [
        migrations.AddField(
            model_name="memoryitem",
            name="name_keys",
            field=ArrayField(
                base_field=models.CharField(max_length=16),
                db_default=[],
                default=list,
                editable=False,
                help_text="Keys of the names of what it is about; computed.",
                size=None,
            ),
        ),
        migrations.RunPython(fill_keys, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="memoryitem",
            index=GinIndex(
                condition=models.Q(("name_keys", []), _negated=True),
                fields=["name_keys"],
                name="memory_name_keys",
            ),
        ),
    ]
