"""Writers of an NPC and its entity take the lock of the graph first: two that take both locks in
different orders would wait for each other until the database ends one."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from knowledge.entry_store import save_entry
from knowledge.links import link_to, rename_everywhere
from knowledge.models import Lore
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import restore_npc, store_npc, upsert_npc
from tests.memory_site.demo.browser_form import BrowserForm

pytestmark = pytest.mark.django_db


def locks_taken(write: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        write()
    names = {"pg_advisory_xact_lock": "graph", "FOR UPDATE": "row", "FOR NO KEY UPDATE": "row"}
    return [name for query in captured for text, name in names.items() if text in query["sql"]]


def rename(npc: NPC) -> None:
    npc.name = "Mira the Grey"
    store_npc(npc)


WRITERS: dict[str, Callable[[NPC], object]] = {
    "upsert": lambda npc: upsert_npc(npc.world, NPCIn(npc_id=npc.slug, name="Mira the Grey")),
    "store": rename,
    "restore a version": lambda npc: restore_npc(npc, npc, reason="x"),
    "trash": lambda npc: trash_npcs([npc], by="dana"),
    "restore from the trash": lambda npc: restore_npcs([npc], by="dana"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_locks_the_graph_before_the_row(mira: NPC, name: str) -> None:
    if "from the trash" in name:
        trash_npcs([mira], by="dana")
    taken = locks_taken(lambda: WRITERS[name](mira))
    assert taken[0] == "graph"
    assert "row" in taken


def test_the_admin_locks_the_graph_before_the_row(admin_client: Client, mira: NPC) -> None:
    url = reverse("admin:npcs_npc_change", args=[mira.pk])
    form = BrowserForm(admin_client.get(url).content.decode(), "npc_form")
    taken = locks_taken(lambda: admin_client.post(url, {**form.fields, "role": "Clerk."}))
    assert taken[0] == "graph"
    assert "row" in taken


def test_a_rename_everywhere_locks_the_graph_before_the_rows(mira: NPC) -> None:
    page = Lore(world=mira.world, slug="mira", title="Mira Voss", kind="biography")
    save_entry(page)
    taken = locks_taken(lambda: rename_everywhere(page, "Mira the Grey", also=[mira.pk]))
    assert taken[0] == "graph"
    assert "row" in taken


def test_mending_a_link_locks_the_graph_before_the_rows(mira: NPC) -> None:
    mira.summary = "Of the [[Qay]]."
    store_npc(mira)
    taken = locks_taken(lambda: link_to(mira.world, "Qay", "Quay"))
    assert taken[0] == "graph"
    assert "row" in taken
