"""Lore entries get the keys of how their names sound, by which other scripts find them."""

from typing import Any

from django.db import migrations

from retrieval.text import name_keys, sound_keys
from worlds.stored_names import replace_name_keys


def store_keys(apps: Any, _editor: Any) -> None:
    lore = apps.get_model("knowledge", "Lore")
    rows = lore._base_manager.values_list("pk", "title", "aliases").iterator(chunk_size=500)
    keys = (
        (pk, {*name_keys(title, *aliases)}.union(*map(sound_keys, (title, *aliases))))
        for pk, title, aliases in rows
    )
    replace_name_keys(lore, keys)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0031_unfinished_readings")]

    operations = [migrations.RunPython(store_keys, migrations.RunPython.noop, elidable=True)]
