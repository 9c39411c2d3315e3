"""A memory is as important as those changes of its episode that count: one that waits for approval,
was rejected or reversed left no impression."""

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from episodes.ingest import ingest_episode
from episodes.models import Episode
from episodes.schemas import EpisodeIn
from memories.curation import edits
from memories.models import MemoryItem, Namespace
from memories.states import Maker
from memories.witnesses.hearsay import Telling, tell
from memories.witnesses.queries import Remembered, remembered_by
from npcs.dispositions import approve, reject, restore, reverse
from npcs.models import NPC, DispositionChange, OpinionChange
from npcs.opinions import rule_on_opinion
from npcs.trash import restore_npcs, trash_npcs
from tests import cast
from tests.memories.test_reflection import wait_for_a_lock
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
BY = {"made_by": "anna"}


@pytest.fixture(autouse=True)
def people(world: World, lanternbearers: Party) -> None:
    for fields in (cast.MIRA_VOSS, cast.JORY_FENN):
        cast.create_npc(world, **fields)


def record(world: World, *deltas: dict[str, Any], version: int = 1) -> None:
    body = {
        "summary_id": "robbery",
        "version": version,
        "party_id": "lanternbearers",
        "what": "They robbed the ferry.",
        "when": {"in_world_at": 10.0},
        "who": {"npcs": ["mira-voss", "jory-fenn"]},
        "relations_delta": list(deltas),
    }
    ingest_episode(world, EpisodeIn.model_validate(body))


def robbed(delta: int, **more: Any) -> dict[str, Any]:
    return {"npc": "mira-voss", "delta": delta, "reason": "Robbed.", **more}


def memory(slug: str = "mira-voss") -> Remembered:
    (found,) = remembered_by(NPC.objects.get(slug=slug))
    return found


def impression(slug: str = "mira-voss") -> tuple[int, list[str], float, float | None]:
    found = memory(slug)
    row = found.memory
    return found.disposition, list(found.reasons), row.importance, row.forgotten_from


def test_a_change_that_waits_makes_no_impression_until_it_is_approved(world: World) -> None:
    record(world, robbed(-50))
    untouched = impression("jory-fenn")
    assert impression() == untouched
    assert untouched[:3] == (0, [], 0.3)
    change = DispositionChange.objects.get()
    assert change.held
    approve(change, **BY)
    assert impression() == (-50, ["Robbed."], 1.0, None)
    reverse(change, reason="No.", **BY)
    assert impression() == untouched
    restore(change, reason="Yes.", **BY)
    assert impression() == (-50, ["Robbed."], 1.0, None)


def test_a_rejected_change_is_forgotten_and_remembered_when_it_is_restored(world: World) -> None:
    record(world, robbed(-10), robbed(-45, axis="trust", reason="Lied to."))
    held = list(DispositionChange.objects.order_by("id"))
    assert all(change.held for change in held)
    reject(held[1], reason="No.", **BY)
    approve(held[0], **BY)
    assert impression()[:2] == (-10, ["Robbed."])
    restore(held[1], reason="Yes.", **BY)
    assert impression()[:2] == (-55, ["Robbed.", "Lied to."])


def test_an_opinion_of_another_npc_makes_an_impression_and_follows_its_rulings(
    world: World,
) -> None:
    record(world, robbed(-15, toward="jory-fenn", reason="He hit the ferry."))
    disposition, reasons, importance, _day = impression()
    assert (disposition, reasons) == (0, ["He hit the ferry."])
    assert importance > impression("jory-fenn")[2] == 0.3
    change = OpinionChange.objects.get()
    rule_on_opinion(change, "reverse", reason="No.", made_by="anna")
    assert impression() == impression("jory-fenn")
    rule_on_opinion(change, "restore", reason="Yes.", made_by="anna")
    assert impression()[1:3] == (["He hit the ferry."], importance)


def test_a_ruling_keeps_what_was_made_of_the_memory(world: World) -> None:
    record(world, robbed(-50))
    namespace = Namespace.objects.get(npc__slug="mira-voss")
    edits.edit(namespace, memory().memory.pk, "Thieves took the ferry.", by="gm")
    approve(DispositionChange.objects.get(), **BY)
    assert memory().memory.text == "Thieves took the ferry."
    assert impression()[:3] == (-50, ["Robbed."], 1.0)


def test_the_memory_of_a_game_master_s_agent_follows_too(world: World) -> None:
    record(world, robbed(-50))
    rows = MemoryItem.objects.filter(namespace__name="gm", state="active")
    assert rows.get().importance == 0.3
    approve(DispositionChange.objects.get(), **BY)
    assert rows.get().importance == 1.0


def test_a_new_version_keeps_the_ruling_and_the_impression(world: World) -> None:
    record(world, robbed(-50))
    approve(DispositionChange.objects.get(), **BY)
    record(world, robbed(-50), version=2)
    assert impression()[:2] == (-50, ["Robbed."])
    record(world, robbed(-60), version=3)
    assert impression()[:2] == (0, [])


def test_who_is_in_the_trash_meanwhile_comes_back_with_the_memory(world: World) -> None:
    record(world, robbed(-50))
    jory = NPC.objects.get(slug="jory-fenn")
    trash_npcs([jory], by="anna")
    approve(DispositionChange.objects.get(), **BY)
    restore_npcs([jory], by="anna")
    assert memory("jory-fenn").is_witnessed


@pytest.mark.django_db(transaction=True)
def test_a_telling_and_a_ruling_at_once_do_not_wait_for_each_other(world: World) -> None:
    record(world, robbed(-50))
    told = Telling(
        NPC.objects.get(slug="mira-voss"),
        NPC.objects.get(slug="jory-fenn"),
        memory_id=memory().memory.pk,
    )

    def rule() -> None:
        approve(DispositionChange.objects.get(), **BY)
        connection.close()

    worker = threading.Thread(target=rule)
    with transaction.atomic():
        tell(told, by="gm", made_by=Maker.PERSON)
        worker.start()
        wait_for_a_lock()
    worker.join()
    assert impression()[0] == -50
    listener = remembered_by(NPC.objects.get(slug="jory-fenn"))
    assert sorted(each.way for each in listener) == ["heard", "witnessed"]


def test_what_was_told_on_stays_told(world: World) -> None:
    record(world, robbed(-50))
    teller, listener = NPC.objects.get(slug="mira-voss"), NPC.objects.get(slug="jory-fenn")
    Episode.objects.get().appearances.filter(npc=listener).delete()
    told = Telling(teller, listener, memory_id=memory().memory.pk)
    tell(told, by="gm", made_by=Maker.PERSON)
    reject(DispositionChange.objects.get(), reason="No.", **BY)
    assert [each.way for each in remembered_by(listener)] == ["heard"]
