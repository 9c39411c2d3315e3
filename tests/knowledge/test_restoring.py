"""Restoring an old version in the admin writes the stored values, and the passages are cut anew."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_entry
from knowledge.models import Document, Lore, Rule
from worlds.models import World

pytestmark = pytest.mark.django_db
NAMES = ["Bread, salt", "Rope\nline"]


def restore_first(client: Client, entry: Any) -> None:
    row = entry.history.get(version=1)
    name = f"admin:knowledge_{entry._meta.model_name}_simple_history"
    url = reverse(name, args=[entry.pk, row.history_id])
    page = client.get(url).content.decode()
    assert "<ins>old</ins>" in page
    assert client.post(url).status_code == 302
    entry.refresh_from_db()


def texts_of(entry: Any) -> str:
    return " ".join(entry.passages.values_list("text", flat=True))


def test_a_lore_entry_is_restored(admin_client: Client, world: World) -> None:
    entry = Lore(world=world, slug="quay", title="The Quay", body="The old quay.\r\nWet. ")
    entry.aliases, entry.tags = NAMES, NAMES
    save_entry(entry)
    entry.aliases, entry.tags, entry.body = [], ["x"], "The new quay."
    save_entry(entry)
    restore_first(admin_client, entry)
    assert (entry.aliases, entry.tags, entry.version) == (NAMES, NAMES, 3)
    assert entry.body == "The old quay.\r\nWet. "
    assert "old quay" in texts_of(entry)
    assert "new quay" not in texts_of(entry)


def test_a_rule_is_restored(admin_client: Client, world: World) -> None:
    document = Document.objects.create(
        system=world.system, world=world, slug="house", title="House"
    )
    rule = Rule(
        world=world, document=document, key="house/rope", title="Rope", body="The old rope."
    )
    rule.aliases, rule.breadcrumb, rule.data = NAMES, NAMES, {"b": [1, {"a": "х"}], "a": 1.5}
    save_entry(rule)
    rule.aliases, rule.data, rule.body = ["Cord"], {}, "The new rope."
    save_entry(rule)
    restore_first(admin_client, rule)
    assert (rule.aliases, rule.breadcrumb, rule.version) == (NAMES, NAMES, 3)
    assert rule.data == {"b": [1, {"a": "х"}], "a": 1.5}
    assert "old rope" in texts_of(rule)
    assert "new rope" not in texts_of(rule)
