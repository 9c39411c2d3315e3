"""Lists, versions and the graph when an NPC is edited in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.graph.models import GraphNode
from npcs.models import NPC, DispositionChange
from npcs.upsert import store_npc
from tests.memory_site.demo.browser_form import BrowserForm
from worlds.audiences import Audience
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
LINES = ["Quick, dry, never sorry", "Asks twice,\nlistens once"]


@pytest.fixture
def clerk(mira: NPC) -> NPC:
    mira.play_now, mira.goals, mira.milestones = LINES, ["Find page nine, whole"], [{"at": 1.5}]
    store_npc(mira)
    return mira


def edit(client: Client, npc: NPC, **changes: object) -> None:
    url = reverse("admin:npcs_npc_change", args=[npc.pk])
    form = BrowserForm(client.get(url).content.decode(), "npc_form")
    answer = client.post(url, {**form.fields, **changes})
    assert answer.status_code == 302, answer.context["errors"]
    npc.refresh_from_db()


def restore(client: Client, npc: NPC, version: int) -> None:
    row = npc.history.filter(version=version).first()
    url = reverse("admin:npcs_npc_simple_history", args=[npc.pk, row.history_id])
    assert "actionDropdownOpen" not in client.get(url).content.decode()
    assert client.post(url).status_code == 302
    npc.refresh_from_db()


def test_editing_the_role_leaves_lines_with_commas_alone(admin_client: Client, clerk: NPC) -> None:
    edit(admin_client, clerk, role="Clerk.")
    assert (clerk.role, clerk.play_now, clerk.milestones) == ("Clerk.", LINES, [{"at": 1.5}])
    assert (clerk.version, clerk.history.count()) == (3, 3)


def test_a_line_is_added_and_one_is_removed(admin_client: Client, clerk: NPC) -> None:
    edit(admin_client, clerk, play_now=[LINES[1], "", "Laughs, late"])
    assert clerk.play_now == [LINES[1], "Laughs, late"]


def test_an_edited_name_reaches_the_graph(admin_client: Client, clerk: NPC) -> None:
    edit(admin_client, clerk, name="Mira the Grey", aliases=["Grey, Mira"])
    node = GraphNode.objects.get(slug=clerk.slug)
    assert (node.name, node.aliases) == ("Mira the Grey", ["Grey, Mira"])


def test_the_day_on_which_an_npc_died_outlives_an_edit(admin_client: Client, clerk: NPC) -> None:
    GraphNode.objects.filter(slug=clerk.slug).update(since=3, until=411)
    edit(admin_client, clerk, role="Clerk, dead")
    node = GraphNode.objects.get(slug=clerk.slug)
    assert (node.since, node.until) == (3, 411)


def test_an_npc_that_is_hidden_again_is_hidden_in_the_graph(clerk: NPC) -> None:
    clerk.visibility, clerk.known_to = "revealed", ["party:lanternbearers"]
    store_npc(clerk)
    clerk.visibility, clerk.known_to = "gm", []
    store_npc(clerk)
    node = GraphNode.objects.get(slug=clerk.slug)
    assert (node.visibility, node.known_to) == ("gm", [])


def test_undoing_the_reveal_of_an_npc_hides_it_in_the_graph(clerk: NPC) -> None:
    clerk.visibility, clerk.known_to = "gm", []
    store_npc(clerk)
    entry = reveal(clerk, Audience.parse("party:lanternbearers"))
    clerk.refresh_from_db()
    clerk.role = "Clerk"
    store_npc(clerk)
    node = GraphNode.objects.get(slug=clerk.slug)
    assert node.known_to == ["party:lanternbearers"]
    undo_reveal(entry)
    node.refresh_from_db()
    assert (node.visibility, node.known_to) == ("gm", [])


def test_a_new_secret_makes_a_version(admin_client: Client, clerk: NPC) -> None:
    number = clerk.secrets.count()
    row = {"position": number + 1, "text": "She, too, owes.", "visibility": "gm"}
    edit(
        admin_client,
        clerk,
        **{"secrets-TOTAL_FORMS": number + 1},
        **{f"secrets-{number}-{name}": value for name, value in row.items()},
    )
    assert (clerk.secrets.count(), clerk.version) == (number + 1, 3)


def test_restoring_writes_the_stored_values(admin_client: Client, clerk: NPC) -> None:
    edit(admin_client, clerk, play_now=["One"], goals=[], name="Someone")
    restore(admin_client, clerk, 2)
    assert (clerk.play_now, clerk.goals, clerk.version) == (LINES, ["Find page nine, whole"], 4)
    assert GraphNode.objects.get(slug=clerk.slug).name == clerk.name == "Mira Voss"
    assert not DispositionChange.objects.exists()


def test_restoring_keeps_the_reveal_log_in_force(admin_client: Client, clerk: NPC) -> None:
    clerk.visibility, clerk.known_to = "gm", []
    store_npc(clerk)
    reveal(clerk, Audience.parse("party:lanternbearers"))
    clerk.refresh_from_db()
    edit(admin_client, clerk, role="Clerk")
    restore(admin_client, clerk, 3)
    assert (clerk.visibility, clerk.known_to) == ("revealed", ["party:lanternbearers"])
