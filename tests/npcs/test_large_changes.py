"""A large swing waits for approval, however it is cut into changes."""

from typing import Any

import pytest

from npcs.models import NPC, DispositionChange
from tests.conftest import ApiClient
from worlds.models import Party

pytestmark = pytest.mark.django_db


def record(
    engine: ApiClient, name: str, *deltas: tuple[str, int], session: str = "", scene: bool = True
) -> Any:
    body: dict[str, Any] = {
        "summary_id": name,
        "party_id": "lanternbearers",
        "when": {"in_world_at": 1.0},
        "what": "They quarrelled.",
        "version": 1,
        "relations_delta": [
            {"npc": "mira-voss", "delta": delta, "axis": axis} for axis, delta in deltas
        ],
    }
    if session:
        body |= {"session_id": session} | ({"scene_id": f"{session}-{name}"} if scene else {})
    status, report = engine.post("world/episodes", body)
    assert status == 200, report
    return report


def held() -> int:
    return DispositionChange.objects.filter(held=True).count()


def test_three_axes_of_one_episode_are_one_swing(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    report = record(engine, "ep-1", ("trust", -20), ("respect", -20), ("affection", -20))
    assert (report["pending"], held()) == (3, 3)


def test_a_loss_twice_in_one_episode_is_one_swing(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    assert record(engine, "ep-1", ("trust", -39), ("trust", -39))["pending"] == 2


def test_a_gain_does_not_hide_a_loss(engine: ApiClient, lanternbearers: Party, mira: NPC) -> None:
    assert record(engine, "ep-1", ("trust", -45), ("affection", 20))["pending"] == 1
    assert DispositionChange.objects.get(held=True).delta == -45


def test_small_changes_count_at_once(
    engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    assert record(engine, "ep-1", ("trust", -20), ("respect", -19))["pending"] == 0


def test_episodes_of_one_session_are_one_swing(
    engine: ApiClient, lanternbearers: Party, mira: NPC, settings: Any
) -> None:
    assert record(engine, "ep-1", ("trust", -39), session="s-1")["pending"] == 0
    assert record(engine, "ep-2", ("trust", -39), session="s-2")["pending"] == 0
    assert record(engine, "ep-3", ("trust", -39), session="s-1")["pending"] == 1
    # What was held does not count against what comes later.
    assert record(engine, "ep-4", ("trust", -10), session="s-1")["pending"] == 0
    settings.DISPOSITION_HOLD_AT_SESSION = 0
    assert record(engine, "ep-5", ("trust", -39), session="s-1")["pending"] == 0


def test_episodes_of_a_session_without_scenes_are_one_swing(
    engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    assert record(engine, "ep-1", ("trust", -39), session="s-1", scene=False)["pending"] == 0
    assert record(engine, "ep-2", ("trust", -39), session="s-2", scene=False)["pending"] == 0
    assert record(engine, "ep-3", ("trust", -39), session="s-1", scene=False)["pending"] == 1
    assert record(engine, "ep-4", ("trust", -39), session="s-2")["pending"] == 1


def test_without_a_threshold_nothing_waits(
    engine: ApiClient, lanternbearers: Party, mira: NPC, settings: Any
) -> None:
    settings.DISPOSITION_HOLD_AT = settings.DISPOSITION_HOLD_AT_SESSION = 0
    assert record(engine, "ep-1", ("trust", -50), ("trust", -50), session="s-1")["pending"] == 0
