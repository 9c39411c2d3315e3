"""Names get the keys of the whole name, by which they are found among any number of names."""

from typing import Any

from django.db import migrations

from retrieval.text import name_keys, spelled_keys
from worlds.stored_names import replace_name_keys


def store_keys(apps: Any, _editor: Any) -> None:
    for name, title, column in (
        ("Rule", "title", "name_keys"),
        ("Lore", "title", "name_keys"),
        ("GraphNode", "name", "keys"),
    ):
        model = apps.get_model("knowledge", name)
        rows = model._base_manager.values_list("pk", title, "aliases").iterator()
        keys = ((pk, name_keys(own, *aliases)) for pk, own, aliases in rows)
        replace_name_keys(model, keys, column=column)
    links = apps.get_model("knowledge", "Link")
    names = links._base_manager.values_list("pk", "name").iterator()
    replace_name_keys(links, ((pk, spelled_keys(name)) for pk, name in names))


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0023_wider_name_keys")]

    operations = [migrations.RunPython(store_keys, migrations.RunPython.noop, elidable=True)]
