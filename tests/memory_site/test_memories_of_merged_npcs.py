"""What two records of one person remember: of the kept one while they are merged, and of each after
that is taken back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodes.ingest import restore_episode, retract_episode
from episodes.models import Episode
from memories.models import Hearsay
from memories.states import Maker
from memories.witnesses.hearsay import Telling, take_back, tell
from memories.witnesses.queries import remembered_by
from memory_site.npc_merging.merge import merge_npcs, undo_merge
from npcs.models import NPC, Appearance, NPCMerge
from npcs.trash import restore_npcs, trash_npcs
from tests import cast
from tests.conftest import ApiClient
from worlds.audiences import Audience
from worlds.models import Party, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
BY = {"reason": "One man.", "by": "anna"}
PURSE = "Tom Reed found the purse in the reeds."
RUMOUR = "The ferry sinks at dusk."


@pytest.fixture(autouse=True)
def people(world: World, lanternbearers: Party, mira: NPC, jory: NPC) -> None:
    for name in ("Tom Reed", "Tomas Reed"):
        cast.create_npc(world, slug=name.lower().replace(" ", "-"), name=name, visibility="public")


@pytest.fixture
def send(world: World) -> ApiClient:
    return ApiClient(world, scopes=["tools:read", "world:write", "agent:write"])


def npc(slug: str) -> NPC:
    return NPC.with_trash.get(slug=slug)


def record(send: ApiClient, *names: str, what: str = PURSE, version: int = 1, **more: Any) -> None:
    body = {"summary_id": "purse", "party_id": "lanternbearers", "version": version, "what": what}
    assert send.post("world/episodes", {**body, "who": {"npcs": names}, **more})[0] == 200


def known(slug: str) -> dict[str, str]:
    """What the NPC remembers, with how it knows it."""
    return {each.memory.text: each.way for each in remembered_by(npc(slug))}


def merge() -> NPCMerge:
    return merge_npcs(npc("tom-reed"), into=npc("tomas-reed"), **BY)


def undo(merged: NPCMerge) -> None:
    undo_merge(merged, by="anna")


def was_there(slug: str) -> bool:
    return Appearance.objects.filter(npc__slug=slug, episode__external_id="purse").exists()


def tell_rumour(teller: str, listener: str, **telling: Any) -> Hearsay:
    telling = telling or {"text": RUMOUR}
    return tell(Telling(npc(teller), npc(listener), **telling), by="gm", made_by=Maker.PERSON)


def tell_of_the_purse(teller: str, listener: str) -> Hearsay:
    return tell_rumour(teller, listener, memory_id=remembered_by(npc(teller))[0].memory.pk)


def test_what_one_witnessed_goes_over_and_comes_back(send: ApiClient) -> None:
    record(send, "Tom Reed", relations_delta=[{"npc": "tom-reed", "delta": 20, "reason": "Gold."}])
    merged = merge()
    assert known("tomas-reed") == {PURSE: "witnessed"}
    assert known("tom-reed") == {}
    (memory,) = remembered_by(npc("tomas-reed"))
    assert (memory.disposition, memory.reasons) == (20, ["Gold."])
    assert send.get("npcs/tomas-reed/memories")[1]["memories"][0]["text"] == PURSE
    undo(merged)
    assert known("tomas-reed") == {}
    assert known("tom-reed") == {PURSE: "witnessed"}


@pytest.mark.parametrize("names", [["Tom Reed"], ["Tom Reed", "Tomas Reed"]])
def test_a_correction_while_merged_is_remembered_by_the_right_one(
    send: ApiClient, names: list[str]
) -> None:
    record(send, *names)
    merged = merge()
    record(send, *names, version=2, what="Tom Reed lost the purse.")
    assert known("tomas-reed") == {"Tom Reed lost the purse.": "witnessed"}
    undo(merged)
    assert known("tom-reed") == {"Tom Reed lost the purse.": "witnessed"}
    assert bool(known("tomas-reed")) == was_there("tomas-reed") == ("Tomas Reed" in names)


def test_a_retraction_and_a_restoration_while_merged(send: ApiClient, world: World) -> None:
    record(send, "Tom Reed")
    merged = merge()
    retract_episode(world, "purse")
    assert known("tomas-reed") == {}
    restore_episode(world, "purse")
    assert known("tomas-reed") == {PURSE: "witnessed"}
    undo(merged)
    assert (known("tom-reed"), known("tomas-reed")) == ({PURSE: "witnessed"}, {})


def test_what_was_retracted_while_merged_is_restored_after_the_undo(
    send: ApiClient, world: World
) -> None:
    record(send, "Tom Reed")
    merged = merge()
    retract_episode(world, "purse")
    undo(merged)
    assert known("tom-reed") == known("tomas-reed") == {}
    restore_episode(world, "purse")
    assert (known("tom-reed"), known("tomas-reed")) == ({PURSE: "witnessed"}, {})


def test_what_was_revealed_to_one_and_the_secrets_of_a_text_go_over(send: ApiClient) -> None:
    record(send, "Mira Voss", what=f"{PURSE}\n:::secret npc:tom-reed\nIt was his own.\n:::")
    reveal(Episode.objects.get(), Audience("npc", "tom-reed"))
    before = known("tom-reed")
    assert set(before.values()) == {"told"}
    assert "It was his own." in next(iter(before))
    merged = merge()
    assert known("tomas-reed") == before
    undo(merged)
    assert (known("tom-reed"), known("tomas-reed")) == (before, {})


def test_a_rumour_that_one_heard_goes_over_and_comes_back(send: ApiClient) -> None:
    tell_rumour("jory-fenn", "tom-reed")
    merged = merge()
    (heard,) = remembered_by(npc("tomas-reed"))
    assert (heard.memory.text, heard.way) == (RUMOUR, "heard")
    assert heard.memory.metadata["audience"] == "npc:tomas-reed"
    undo(merged)
    (heard,) = remembered_by(npc("tom-reed"))
    assert heard.memory.metadata["audience"] == "npc:tom-reed"
    assert known("tomas-reed") == {}


def test_what_both_heard_from_one_is_remembered_once(send: ApiClient) -> None:
    tell_rumour("jory-fenn", "tom-reed")
    tell_rumour("jory-fenn", "tomas-reed")
    merged = merge()
    assert [each.way for each in remembered_by(npc("tomas-reed"))] == ["heard"]
    undo(merged)
    assert known("tom-reed") == known("tomas-reed") == {RUMOUR: "heard"}


def test_who_was_told_by_the_merged_one_still_knows_it_and_its_corrections(
    send: ApiClient,
) -> None:
    record(send, "Tom Reed")
    tell_of_the_purse("tom-reed", "jory-fenn")
    merged = merge()
    (heard,) = remembered_by(npc("jory-fenn"))
    assert [each.teller.slug for each in heard.chain] == ["tomas-reed"]
    assert heard.memory.metadata["heard_from"] == "tomas-reed"
    record(send, "Tom Reed", version=2, what="Tom Reed lost the purse.")
    assert known("jory-fenn") == {"Tom Reed lost the purse.": "heard"}
    undo(merged)
    (heard,) = remembered_by(npc("jory-fenn"))
    assert [each.teller.slug for each in heard.chain] == ["tom-reed"]
    record(send, "Tom Reed", version=3)
    assert known("jory-fenn") == {PURSE: "heard"}


def test_who_heard_it_corrected_while_merged_keeps_the_corrected_words(send: ApiClient) -> None:
    record(send, "Jory Fenn")
    tell_of_the_purse("jory-fenn", "tom-reed")
    merged = merge()
    record(send, "Jory Fenn", version=2, what="Nobody found the purse.")
    assert known("tomas-reed") == {"Nobody found the purse.": "heard"}
    undo(merged)
    assert (known("tom-reed"), known("tomas-reed")) == ({"Nobody found the purse.": "heard"}, {})


def test_a_telling_taken_back_while_merged_stays_taken_back(send: ApiClient) -> None:
    rumour = tell_rumour("jory-fenn", "tom-reed")
    merged = merge()
    take_back(Hearsay.objects.get(pk=rumour.pk), by="gm")
    assert known("tomas-reed") == {}
    undo(merged)
    assert known("tom-reed") == {}


@pytest.mark.parametrize(
    ("teller", "listener"), [("tom-reed", "tomas-reed"), ("tomas-reed", "tom-reed")]
)
def test_what_the_two_told_each_other_is_nothing_while_they_are_one(
    send: ApiClient, teller: str, listener: str
) -> None:
    record(send, "Tom Reed" if teller == "tom-reed" else "Tomas Reed")
    tell_of_the_purse(teller, listener)
    tell_rumour(teller, listener)
    before = known("tom-reed"), known("tomas-reed")
    merged = merge()
    assert known("tomas-reed") == {PURSE: "witnessed"}
    undo(merged)
    assert (known("tom-reed"), known("tomas-reed")) == before


def test_memories_come_back_through_two_merges(send: ApiClient) -> None:
    record(send, "Tom Reed")
    tell_rumour("mira-voss", "tom-reed")
    before = known("tom-reed")
    first = merge()
    second = merge_npcs(npc("tomas-reed"), into=npc("jory-fenn"), **BY)
    assert known("jory-fenn") == before
    undo(second)
    assert (known("tomas-reed"), known("jory-fenn")) == (before, {})
    undo(first)
    assert (known("tom-reed"), known("tomas-reed")) == (before, {})


def test_a_merge_and_its_undo_lock_memories_before_the_graph(send: ApiClient) -> None:
    record(send, "Tom Reed")
    order = ["worlds_party", "episodes_episode", "memories_namespace", "pg_advisory_xact_lock"]
    assert tables_locked(merge) == order
    merged = NPCMerge.objects.get()
    assert tables_locked(lambda: undo(merged)) == order


def tables_locked(write: Callable[[], object]) -> list[str]:
    """Return what is locked until the first lock of a graph, each once."""
    with CaptureQueriesContext(connection) as captured:
        write()
    lock = re.compile(
        r"pg_advisory_xact_lock|(?<=FROM \")\w+(?=\".* FOR (?:NO KEY )?UPDATE)", re.DOTALL
    )
    found = [match[0] for query in captured if (match := lock.search(str(query["sql"])))]
    return list(dict.fromkeys(found[: found.index("pg_advisory_xact_lock") + 1]))


def test_a_reveal_does_not_take_a_memory_from_who_is_in_the_trash(send: ApiClient) -> None:
    record(send, "Tom Reed", "Mira Voss")
    trash_npcs([npc("tom-reed")], by="anna")
    reveal(Episode.objects.get(), Audience("npc", "jory-fenn"))
    restore_npcs([npc("tom-reed")], by="anna")
    assert known("tom-reed") == {PURSE: "witnessed"}
