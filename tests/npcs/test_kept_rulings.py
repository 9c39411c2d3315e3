"""What has been decided about a change stays decided when a new version of the episode tells it
again."""

from typing import Any

import pytest

from episodes.ingest import restore_episode, retract_episode
from memory_site.decided import decided_lately
from npcs.dispositions import approve, find_wrong_dispositions, reject, restore, reverse
from npcs.models import NPC, Disposition, DispositionChange, DispositionRules, OpinionChange
from npcs.opinions import opinions_of, rule_on_opinion
from tests.conftest import ApiClient
from tests.npcs.ledger_replay import replay
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
BETRAYAL = {"npc": "mira-voss", "delta": -55, "reason": "They sold her boat."}
OPINION = {"npc": "mira-voss", "toward": "jory-fenn", "delta": -55, "reason": "He lied."}


def tell(engine: ApiClient, version: int, *deltas: dict[str, Any], what: str = "A quarrel.") -> Any:
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "when": {"in_world_at": 1.0},
        "what": what,
        "relations_delta": deltas,
        "version": version,
    }
    status, report = engine.post("world/episodes", body)
    assert status == 200, report
    return report


def held() -> Any:
    return DispositionChange.objects.pending().get()


def standing(party: Party) -> tuple[float, int]:
    """The score of Mira, and how many changes wait."""
    row = Disposition.objects.get(party=party, npc__slug="mira-voss")
    assert replay(party)["mira-voss"] == row.score
    assert not find_wrong_dispositions(party)
    return row.score, row.pending


def jorys(delta: int) -> dict[str, Any]:
    return {"npc": "jory-fenn", "delta": delta, "reason": "A favour."}


def test_an_approved_change_counts_in_the_next_version(
    engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    tell(engine, 1, BETRAYAL, jorys(3))
    approve(held(), reason="So it was.", made_by="anna")
    assert tell(engine, 2, jorys(5), BETRAYAL)["pending"] == 0
    assert standing(lanternbearers) == (-55, 0)
    ruling = DispositionChange.objects.filter(kind="approval").latest("id")
    assert (ruling.reason, ruling.made_by) == ("So it was.", "anna")
    assert ruling.about
    assert ruling.about.episode_version == 2
    assert tell(engine, 5, BETRAYAL)["pending"] == 0


@pytest.mark.parametrize(
    "other", [{"delta": -56}, {"reason": "They sank it."}, {"axis": "trust"}, {"npc": "jory-fenn"}]
)
def test_a_changed_one_waits_again(
    engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC, other: dict[str, Any]
) -> None:
    tell(engine, 1, BETRAYAL)
    approve(held(), made_by="anna")
    assert tell(engine, 2, {**BETRAYAL, **other})["pending"] == 1
    assert standing(lanternbearers)[0] == 0
    assert tell(engine, 3, BETRAYAL)["pending"] == 1, "the version before told something else"


def test_a_rejected_and_a_reversed_change_stay_out(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    small = {**BETRAYAL, "delta": -9, "axis": "trust", "reason": "Late."}
    tell(engine, 1, BETRAYAL, {**small, "delta": 9})
    reject(held(), reason="No.", made_by="anna")
    reverse(DispositionChange.objects.get(delta=9), reason="No.", made_by="anna")
    assert tell(engine, 2, BETRAYAL, {**small, "delta": 9}, what="Again.")["pending"] == 0
    assert standing(lanternbearers) == (0, 0)
    change = DispositionChange.objects.get(delta=9, episode_version=2)
    restore(change, reason="Yes.", made_by="anna")
    assert standing(lanternbearers) == (9, 0)
    tell(engine, 3, BETRAYAL, {**small, "delta": 9})
    assert standing(lanternbearers) == (9, 0)


def test_of_two_identical_changes_each_keeps_its_own(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    tell(engine, 1, BETRAYAL, BETRAYAL)
    approve(DispositionChange.objects.pending().earliest("id"), made_by="anna")
    assert tell(engine, 2, BETRAYAL, BETRAYAL, jory_free(), BETRAYAL)["pending"] == 2
    assert standing(lanternbearers) == (-54, 2)


def jory_free() -> dict[str, Any]:
    return {"npc": "mira-voss", "delta": 1, "reason": "A smile."}


def test_a_retraction_between_loses_nothing(
    engine: ApiClient, lanternbearers: Party, mira: NPC, world: World
) -> None:
    tell(engine, 1, BETRAYAL)
    approve(held(), made_by="anna")
    retract_episode(world, "ep-1")
    tell(engine, 2, BETRAYAL)
    assert standing(lanternbearers) == (-55, 0)
    retract_episode(world, "ep-1")
    restore_episode(world, "ep-1")
    assert standing(lanternbearers) == (-55, 0)
    assert DispositionChange.objects.filter(kind="approval").count() == 2


def test_opinions_between_npcs_keep_their_rulings(
    engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    tell(engine, 1, OPINION)
    rule_on_opinion(OpinionChange.objects.get(), "approve", reason="", made_by="anna")
    assert tell(engine, 2, OPINION, jorys(5))["pending"] == 0
    assert [each.score for each in opinions_of(mira)] == [-55]
    assert tell(engine, 3, {**OPINION, "delta": -60})["pending"] == 1


def test_consequences_follow_a_kept_approval_and_keep_their_own_rulings(
    engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC, world: World
) -> None:
    DispositionRules.objects.create(world=world, kin=50)
    family = [{"relation": "brother", "npc": "jory-fenn"}]
    for npc in (jory, mira):
        body = {
            "npc_id": npc.slug,
            "name": npc.name,
            "role": "kin",
            "family": family if npc is mira else [],
        }
        assert engine.put("world/npcs", body)[0] == 200
    tell(engine, 1, BETRAYAL)
    approve(held(), made_by="anna")
    consequence = DispositionChange.objects.get(kind="consequence")
    tell(engine, 2, BETRAYAL, what="Again.")
    assert DispositionChange.objects.in_force().filter(kind="consequence").count() == 1
    consequence = DispositionChange.objects.filter(kind="consequence").latest("id")
    reverse(consequence, reason="He does not care.", made_by="anna")
    tell(engine, 3, BETRAYAL, what="And again.")
    assert not DispositionChange.objects.in_force().filter(kind="consequence").exists()
    assert standing(lanternbearers) == (-55, 0)
    assert Disposition.objects.get(npc=jory).score == 0


def test_the_inbox_lists_a_kept_ruling_once(
    engine: ApiClient, lanternbearers: Party, mira: NPC, world: World
) -> None:
    tell(engine, 1, BETRAYAL)
    approve(held(), made_by="anna")
    tell(engine, 2, BETRAYAL)
    (decided,) = decided_lately(world)
    change = DispositionChange.objects.get(episode_version=2)
    assert (decided.pk, decided.by) == (change.pk, "anna")
