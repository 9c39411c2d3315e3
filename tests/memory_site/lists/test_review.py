"""Versions, comments, proposals, recent changes, drafts and the trash as their pages show them."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from knowledge.editing_models import EntryComment, LoreProposal
from knowledge.entry_drafts import save_draft
from knowledge.entry_store import save_all, save_entry
from knowledge.models import Lore
from knowledge.proposals import propose
from knowledge.schemas import LoreIn, ProposalIn
from npcs.models import NPC
from npcs.trash import trash_npcs
from tests.memory_site.lists.conftest import Write
from worlds.models import ImportRun, World

pytestmark = pytest.mark.django_db

HOME = "/w/ferrymark"


def page(client: Client, address: str) -> str:
    answer = client.get(f"{HOME}/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def abbey(write: Write) -> Lore:
    entry = write("Abbey", "Herons nest in the old tower.")
    entry.body = "Herons nest in the burnt tower."
    save_entry(entry, reason="the fire")
    return entry


def test_versions_are_compared_word_by_word(master: Client, abbey: Lore) -> None:
    text = page(master, "lore/abbey/history/")
    assert "<del>old</del><ins>burnt</ins>" in text
    assert "the fire" in text
    first = abbey.history.last().history_id
    same = f"old=lore-{first}&new=lore-{first}"
    assert "These two are the same" in page(master, f"lore/abbey/history/?{same}")
    last = abbey.history.first().history_id
    two = page(master, f"lore/abbey/history/?old=lore-{last}&new=lore-{first}")
    assert "<del>burnt</del><ins>old</ins>" in two
    for query in ("old=x&new=y", f"old=lore-{first}&new=npc-{first}", "page=-1", "campaign=x%00"):
        assert master.get(f"{HOME}/lore/abbey/history/?{query}").status_code < 500


def test_an_old_version_is_restored(master: Client, abbey: Lore, player: Client) -> None:
    first = abbey.history.last().history_id
    history, sent = f"{HOME}/lore/abbey/history/", {"record": first, "model": "lore"}
    assert player.post(history, sent).status_code == 404
    master.post(history, sent)
    abbey.refresh_from_db()
    assert abbey.body == "Herons nest in the old tower."
    assert abbey.passages.get().text == abbey.body
    assert abbey.history.count() == 3
    for record in (first + 10**6, "x", "9" * 30):
        assert master.post(history, sent | {"record": record}).status_code == 404


def test_the_former_addresses_of_the_history_lead_to_it(
    master: Client, abbey: Lore, mira: NPC
) -> None:
    for thing in ("lore/abbey", "npcs/mira-voss"):
        moved: Any = master.get(f"{HOME}/{thing}/versions/?page=1")
        assert (moved.status_code, moved.url) == (301, f"{HOME}/{thing}/history/?page=1")


def test_versions_of_an_entry_and_an_npc_are_not_compared(
    master: Client, write: Write, mira: NPC
) -> None:
    mira.biography = write("Mira Voss", kind="biography")
    mira.save()
    of_entry, of_npc = mira.biography.history.get().pk, mira.history.first().pk
    text = page(master, f"npcs/mira-voss/history/?old=lore-{of_entry}&new=npc-{of_npc}")
    assert "choose two of the same" in text
    assert "New comment" in text


def test_a_comment_is_written_resolved_and_opened_again(master: Client, abbey: Lore) -> None:
    master.post(f"{HOME}/lore/abbey/comments/", {"text": "Which <tower>?"})
    comment = EntryComment.objects.get()
    assert "Which &lt;tower&gt;?" in page(master, "lore/abbey/history/")
    resolve = f"{HOME}/comments/{comment.pk}/resolve/"
    master.post(resolve)
    assert "Resolved by anna" in page(master, "lore/abbey/history/")
    master.post(resolve)
    comment.refresh_from_db()
    assert comment.resolved_at is None
    master.post(f"{HOME}/lore/abbey/comments/", {"text": " \x00"})
    assert EntryComment.objects.count() == 1


def test_a_player_neither_comments_nor_resolves(
    player: Client, master: Client, abbey: Lore
) -> None:
    assert player.post(f"{HOME}/lore/abbey/comments/", {"text": "Hm"}).status_code == 404
    master.post(f"{HOME}/lore/abbey/comments/", {"text": "Hm"})
    comment = EntryComment.objects.get()
    assert player.post(f"{HOME}/comments/{comment.pk}/resolve/").status_code == 404


@pytest.fixture
def proposal(world: World, abbey: Lore) -> LoreProposal:
    entry = LoreIn(title="Abbey", slug="abbey", body="Herons nest in the drowned tower.")
    return propose(world, ProposalIn(entry=entry, reason="It flooded."), by="scribe")


def test_a_proposal_is_compared_and_accepted(
    master: Client, proposal: LoreProposal, abbey: Lore
) -> None:
    assert f"{HOME}/proposals/{proposal.pk}/" in page(master, "inbox/")
    text = page(master, f"proposals/{proposal.pk}/")
    assert "<del>burnt</del><ins>drowned</ins>" in text
    master.post(f"{HOME}/proposals/{proposal.pk}/decide/")
    abbey.refresh_from_db()
    assert abbey.body == "Herons nest in the drowned tower."
    # Fields that were not proposed stay.
    assert (abbey.status, abbey.visibility) == ("published", "public")
    again = master.post(f"{HOME}/proposals/{proposal.pk}/decide/").content.decode()
    assert "decided before" in again


def test_a_proposal_is_edited_and_accepted(
    master: Client, proposal: LoreProposal, abbey: Lore
) -> None:
    sent = {"edited": "1", "title": "Abbey", "body": "No herons.", "tags": "birds, ruin"}
    empty = {"kind": "", "status": "", "visibility": "", "aliases": "", "folder": ""}
    master.post(f"{HOME}/proposals/{proposal.pk}/decide/", {**sent, **empty})
    abbey.refresh_from_db()
    assert (abbey.body, abbey.tags, abbey.status) == ("No herons.", ["birds", "ruin"], "published")


def test_a_proposal_is_rejected_with_a_reason(master: Client, proposal: LoreProposal) -> None:
    decide = f"{HOME}/proposals/{proposal.pk}/decide/"
    assert "Say why" in master.post(decide, {"reject": "1"}).content.decode()
    master.post(decide, {"reject": "1", "note": "Too wet."})
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decision, proposal.decided_by) == (
        *("rejected", "Too wet."),
        "anna",
    )


def test_a_bad_edit_is_refused_and_kept_in_the_form(
    master: Client, proposal: LoreProposal, player: Client
) -> None:
    decide = f"{HOME}/proposals/{proposal.pk}/decide/"
    sent = {"edited": "1", "title": "x" * 300, "body": "Kept words."}
    text = master.post(decide, sent).content.decode()
    assert "notice bad" in text
    assert "Kept words." in text
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert player.get(f"{HOME}/proposals/{proposal.pk}/").status_code == 404
    assert player.post(decide).status_code == 404


def test_recent_changes_of_every_kind(
    master: Client, abbey: Lore, mira: NPC, write: Write, django_assert_max_num_queries: Any
) -> None:
    text = page(master, "recent/")
    assert text.index("Mira Voss") < text.index("Abbey")
    assert "the fire" in text
    assert "/lore/abbey/history/" in text
    with django_assert_max_num_queries(30) as few:
        master.get(f"{HOME}/recent/")
    for number in range(60):
        write(f"Entry {number}")
    with django_assert_max_num_queries(len(few)):
        text = page(master, "recent/")
    assert "Mira Voss" not in text
    older: Any = master.get(f"{HOME}/recent/")
    assert "Mira Voss" in page(
        master, f"recent/?before={older.context['older'].replace('+', '%2B')}"
    )
    assert master.get(f"{HOME}/recent/?before=2026-13-45T99:00").status_code == 200


def test_an_import_is_one_line_among_the_recent_changes(
    master: Client, world: World, abbey: Lore, mira: NPC, django_assert_max_num_queries: Any
) -> None:
    run = ImportRun.objects.create(world=world, file_name="vault.zip", started_at=timezone.now())
    entries = [
        Lore(world=world, slug=f"note-{number}", title=f"Note {number}") for number in range(120)
    ]
    save_all(entries[:70], reason="import")
    abbey.title = "Abbey of Herons"
    save_entry(abbey, reason="its whole name")
    save_all(entries[70:], reason="import")
    ImportRun.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    with django_assert_max_num_queries(40):
        text = page(master, "recent/")
    assert "120 changes at once" in text
    assert f"/import/{run.pk}/" in text
    assert "Note 7" not in text
    # What others changed meanwhile and before keeps its own line.
    assert "its whole name" in text
    assert "Mira Voss" in text
    answer: Any = master.get(f"{HOME}/recent/")
    (line,) = [change for change in answer.context["changes"] if change.count > 1]
    each: Any = master.get(line.diff_url)
    assert "Note 119" in each.content.decode()
    assert "its whole name" not in each.content.decode()
    assert each.context["older"]


def test_a_few_changes_for_one_reason_keep_their_lines(master: Client, world: World) -> None:
    for number in range(4):
        save_entry(Lore(world=world, slug=f"s-{number}", title=f"Spelt {number}"), reason="typos")
    text = page(master, "recent/")
    assert all(f"Spelt {number}" in text for number in range(4))


def test_my_drafts_are_mine(
    master: Client, admin_client: Client, world: World, write: Write, admin_user: Any
) -> None:
    write("Bell", status="draft", author="anna")
    write("Choir", status="draft", author="boris")
    save_draft(admin_user, world, fields={"title": "Half a thought"})
    text = page(master, "drafts/")
    assert "Bell" in text
    assert "Choir" not in text
    assert "Half a thought" not in text
    assert "Half a thought" in page(admin_client, "drafts/")


def test_the_trash_page_restores(master: Client, abbey: Lore, mira: NPC, player: Client) -> None:
    master.post(f"{HOME}/lore/abbey/trash/")
    master.post(f"{HOME}/npcs/mira-voss/trash/")
    text = page(master, "trash/")
    assert "Abbey" in text
    assert "Mira Voss" in text
    restore = f"{HOME}/trash/lore/{abbey.pk}/restore/"
    assert player.post(restore).status_code == 404
    master.post(restore)
    master.post(f"{HOME}/trash/npc/{mira.pk}/restore/")
    assert "The trash is empty" in page(master, "trash/")
    assert Lore.objects.filter(slug="abbey").exists()
    assert master.post(restore).status_code == 404
    assert master.post(f"{HOME}/trash/world/{abbey.pk}/restore/").status_code == 404


def test_a_restore_that_conflicts_says_so(master: Client, world: World, mira: NPC) -> None:
    trash_npcs([mira], by="anna")
    NPC.objects.create(world=world, slug="mira-voss", name="Another Mira")
    answer = master.post(f"{HOME}/trash/npc/{mira.pk}/restore/", follow=True)
    assert "Another NPC has the id mira-voss" in answer.content.decode()


def test_a_person_goes_with_the_biography(master: Client, world: World, write: Write) -> None:
    biography = write("Mira Voss", kind="biography")
    NPC.objects.create(world=world, slug="mira-voss", name="Mira Voss", biography=biography)
    master.post(f"{HOME}/npcs/mira-voss/trash/", {"biography": "1"})
    assert not NPC.objects.exists()
    assert not Lore.objects.exists()
