"""Jory Fenn remembers the rope: who was there remembers an episode, who was told heard of it, and
nobody else knows of it."""

from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from episodes.erasure import erase_episode
from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.models import Episode
from episodes.schemas import EpisodeIn
from memories import namespaces
from memories.curation import edits, lifecycle
from memories.erasure import deletion
from memories.models import ErasureReceipt, MemoryItem, Namespace
from memories.reflection import Triggers, run_reflection, start_reflection
from memories.revision_tools import MemoryReviseAnswer, MemoryReviseAsk, memory_revise
from memories.search import recall
from memories.states import Maker, State
from memories.tasks import remember_episodes
from memories.witnesses import hearsay
from memories.witnesses.hearsay import Telling, tell
from memories.witnesses.queries import remembered_by
from npcs.models import NPC
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.models import uuid7
from tests import cast
from worlds import reveals
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

ROPE: dict[str, Any] = {
    "summary_id": "ep-rope",
    "party_id": "lanternbearers",
    "when": {"in_world_at": 100.0, "in_world_label": "1 Rope 212"},
    "who": {"players": ["Nuri"], "npcs": ["jory-fenn", "mira-voss"]},
    "where": "lower landing",
    "what": "Jory Fenn went under, and Nuri pulled him out with a burning rope."
    "\n:::secret npc:mira-voss\nMira Voss had cut the mooring herself.\n:::\n"
    ":::secret\nThe ninth oarsman watched from the fog.\n:::",
    "relations_delta": [
        {"npc": "jory-fenn", "delta": 30, "axis": "trust", "reason": "They saved his life."}
    ],
    "notes": "Jory does not know who cut it.",
}


@pytest.fixture(autouse=True)
def ferrymark(world: World, lanternbearers: Party) -> None:
    for fields in (cast.JORY_FENN, cast.MIRA_VOSS, cast.NINTH_OARSMAN):
        cast.create_npc(world, **fields)
    cast.create_npc(world, slug="tobin", name="Tobin Marrow")


def record(world: World, **changes: Any) -> Episode:
    summary = EpisodeIn.model_validate({**ROPE, **changes})
    ingest_episode(world, summary)
    return Episode.objects.get(world=world, external_id=summary.summary_id)


def memory_of(world: World, slug: str) -> Namespace:
    return namespaces.get_or_create_namespace(world, f"npc:{slug}" if slug != "gm" else "gm")


def known(world: World, slug: str) -> list[str]:
    """What somebody remembers, latest first, as every search finds it."""
    listed = [memory.text for memory in recall.latest(memory_of(world, slug), count=100)]
    found = recall.search(memory_of(world, slug), "rope Jory Mira mooring", limit=100).memories
    assert {memory.text for memory in found} <= set(listed)
    return listed


def npc(slug: str) -> NPC:
    return NPC.objects.get(slug=slug)


def latest_row(world: World, slug: str) -> MemoryItem:
    row = memory_of(world, slug).memories.active().latest_first().first()
    assert isinstance(row, MemoryItem)
    return row


def tell_of_it(world: World, teller: str, listener: str, **telling: Any) -> Any:
    telling = {"memory_id": latest_row(world, teller).pk, **telling}
    return tell(Telling(npc(teller), npc(listener), **telling), by="gm", made_by=Maker.PERSON)


OPEN = "Jory Fenn went under, and Nuri pulled him out with a burning rope."


def test_who_was_there_remembers_and_nobody_else(world: World) -> None:
    record(world)
    assert known(world, "jory-fenn") == [OPEN]
    (mira,) = known(world, "mira-voss")
    assert "cut the mooring" in mira
    assert "oarsman" not in mira
    assert known(world, "ninth-oarsman") == known(world, "tobin") == []
    (gm,) = known(world, "gm")
    assert "oarsman watched" in gm
    assert "does not know who cut it" in gm


def test_what_moved_them_is_important_and_says_why(world: World) -> None:
    record(world)
    jory, mira = latest_row(world, "jory-fenn"), latest_row(world, "mira-voss")
    assert jory.importance > mira.importance == 0.3
    assert jory.metadata == {
        "audience": "npc:jory-fenn",
        "way": "witnessed",
        "disposition": 30,
        "reasons": ["They saved his life."],
    }
    assert (jory.in_world_at, jory.in_world_label) == (100.0, "1 Rope 212")


def test_recording_it_again_writes_nothing(world: World) -> None:
    record(world)
    before = MemoryItem.objects.count()
    record(world)
    retract_episode(world, "ep-rope")
    restore_episode(world, "ep-rope")
    assert MemoryItem.objects.count() == before
    assert known(world, "jory-fenn") == [OPEN]


def test_a_retracted_episode_never_happened(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    tell_of_it(world, "tobin", "ninth-oarsman")
    retract_episode(world, "ep-rope")
    for slug in ("jory-fenn", "mira-voss", "tobin", "ninth-oarsman", "gm"):
        assert known(world, slug) == []
    restore_episode(world, "ep-rope")
    for slug in ("jory-fenn", "tobin", "ninth-oarsman"):
        assert known(world, slug) == [OPEN]


def reflect_upon_ropes(world: World) -> None:
    """Let Jory and Mira make an insight of three episodes alike."""
    for pier in ("upper", "lower", "old"):
        what = f"Nuri pulled Jory Fenn out of the river with a rope at the {pier} pier."
        record(world, summary_id=f"ep-{pier}", what=what, relations_delta=[], notes="")
    for slug in ("jory-fenn", "mira-voss"):
        reflection = start_reflection(memory_of(world, slug), Triggers(episodes=3))
        assert reflection
        assert len(run_reflection(reflection) or []) == 1


def test_what_has_no_day_is_listed_after_what_has_one(world: World) -> None:
    reflect_upon_ropes(world)
    days = [each.memory.in_world_at for each in remembered_by(npc("jory-fenn"))]
    assert [day is None for day in days] == [False, False, False, True]


def test_an_insight_from_retracted_episodes_leaves_use_with_them(world: World) -> None:
    reflect_upon_ropes(world)
    for pier in ("upper", "lower", "old"):
        retract_episode(world, f"ep-{pier}")
    assert known(world, "jory-fenn") == known(world, "mira-voss") == []


def test_an_insight_leaves_use_when_its_owner_was_not_there_after_all(world: World) -> None:
    reflect_upon_ropes(world)
    for pier in ("upper", "lower", "old"):
        what = f"Nuri pulled Mira Voss out of the river with a rope at the {pier} pier."
        who = {"players": ["Nuri"], "npcs": ["mira-voss"]}
        changes = {"what": what, "who": who, "relations_delta": [], "notes": ""}
        record(world, summary_id=f"ep-{pier}", version=2, **changes)
    assert known(world, "jory-fenn") == []
    assert all("Jory" not in text for text in known(world, "mira-voss"))


def test_a_correction_replaces_what_is_remembered_and_was_told(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    tell_of_it(world, "tobin", "ninth-oarsman", text="Some guild man drowned.")
    record(world, version=2, what="Jory Fenn swam ashore alone.")
    assert known(world, "jory-fenn") == known(world, "tobin") == ["Jory Fenn swam ashore alone."]
    assert known(world, "ninth-oarsman") == ["Some guild man drowned."]
    assert memory_of(world, "jory-fenn").memories.history().count() == 1


def test_who_was_not_there_after_all_knows_nothing_nor_told_it(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    record(world, version=2, who={"npcs": ["mira-voss"]}, relations_delta=[])
    assert known(world, "jory-fenn") == known(world, "tobin") == []
    assert len(known(world, "mira-voss")) == 1


def test_a_reveal_tells_an_npc_and_undoing_it_takes_it_back(world: World) -> None:
    episode = record(world)
    entry = reveals.reveal(episode, Audience("npc", "tobin"))
    assert known(world, "tobin") == [OPEN]
    assert latest_row(world, "tobin").metadata["way"] == "told"
    reveals.undo_reveal(entry)
    assert known(world, "tobin") == []
    assert known(world, "jory-fenn") == [OPEN]


def test_deleting_the_episode_leaves_nothing(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    erase_episode(world, "ep-rope")
    assert not MemoryItem.objects.exists()
    assert ErasureReceipt.objects.filter(verified_at=None).count() == 0
    assert all(receipt.is_clean for receipt in ErasureReceipt.objects.all())


def test_all_tables_are_searched_once_however_many_remembered(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    with CaptureQueriesContext(connection) as queries:
        erase_episode(world, "ep-rope")
    assert ErasureReceipt.objects.count() > 2
    searched = [each for each in queries if 'FROM "worlds_world" WHERE "id"' in each["sql"]]
    assert len(searched) == 1, "the ids are searched in each table"


def test_deleting_a_memory_for_good_takes_what_was_told_of_it(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    pk = latest_row(world, "jory-fenn").pk
    deletion.erase(memory_of(world, "jory-fenn"), ErasureReceipt.Scope.MEMORY, pk)
    assert known(world, "jory-fenn") == known(world, "tobin") == []
    assert not memory_of(world, "tobin").memories.exists()


def test_hearsay_keeps_who_told_whom_and_how_sure(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin", sureness=0.9)
    second = tell_of_it(world, "tobin", "ninth-oarsman", sureness=0.5)
    (remembered,) = remembered_by(npc("ninth-oarsman"))
    assert remembered.hearsay == second
    chain = remembered.chain
    assert [(link.teller.slug, link.sureness) for link in chain] == [
        ("jory-fenn", 0.9),
        ("tobin", 0.5),
    ]
    witnessed, heard = latest_row(world, "jory-fenn"), latest_row(world, "ninth-oarsman")
    assert heard.importance < witnessed.importance
    assert heard.metadata["heard_from"] == "tobin"


def test_telling_again_changes_nothing_and_a_telling_can_be_taken_back(world: World) -> None:
    record(world)
    first = tell_of_it(world, "jory-fenn", "tobin")
    assert tell_of_it(world, "jory-fenn", "tobin") == first
    tell_of_it(world, "tobin", "ninth-oarsman")
    hearsay.take_back(first, by="gm")
    assert known(world, "tobin") == known(world, "ninth-oarsman") == []
    record(world, version=2, what="Jory Fenn swam.")
    assert known(world, "tobin") == known(world, "ninth-oarsman") == []


def test_nobody_tells_what_they_do_not_know(world: World) -> None:
    record(world)
    foreign = latest_row(world, "mira-voss").pk
    with pytest.raises(NotFound):
        tell_of_it(world, "jory-fenn", "tobin", memory_id=foreign)
    with pytest.raises(Invalid):
        tell_of_it(world, "jory-fenn", "jory-fenn")
    own = latest_row(world, "jory-fenn").pk
    retract_episode(world, "ep-rope")
    with pytest.raises(Conflict):
        tell(Telling(npc("jory-fenn"), npc("tobin"), own), by="gm", made_by=Maker.PERSON)


def test_npcs_forget_by_the_days_of_their_world(world: World) -> None:
    record(world)
    record(
        world, summary_id="later", when={"in_world_at": 100.0 + 4 * 365}, who={"npcs": ["tobin"]}
    )
    # Four years of the world are too long for a bystander, whatever the clock on the wall says.
    assert known(world, "mira-voss") == []
    assert known(world, "jory-fenn") == [OPEN]
    with override_settings(NPC_MEMORY_YEARS=0):
        record(world, version=2)
        assert len(known(world, "mira-voss")) == 1


def test_a_person_s_wording_stays_until_the_record_is_corrected(world: World) -> None:
    episode = record(world)
    edits.edit(
        memory_of(world, "jory-fenn"), latest_row(world, "jory-fenn").pk, "The rope!", by="gm"
    )
    record(world, version=1)
    reveals.reveal(episode, Audience("npc", "tobin"))
    assert known(world, "jory-fenn") == ["The rope!"]
    retract_episode(world, "ep-rope")
    assert known(world, "jory-fenn") == []
    restore_episode(world, "ep-rope")
    assert known(world, "jory-fenn") == ["The rope!"]
    record(world, version=2, what="Jory Fenn swam.")
    assert known(world, "jory-fenn") == ["Jory Fenn swam."]


def test_an_episode_recorded_before_is_remembered_later(world: World) -> None:
    record(world)
    MemoryItem.objects.all().delete()
    Episode.objects.get().remembered.delete()
    assert remember_episodes() == 1
    assert known(world, "jory-fenn") == [OPEN]
    assert remember_episodes() == 0


def test_another_npc_of_the_same_id_does_not_inherit_the_memory(world: World) -> None:
    from npcs.trash import trash_npcs

    record(world)
    trash_npcs([npc("jory-fenn")], by="gm")
    cast.create_npc(world, **cast.JORY_FENN)
    assert known(world, "jory-fenn") == []


def test_states_of_a_pending_telling_follow_the_episode(world: World) -> None:
    record(world)
    Namespace.objects.filter(pk=memory_of(world, "tobin").pk).update(review="all")
    row = latest_row(world, "jory-fenn")
    tell(Telling(npc("jory-fenn"), npc("tobin"), row.pk), by="engine", made_by=Maker.TOOL)
    assert known(world, "tobin") == []
    retract_episode(world, "ep-rope")
    assert memory_of(world, "tobin").memories.get().state == State.REJECTED


def revised_as(world: World, slug: str, **arguments: Any) -> MemoryReviseAnswer:
    caller = Caller(world, Audience("npc", slug), scopes=frozenset(["agent:write"]))
    return memory_revise(MemoryReviseAsk(**arguments), caller)


def test_an_npc_corrects_its_own_memory_of_an_episode_alone(world: World) -> None:
    record(world)
    pk = latest_row(world, "jory-fenn").pk
    with pytest.raises(NotFound):
        revised_as(world, "tobin", memory_id=pk, action="correct", text="It was a chain.")
    revised_as(world, "jory-fenn", memory_id=pk, action="correct", text="It was a chain.")
    assert known(world, "jory-fenn") == ["It was a chain."]
    (hers,) = known(world, "mira-voss")
    assert hers.startswith(OPEN)
    retract_episode(world, "ep-rope")
    assert known(world, "jory-fenn") == []


def assert_stays_unknown(world: World, slug: str, pk: Any) -> None:
    before = known(world, slug)
    with pytest.raises(Conflict):
        revised_as(world, slug, memory_id=pk, action="restore")
    assert known(world, slug) == before


def test_nobody_brings_back_what_a_retraction_took(world: World) -> None:
    record(world)
    heard = tell_of_it(world, "jory-fenn", "tobin").memory_id
    first = latest_row(world, "jory-fenn").pk
    reworded = revised_as(
        world, "jory-fenn", memory_id=first, action="correct", text="It was a chain."
    )
    retract_episode(world, "ep-rope")
    assert_stays_unknown(world, "tobin", heard)
    for pk in (first, reworded.memory_id):
        assert_stays_unknown(world, "jory-fenn", pk)
    with pytest.raises(Conflict):
        edits.undo(memory_of(world, "jory-fenn"), reworded.memory_id, by="agent")
    restore_episode(world, "ep-rope")
    assert known(world, "jory-fenn") == ["It was a chain."]
    revised_as(world, "jory-fenn", memory_id=first, action="restore")
    assert OPEN in known(world, "jory-fenn")


def test_who_was_not_there_after_all_does_not_bring_it_back(world: World) -> None:
    record(world)
    first = latest_row(world, "jory-fenn").pk
    revised_as(world, "jory-fenn", memory_id=first, action="correct", text="It was a chain.")
    reworded = latest_row(world, "jory-fenn").pk
    record(world, version=2, who={"npcs": ["mira-voss"]}, relations_delta=[])
    for pk in (first, reworded):
        assert_stays_unknown(world, "jory-fenn", pk)


def test_a_wording_from_before_a_correction_does_not_come_back(world: World) -> None:
    record(world)
    first = latest_row(world, "jory-fenn").pk
    record(world, version=2, what="Jory Fenn swam.")
    corrected = latest_row(world, "jory-fenn").pk
    assert_stays_unknown(world, "jory-fenn", first)
    with pytest.raises(Conflict):
        edits.undo(memory_of(world, "jory-fenn"), corrected, by="agent")
    revised_as(world, "jory-fenn", memory_id=corrected, action="forget")
    revised_as(world, "jory-fenn", memory_id=corrected, action="restore")
    assert known(world, "jory-fenn") == ["Jory Fenn swam."]


def test_a_telling_that_was_taken_back_does_not_come_back_in_any_words(world: World) -> None:
    telling = Telling(npc("jory-fenn"), npc("tobin"), text="The bridge is out.")
    told = tell(telling, by="gm", made_by=Maker.PERSON)
    reworded = revised_as(
        world, "tobin", memory_id=told.memory_id, action="correct", text="The bridge is gone."
    )
    hearsay.take_back(told, by="gm")
    for pk in (told.memory_id, reworded.memory_id):
        assert_stays_unknown(world, "tobin", pk)
    assert known(world, "tobin") == []


def test_a_misspelt_npc_has_no_memory_and_the_nearest_are_named(world: World) -> None:
    caller = Caller(world, Audience("npc", "jory-fen"))
    for ask in (
        lambda: namespaces.get_or_create_namespace(world, "npc:jory-fen"),
        lambda: namespaces.require_own_namespace(caller),
    ):
        with pytest.raises(NotFound) as refused:
            ask()
        assert list(refused.value.candidates) == ["jory-fenn"]
    player = Caller(world, Audience("public"), namespace="npc:jory-fen")
    with pytest.raises(NotFound) as refused:
        namespaces.require_own_namespace(player)
    assert not refused.value.candidates, "it would tell a player that there is such an NPC"
    assert "fenn" not in refused.value.detail
    assert not Namespace.objects.filter(name="npc:jory-fen").exists()


def test_a_key_of_another_campaign_changes_no_memory_of_an_episode(world: World) -> None:
    record(world)
    namespace = memory_of(world, "jory-fenn")
    namespace.only_campaign = uuid7()
    with pytest.raises(NotFound):
        lifecycle.find_memory(namespace, latest_row(world, "jory-fenn").pk)
