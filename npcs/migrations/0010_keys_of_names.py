"""NPCs get the keys by which their names are found."""

from typing import Any

from django.db import migrations

from retrieval.text import name_keys
from worlds.stored_names import replace_name_keys


def store_keys(apps: Any, _editor: Any) -> None:
    model = apps.get_model("npcs", "NPC")
    rows = model._base_manager.values_list("pk", "name", "aliases").iterator()
    replace_name_keys(model, ((pk, name_keys(name, *aliases)) for pk, name, aliases in rows))


class Migration(migrations.Migration):
    dependencies = [("npcs", "0009_name_keys")]

    operations = [migrations.RunPython(store_keys, migrations.RunPython.noop, elidable=True)]
