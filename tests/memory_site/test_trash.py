"""What is in the trash is found nowhere, for anybody; restored, it is all there again."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from knowledge.entry_store import save_entry
from knowledge.export import export_json
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore, LorePassage
from knowledge.schemas import LoreQuestion
from knowledge.tools import lore_search
from knowledge.trash import restore_lore, trash_lore, trashed_lore
from memory_site import mcp_resources, toolbox
from npcs.models import NPC, Disposition
from npcs.profiles import present_reveals
from npcs.trash import restore_npcs, trash_npcs, trashed_npcs
from retrieval.errors import Conflict, NotFound
from tests.api_document import api_document
from tests.conftest import ApiClient
from worlds.audiences import GM, Audience
from worlds.callers import Caller
from worlds.models import Campaign, Membership, Party, Reveal, World
from worlds.reveals import reveal, undo_reveal
from worlds.tasks import delete_old_records

pytestmark = pytest.mark.django_db

WORD = "quicksilverine"
"""A word of the entry and of the NPC that occurs nowhere else."""
BODY = f"The abbey of {WORD} herons.\n\n:::secret\nIts crypt floods at {WORD} tides.\n:::"
PARTY = Audience("party", "lanternbearers")


@pytest.fixture
def abbey(engine: ApiClient, world: World) -> Lore:
    entry = {
        "title": f"Heron {WORD}",
        "slug": "heron-abbey",
        "kind": "place",
        "body": BODY,
        "status": "published",
        "visibility": "public",
        "folder": "North/Carrow",
    }
    assert engine.put("world/lore", entry)[0] == 200
    return Lore.objects.get(slug="heron-abbey")


@pytest.fixture
def abbot(engine: ApiClient, abbey: Lore, lanternbearers: Party) -> NPC:
    secret = {"text": f"He fears {WORD} water.", "known_to": [str(PARTY)]}
    entry = {
        "npc_id": "abbot",
        "name": f"Abbot {WORD}",
        "visibility": "public",
        "home": "heron-abbey",
        "biography": "heron-abbey",
        "secrets": [secret],
    }
    assert engine.put("world/npcs", entry)[0] == 200
    change = {"party_id": "lanternbearers", "delta": 12, "reason": "A favour."}
    assert engine.post("world/npcs/abbot/changes", change)[0] == 200

    GraphEdge.objects.create(
        world=abbey.world,
        src=GraphNode.objects.get(slug="abbot"),
        relation_id="LOCATED_IN",
        dst=GraphNode.objects.get(slug="heron-abbey"),
        src_kind="Character",
        dst_kind="Location",
        visibility="public",
    )

    row: NPC = NPC.objects.get(slug="abbot")
    return row


@pytest.fixture
def people(world: World, lanternbearers: Party, admin_user: User) -> list[Client]:
    """A superuser, a game master and a player."""
    master = User.objects.create_user("anna")
    player = User.objects.create_user("pat")
    Membership.objects.create(user=master, world=world, role="gm")
    Membership.objects.create(user=player, world=world, role="player", party=lanternbearers)
    clients = [Client(), Client(), Client()]
    for client, user in zip(clients, (admin_user, master, player), strict=True):
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return clients


PAGES = (
    *("", "lore/", "npcs/", "inbox/", "graph/", "parties/lanternbearers/", "npcs/abbot/"),
    *(
        "lore/heron-abbey/",
        "graph/?around=heron-abbey",
        "search/?q=heron+abbey",
        "search/?q=abbot",
        "npcs/mira-voss/",
        "parties/lanternbearers/prepare/?further=1",
        "parties/lanternbearers/play/?q=abbot",
        "parties/lanternbearers/play/?q=heron+abbey",
    ),
)
ADMIN_PAGES = (
    *("knowledge/lore/", "npcs/npc/", "knowledge/graphnode/", "knowledge/graphedge/"),
    *("npcs/disposition/", "npcs/dispositionchange/", "knowledge/lore/autocomplete-free/"),
)
TOOLS: dict[str, dict[str, Any]] = {
    "lore_search": {"query": "heron abbey", "expand": True},
    "rules_lookup": {"term": "heron abbey"},
    "session_fetch": {"party_id": "lanternbearers"},
    "npc_profile": {"npc_id": "abbot"},
    "lore_assert": {"fact": f"Abbot {WORD} lives in Heron {WORD}."},
    "art_suggest": {"scene_id": "s1-crypt", "k": 4},
}
READS = {
    "audit_list": "world/audit",
    "reveal_list": "world/reveals",
    "lore_get": "world/lore/heron-abbey",
    "rule_get": "world/rules/house/herons",
    "graph_neighbors": "world/graph/neighbors?entity=mira-voss&depth=2",
    "graph_path": "world/graph/path?src=mira-voss&dst=heron-abbey",
    "graph_contradictions": "world/graph/contradictions",
    "episode_list": "world/episodes",
    "episode_get": "world/episodes/ep-1",
    "scratch_get": "world/scenes/s1-crypt/scratch",
    "scene_cast": "world/scenes/s1-crypt/cast",
    "thread_list": "world/threads",
    "thread_get": "world/threads/t-1",
    "recap_get": "world/recaps/session/s1",
    "npc_get": "world/npcs/abbot",
    "disposition_list": "world/npcs/abbot/changes",
    "disposition_pending": "world/changes/pending",
    "disposition_rules_get": "world/disposition-rules",
    "standing_list": "world/standings",
    "opinion_list": "world/npcs/mira-voss/opinions",
    "opinion_pending": "world/opinions/pending",
    "npc_merge_list": "world/npc-merges",
    "art_get": "world/art/crypt-card",
    "picture_list": "world/pictures",
    "own_world_get": "world",
    "campaign_list": "world/campaigns",
    "campaign_get": "world/campaigns/toll-war",
    "party_list": "world/parties",
    "party_get": "world/parties/lanternbearers",
    "lore_list": "world/lore",
    "rule_list": "world/rules",
    "npc_list": "world/npcs",
    "session_list": "world/sessions",
    "session_get": "world/sessions/s1",
    "scene_list": "world/scenes",
    "scene_get": "world/scenes/s1-crypt",
    "art_list": "world/art",
    "graph_facts": "world/graph/facts",
    "proposal_list": "world/proposals",
    "fact_proposal_list": "world/fact-proposals",
    "member_list": "world/members",
    "invitation_list": "world/invitations",
    "key_list": "world/keys",
    "webhook_list": "world/webhooks",
    "lore_version_list": "world/lore/heron-abbey/versions",
    "npc_version_list": "world/npcs/abbot/versions",
    "comment_list": "world/lore/heron-abbey/comments",
    "kind_list": "world/kinds",
    "lore_change_list": "world/lore-changes",
    "recent_change_list": "world/recent-changes",
    "saved_filter_list": "world/saved-filters",
    "draft_list": "world/drafts",
    "import_list": "world/imports",
    "rule_book_list": "world/rule-books",
    "rule_book_get": "world/rule-books/house",
    "character_list": "world/characters",
    "note_list": "world/notes",
    "loose_end_list": "world/loose-ends",
    "calendar_get": "world/calendar",
}
"""Every operation that reads the world, by its id; pictures by their id are read in a test of their
own, facts and keys by their id show what the lists show."""
RESOURCES = (
    "m37://lore/heron-abbey",
    "m37://npc/abbot",
    "m37://episode/ep-1",
    "m37://rules/house/herons",
)


def occurrences(clients: list[Client], api: list[ApiClient]) -> list[str]:
    """Every place that shows the word of the entry, or of the NPC."""
    places = []
    for who, client in zip(("superuser", "gm", "player"), clients, strict=True):
        addresses = [f"/w/ferrymark/{page}" for page in PAGES]
        if who == "superuser":
            addresses += [f"/admin/{page}" for page in ADMIN_PAGES]
        for address in addresses:
            answer = client.get(address)
            assert answer.status_code < 500, address
            places += [f"{who} {address}"] * (WORD in answer.content.decode())
    for client in api:
        for tool, arguments in TOOLS.items():
            status, body = client.tool(tool, **arguments)
            assert status in (200, 404), (tool, body)
            text = str(body).replace(str(arguments.get("fact")), "")  # an echo of the question
            places += [f"{client.key.audience} {tool}"] * (status == 200 and WORD in text)
        for path in READS.values():
            status, body = client.get(path)
            assert status in (200, 403, 404), (path, body)
            places += [f"{client.key.audience} {path}"] * (status == 200 and WORD in str(body))
        places += [f"{client.key.audience} {uri}" for uri in resources_with_word(client)]
    return places


def resources_with_word(client: ApiClient) -> list[str]:
    caller = Caller.with_key(client.key)
    listed, _cursor = mcp_resources.page(caller, None)
    places = ["list"] * any(WORD in str(each) for each in listed)
    for uri in RESOURCES:
        with suppress(NotFound):
            places += [uri] * (WORD in mcp_resources.read(uri, caller))
    return places


def test_the_test_reads_whatever_the_interfaces_offer() -> None:
    assert set(TOOLS) == {tool.name for tool in toolbox.TOOLS if tool.reads_only}
    operations = {
        operation["get"]["operationId"]
        for path, operation in api_document()["paths"].items()
        if "get" in operation and "/world" in path and "/worlds" not in path
    }
    by_id = {"picture_get", "picture_file", "graph_fact", "key_get", "picture_use_list"}
    by_id |= {"picture_use_get", "graph_contradiction", "reveal_get", "proposal_get", "kind_get"}
    by_id |= {"comment_get", "import_get", "import_row_list", "invitation_get", "member_get"}
    by_id |= {"lore_change_get", "webhook_get", "webhook_deliveries", "gallery_get"}
    by_id |= {"character_get", "note_get", "saved_filter_get", "draft_get"}
    # Of the calendar alone: no row of the world is in them.
    by_id |= {"calendar_date", "calendar_parse", "calendar_versions"}
    # For administrators: archives have the trash, vaults have a test of their own.
    by_id |= {"archive_list", "archive_get", "archive_file", "audit_get", "vault_export"}
    assert operations - set(READS) == by_id
    kinds = {template.uri_template.split("/{")[0] for template in mcp_resources.TEMPLATES}
    assert kinds == {uri.rsplit("/", 1)[0].replace("/house", "") for uri in RESOURCES}


@pytest.fixture
def story(engine: ApiClient, abbey: Lore, abbot: NPC, mira: NPC) -> None:
    """What other rows say of both, without their names: an episode, its scene, a card, a thread,
    facts that contradict each other, reveals."""
    summary = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "scene_id": "s1-crypt",
        "session_id": "s1",
        "where": "heron-abbey",
        "who": {"players": [], "npcs": ["abbot"]},
        "what": "They went down into the crypt.",
        "relations_delta": [{"npc": "abbot", "delta": 60, "reason": "They stayed."}],
        "reveals": [{"lore": "heron-abbey"}, {"npc": "abbot"}],
    }
    assert engine.post("world/episodes", summary)[0] == 200
    card = {
        "image_id": "crypt-card",
        "scene_id": "s1-crypt",
        "cdn_url": "https://pictures.example/crypt.webp",
        "prompt_text": "A flooded crypt.",
        "entities": ["abbot", "heron-abbey"],
        "moderation": "approved",
    }
    assert engine.put("world/art", card)[0] == 200
    thread = {"party_id": "lanternbearers", "steps": [{"text": "They wait."}]}
    assert engine.post("world/threads/t-1/steps", thread)[0] == 200
    assert engine.post("world/recaps/session/s1", {})[0] == 200
    assert engine.put("world/scenes/s1-crypt/scratch/mood", {"value": "wet"})[0] == 200
    rule = {"rule_id": "house/herons", "title": "Herons", "body": "See [[heron-abbey]]."}
    assert engine.put("world/rules", rule)[0] == 200
    edges = [
        {"src": "abbot", "relation": "LOCATED_IN", "dst": "heron-abbey", "since": 1, "until": 5},
        {"src": "abbot", "relation": "LOCATED_IN", "dst": "mira-hut", "since": 2},
        {"src": "mira-voss", "relation": "KNOWS", "dst": "abbot", "visibility": "public"},
    ]
    mira_node = {"kind": "Character", "slug": "mira-voss", "name": "Mira", "visibility": "public"}
    nodes = [{"kind": "Location", "slug": "mira-hut", "name": "Hut"}, mira_node]
    facts = [*({"node": node} for node in nodes), *({"edge": edge} for edge in edges)]
    status, answer = engine.post("world/graph/facts", {"facts": facts})
    assert status == 200, answer


@pytest.fixture
def everybody(
    people: list[Client], engine: ApiClient, client_with_key: Callable[..., ApiClient]
) -> Callable[[], list[str]]:
    keys = [engine, client_with_key(audience=str(PARTY)), client_with_key(audience="public")]
    return lambda: occurrences(people, keys)


def test_what_is_in_the_trash_is_found_nowhere_and_comes_back(
    everybody: Callable[[], list[str]],
    world: World,
    abbey: Lore,
    abbot: NPC,
    mira: NPC,
    story: None,
) -> None:
    secret = LorePassage.objects.get(lore=abbey, secret=True)
    reveal(secret, PARTY, by="anna")
    reveal(abbot.secrets.get(), Audience("npc", "mira-voss"), by="anna")
    before = everybody()
    assert len(before) > 20
    assert WORD in export_json(world)

    trash_npcs([abbot], by="anna")
    trash_lore([abbey], by="anna")
    assert everybody() == []
    assert WORD not in export_json(world)
    assert present_reveals(Reveal.objects.all()) == []
    assert [row.title for row in trashed_lore(world)] == [abbey.title]
    assert [row.name for row in trashed_npcs(world)] == [abbot.name]

    restore_lore([abbey], by="anna")
    restore_npcs([abbot], by="anna")
    assert sorted(everybody()) == sorted(before)
    abbey.refresh_from_db()
    again = LorePassage.objects.get(lore=abbey, secret=True)
    assert (again.pk, again.revealed_to) == (secret.pk, [str(PARTY)])
    assert (abbey.body, abbey.folder) == (BODY, "North/Carrow")
    assert Disposition.objects.get(npc=abbot).score == 12
    assert NPC.objects.get(pk=abbot.pk).biography == abbey
    node = GraphNode.objects.get(slug="heron-abbey")
    assert (node.lore, node.believed_until) == (abbey, None)
    notes = [row.history_change_reason for row in abbey.history.all()]
    assert notes[:2] == ["restored from the trash by anna", "moved to the trash by anna"]


def test_the_entity_of_a_living_npc_outlives_its_biography(abbey: Lore, abbot: NPC) -> None:
    trash_lore([abbey], by="anna")
    node = GraphNode.objects.get(slug="abbot")
    assert (node.lore, node.believed_until) == (None, None)
    assert NPC.objects.get(pk=abbot.pk).biography is None


def test_the_slug_of_an_entry_in_the_trash_is_free(world: World, abbey: Lore) -> None:
    trash_lore([abbey], by="anna")
    other = Lore(world=world, slug="heron-abbey", title="Heron Abbey", body="New walls.")
    save_entry(other)
    restore_lore([abbey], by="anna")
    abbey.refresh_from_db()
    assert abbey.slug.startswith("heron-abbey-")
    assert Lore.objects.get(slug="heron-abbey") == other


def test_two_entries_of_one_slug_are_restored_at_once(world: World, abbey: Lore) -> None:
    trash_lore([abbey], by="anna")
    other = Lore(world=world, slug="heron-abbey", title="Heron Abbey", body="New walls.")
    save_entry(other)
    trash_lore([other], by="anna")
    assert restore_lore([abbey, other], by="anna") == 2
    assert len(set(Lore.objects.values_list("slug", flat=True))) == 2


def test_an_npc_is_not_restored_over_another(world: World, abbot: NPC, engine: ApiClient) -> None:
    trash_npcs([abbot], by="anna")
    assert engine.put("world/npcs", {"npc_id": "abbot", "name": "Abbot Cole"})[0] == 200
    assert GraphNode.objects.get(slug="abbot").name == "Abbot Cole"
    with pytest.raises(Conflict):
        restore_npcs([abbot], by="anna")
    assert NPC.objects.get(slug="abbot").name == "Abbot Cole"


def test_an_overlay_in_the_trash_hides_no_canon(
    world: World, campaign: Campaign, abbey: Lore
) -> None:
    overlay = Lore(
        world=world,
        campaign=campaign,
        slug="heron-abbey",
        overrides=abbey,
        title="The burnt abbey",
        status="published",
        visibility="public",
        body="Ash of herons.",
    )
    save_entry(overlay)
    trash_lore([overlay], by="anna")
    caller = Caller(world=world, audience=GM, campaign=campaign)
    hits = lore_search(LoreQuestion(query=WORD), caller).hits
    assert [hit.id for hit in hits][:1] == ["heron-abbey"]


def test_a_reveal_undone_in_the_trash_stays_undone(abbey: Lore, lanternbearers: Party) -> None:
    Lore.objects.filter(pk=abbey.pk).update(visibility="gm")
    abbey.refresh_from_db()
    of_entry = reveal(abbey, PARTY)
    secret = LorePassage.objects.get(lore=abbey, secret=True)
    of_secret = reveal(secret, PARTY)
    trash_lore([abbey], by="anna")
    undo_reveal(of_entry)
    Reveal.objects.filter(pk=of_secret.pk).update(undone_at=timezone.now())
    restore_lore([abbey], by="anna")
    assert not Lore.objects.visible_to(PARTY).exists()
    assert not LorePassage.objects.visible_to(PARTY).exists()


def test_the_trash_is_emptied_after_thirty_days(world: World, abbey: Lore, abbot: NPC) -> None:
    trash_lore([abbey], by="anna")
    trash_npcs([abbot], by="anna")
    Lore.with_trash.update(deleted_at=timezone.now() - timedelta(days=29))
    NPC.with_trash.update(deleted_at=timezone.now() - timedelta(days=31))
    assert delete_old_records()["rows in the trash"] == 1
    assert not NPC.with_trash.exists()
    assert not GraphNode.objects.filter(name=abbot.name).exists()
    assert GraphNode.objects.filter(name=abbey.title).exists()
    Lore.with_trash.update(deleted_at=timezone.now() - timedelta(days=31))
    assert delete_old_records()["rows in the trash"] == 1
    assert not GraphNode.objects.exists()


def test_deleting_in_the_admin_moves_to_the_trash(
    people: list[Client], world: World, abbey: Lore, abbot: NPC
) -> None:
    superuser = people[0]
    superuser.post(f"/admin/knowledge/lore/{abbey.pk}/delete/", {"post": "yes"})
    form = {"action": "delete_selected", "_selected_action": [str(abbot.pk)], "post": "yes"}
    superuser.post("/admin/npcs/npc/", form)
    assert [row.deleted_by for row in (*trashed_lore(world), *trashed_npcs(world))] == ["admin"] * 2


def test_a_row_that_cannot_be_deleted_does_not_keep_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    for slug in ("abbey", "mill"):
        entry = Lore(world=world, slug=slug, title=slug.title(), body="A ruin.")
        save_entry(entry)
        Lore.with_trash.filter(pk=entry.pk).update(deleted_at=long_ago)
    delete = Lore.delete_for_good

    def fail_once(row: Lore) -> None:
        if row.slug == "abbey":
            row.title = "x" * 1_000
            row.save()  # the database refuses it
        delete(row)

    monkeypatch.setattr(Lore, "delete_for_good", fail_once)
    assert delete_old_records()["rows in the trash"] == 1
    assert [row.slug for row in Lore.with_trash.filter(world=world)] == ["abbey"]
    assert "cannot be deleted" in caplog.text
