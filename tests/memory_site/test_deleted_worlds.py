"""A world that is deleted leaves nothing behind: in no table, and no file."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client

from art.pictures import place_picture, store_picture
from knowledge.entry_store import save_entry
from knowledge.models import Lore, Rule
from knowledge.trash import trash_lore
from memories.models import MemoryItem, Namespace
from memory_site.archive.runs import ask_for_archive
from memory_site.demo.load import load
from memory_site.demo.world_files import read_world
from npcs.models import NPC
from npcs.trash import trash_npcs
from npcs.upsert import store_npc
from retrieval.indexing import count_words
from tests.art.image_samples import image_bytes
from tests.conftest import ApiClient
from worlds import audit
from worlds.erasure import permanent_deletion
from worlds.models import ImportRun, World

pytestmark = pytest.mark.django_db

STAYS = {
    "django_admin_log": "who deleted the world",
    "knowledge_graphoutbox": "what the copy in Neo4j has yet to forget; the mirror empties it",
    "retrieval_cachedvector": "vectors by the digest of a text, for whoever has the same text",
    "worlds_gamesystem": "shared by all worlds",
}


def row_counts() -> dict[str, int]:
    counts = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            counts[table] = cursor.fetchone()[0]
    return counts


def files() -> set[str]:
    folder = Path(default_storage.path(""))
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def make_full_world() -> World:
    """The demo, with what it has none of: pictures, uploads, keys, an agent, trash."""
    content = read_world()
    load(content)
    world = World.objects.get(slug=content.setting.slug)
    engine = ApiClient(world)
    for number, entry in enumerate(Lore.objects.filter(world=world)[:2]):
        entry.body = f"More.\n\n{entry.body}"
        save_entry(entry)
        place_picture(store_picture(world, image_bytes(size=(40, 20 + number))), entry)
    trash_lore(Lore.objects.filter(world=world, overrides=None)[2:3], by="dana")
    npc = NPC.objects.filter(world=world).first()
    assert npc
    npc.role += "!"
    store_npc(npc)
    trash_npcs([npc], by="dana")
    rule = {"rule_id": "house/fog", "title": "Fog", "body": "Wait."}
    assert engine.put("world/rules", rule, **{"Idempotency-Key": "once"})[0] == 200
    assert engine.tool("lore_search", query="ferry")[0] == 200
    audit.flush()
    upload = ContentFile(b"x", name="vault.zip")
    ImportRun.objects.create(world=world, file=upload, file_name="vault.zip")
    ask_for_archive(world, user=None)
    namespace = Namespace.objects.create(world=world, name="bot", path="bot")
    MemoryItem.objects.create(namespace=namespace, text="The ferry is late.")
    MemoryItem.objects.create(namespace=namespace, text="The ferry is early.")
    for model in (*(row.passages.rel.related_model for row in (Lore, Rule)), MemoryItem):
        count_words(model)
    return world


@pytest.mark.parametrize("way", ["row", "queryset", "admin"])
def test_nothing_of_a_deleted_world_stays(
    way: str, admin_client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    before, files_before = row_counts(), files()
    world = make_full_world()
    filled = {table for table, count in row_counts().items() if count > before[table]}
    assert {"knowledge_historicallore", "npcs_historicalnpc", "art_pictureuse"} <= filled
    assert {"worlds_importrun", "retrieval_wordstatistics", "worlds_auditedcall"} <= filled
    assert len(files() - files_before) >= 4

    with django_capture_on_commit_callbacks(execute=True):
        if way == "admin":
            url = f"/admin/worlds/world/{world.pk}/delete/"
            assert admin_client.post(url, {"post": "yes"}).status_code == 302
        else:
            with permanent_deletion():
                (world if way == "row" else World.objects.filter(pk=world.pk)).delete()
    assert not World.objects.filter(pk=world.pk).exists()
    left = {
        table: count - before[table]
        for table, count in row_counts().items()
        if count > before[table] and table not in STAYS
    }
    assert left == {}
    assert files() == files_before
