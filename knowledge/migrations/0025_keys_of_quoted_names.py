"""The parts of names in quotation marks get keys of their own."""

from typing import Any

from django.db import migrations

from retrieval.text import name_keys, quoted_names
from worlds.stored_names import replace_name_keys


def store_keys(apps: Any, _editor: Any) -> None:
    for name, title, column in (
        ("Rule", "title", "name_keys"),
        ("Lore", "title", "name_keys"),
        ("GraphNode", "name", "keys"),
    ):
        model = apps.get_model("knowledge", name)
        rows = model._base_manager.values_list("pk", title, "aliases").iterator()
        keys = (
            (pk, name_keys(own, *aliases))
            for pk, own, aliases in rows
            if any(map(quoted_names, (own, *aliases)))
        )
        replace_name_keys(model, keys, column=column)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0024_keys_of_whole_names")]

    operations = [migrations.RunPython(store_keys, migrations.RunPython.noop, elidable=True)]
