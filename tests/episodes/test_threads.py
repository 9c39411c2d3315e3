"""Short-term and working memory."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from episodes import threads
from episodes.lookup import find_thread
from episodes.models import Episode, Step, Thread
from episodes.schemas import StepsIn
from tests.conftest import ApiClient
from worlds.models import Party, World

LINES = [
    "Kade lights a rope.",
    "Mira hires them on the spot.",
    "The bell does not ring.",
    "Nuri hears singing.",
]


def steps_body(*texts: str, **more: Any) -> dict[str, Any]:
    return {"steps": [{"text": text, "speaker": "GM"} for text in texts], **more}


@pytest.mark.django_db
def test_the_last_steps_come_back_by_number_or_by_budget(
    engine: ApiClient, lanternbearers: Party
) -> None:
    status, thread = engine.post(
        "world/threads/t-1/steps", steps_body(*LINES, party_id="lanternbearers")
    )
    assert (status, thread["total_steps"], thread["party_id"]) == (200, 4, "lanternbearers")
    last = engine.get("world/threads/t-1?last=2")[1]
    assert [step["number"] for step in last["steps"]] == [3, 4]
    assert last["truncated"] is True
    budget = sum(step["tokens"] for step in last["steps"])
    assert [
        step["number"] for step in engine.get(f"world/threads/t-1?tokens={budget}")[1]["steps"]
    ] == [3, 4]
    assert [step["number"] for step in engine.get("world/threads/t-1?tokens=1")[1]["steps"]] == [4]


@pytest.mark.django_db
def test_a_step_sent_twice_is_one_step(engine: ApiClient, world: World) -> None:
    body = {"steps": [{"text": "Hello.", "step_id": "a"}, {"text": "Hello.", "step_id": "a"}]}
    engine.post("world/threads/t-1/steps", body)
    assert engine.post("world/threads/t-1/steps", body)[1]["total_steps"] == 1


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_number_their_steps_without_gaps(world: World) -> None:
    def write(number: int) -> None:
        try:
            threads.append_steps(
                world, "t-1", StepsIn.model_validate(steps_body(f"Step {number}."))
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(24)))
    assert list(Step.objects.values_list("number", flat=True)) == list(range(1, 25))


@pytest.mark.django_db
def test_a_thread_becomes_an_episode_once(engine: ApiClient, lanternbearers: Party) -> None:
    engine.post("world/threads/t-1/steps", steps_body(*LINES, party_id="lanternbearers"))
    status, report = engine.post("world/threads/t-1/consolidate", {"where": "Lower Landing"})
    assert (status, report["outcome"], report["summary_id"]) == (200, "created", "thread-t-1")
    assert "Mira hires them" in Episode.objects.get().what
    assert engine.post("world/threads/t-1/consolidate", {})[1]["outcome"] == "unchanged"
    assert engine.post("world/threads/t-1/steps", steps_body("More."))[1]["code"] == "thread_closed"
    assert Episode.objects.count() == 1


@pytest.mark.django_db
def test_a_thread_without_party_or_steps_cannot_become_an_episode(
    engine: ApiClient, lanternbearers: Party
) -> None:
    engine.post("world/threads/t-1/steps", steps_body("Alone."))
    assert engine.post("world/threads/t-1/consolidate", {})[0] == 422
    assert engine.post("world/threads/t-404/consolidate", {})[0] == 404


@pytest.mark.django_db
def test_an_expired_thread_is_gone_and_its_steps_follow(engine: ApiClient, world: World) -> None:
    engine.post("world/threads/t-1/steps", steps_body("Hello.", ttl_seconds=60))
    long_ago = timezone.now() - timedelta(days=60)
    Thread.objects.update(expires_at=long_ago)
    assert engine.get("world/threads/t-1")[0] == 404
    assert threads.expire_threads() == 1
    assert find_thread(world, "t-1").state == "expired"
    Thread.objects.update(updated_at=long_ago)
    threads.expire_threads()
    assert not Step.objects.exists()


@pytest.mark.django_db
def test_scratch_lasts_as_long_as_its_scene(engine: ApiClient, lanternbearers: Party) -> None:
    engine.put("world/scenes", {"scene_id": "s-1", "party_id": "lanternbearers", "title": "Fog"})
    assert engine.put("world/scenes/s-1/scratch/initiative", {"value": [3, 1]})[1] == {
        "initiative": [3, 1]
    }
    assert engine.get("world/scenes/s-1/scratch")[1] == {"initiative": [3, 1]}
    assert engine.put("world/scenes/s-1/scratch/big", {"value": "x" * 200_000})[0] == 422
    assert engine.post("world/scenes/s-1/end")[1]["ended_at"]
    assert engine.get("world/scenes/s-1/scratch")[1] == {}
    assert engine.put("world/scenes/s-1/scratch/late", {"value": 1})[1]["code"] == "scene_ended"
