"""The parts of names in quotation marks get keys of their own."""

from typing import Any

from django.db import migrations

from retrieval.text import name_keys, quoted_names
from worlds.stored_names import replace_name_keys


def store_keys(apps: Any, _editor: Any) -> None:
    model = apps.get_model("npcs", "NPC")
    rows = model._base_manager.values_list("pk", "name", "aliases").iterator()
    keys = (
        (pk, name_keys(name, *aliases))
        for pk, name, aliases in rows
        if any(map(quoted_names, (name, *aliases)))
    )
    replace_name_keys(model, keys)


class Migration(migrations.Migration):
    dependencies = [("npcs", "0010_keys_of_names")]

    operations = [migrations.RunPython(store_keys, migrations.RunPython.noop, elidable=True)]
