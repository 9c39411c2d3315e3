"""Many rows in one call, of which one is bad: nothing is guessed and nothing half written."""

from typing import Any

import pytest

from npcs.models import NPC
from tests.conftest import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("enough_time")]
BAD = 137


@pytest.fixture
def enough_time(settings: Any) -> None:
    """A busy machine may take longer than one call may."""
    settings.BULK_SECONDS = 300


def rows(count: int) -> list[dict[str, Any]]:
    made = [{"npc_id": f"gull-{number}", "name": f"Gull {number}"} for number in range(count)]
    made[BAD] = {"npc_id": "gull-bad", "name": "Gull", "visibility": "everybody"}
    return made


def test_ten_thousand_rows_are_refused_whole_with_the_number_that_one_call_takes(
    engine: ApiClient,
) -> None:
    status, problem = engine.post("world/npcs/bulk", {"npcs": rows(10_000)})
    assert (status, problem["code"]) == (422, "invalid")
    assert "500" in problem["detail"]
    assert not NPC.objects.exists()


def test_one_bad_row_is_named_and_the_others_are_stored(engine: ApiClient) -> None:
    status, report = engine.post("world/npcs/bulk", {"npcs": rows(500)})
    assert (status, report["stored"], report["failed"]) == (200, 499, 1)
    (bad,) = [item for item in report["items"] if item["status"] == "failed"]
    assert bad["index"] == BAD
    assert "visibility" in bad["detail"]
    assert NPC.objects.count() == 499


def test_one_bad_row_rolls_all_back_when_asked(engine: ApiClient) -> None:
    _status, report = engine.post("world/npcs/bulk", {"npcs": rows(500), "atomic": True})
    assert (report["stored"], report["failed"]) == (0, 1)
    assert {item["status"] for item in report["items"]} == {"failed", "rolled_back"}
    assert not NPC.objects.exists()
