"""Recaps and threads by a language model over HTTP: good answers are kept with what they rest on;
garbage, invented grounds and silence leave what the extraction makes."""

from typing import Any

import pytest

from episodes.models import Episode, Recap
from tests.conftest import ApiClient
from tests.loopback import Loopback, answer_json, drop, garbage, hang, not_json, say, status
from tests.loopback.answers import Scripted
from worlds.models import Party

pytestmark = pytest.mark.django_db
SESSION = "world/recaps/session/session-1"
EVENTS = ("two boats in the fog", "a singer in the reeds", "a bell without a tongue")
BAD: dict[str, Scripted] = {
    "garbage": garbage(),
    "not JSON": not_json(),
    "prose": say("Once upon a time, I cannot do that."),
    "another shape": answer_json({"story": "They met."}),
    "cut off": drop(),
    "refused": status(500),
    "silence": hang(30),
}
bad = pytest.mark.parametrize("answer", BAD.values(), ids=BAD)


@pytest.fixture
def engine_with_episodes(engine: ApiClient, lanternbearers: Party) -> ApiClient:
    """Three episodes of one session; each scene is short enough to be told as it is, the session is
    not."""
    for number, event in enumerate(EVENTS, 1):
        body = {
            "summary_id": f"ep-{number}",
            "party_id": "lanternbearers",
            "session_id": "session-1",
            "scene_id": f"scene-{number}",
            "when": {"real": f"2026-09-0{number}T18:00:00Z"},
            "what": f"They met {event}. It was cold that night. Then they rested a while.",
        }
        assert engine.post("world/episodes", body)[0] == 200
    return engine


@pytest.fixture
def quick(scripted_llm: Loopback, settings: Any) -> Loopback:
    settings.LLM_TIMEOUT = 0.3
    return scripted_llm


def recap_answer(*sentences: tuple[str, list[int]]) -> Scripted:
    return answer_json(
        {"sentences": [{"text": text, "rests_on": grounds} for text, grounds in sentences]}
    )


def post_recap(client: ApiClient) -> Any:
    code, recap = client.post(SESSION)
    assert code == 200, recap
    return recap


def is_extract(recap: Any) -> bool:
    """Every sentence stands in an episode that it names."""
    texts = dict(Episode.objects.values_list("external_id", "what"))
    return bool(recap["sentences"]) and all(
        any(line["text"] in texts[name] for name in line["episodes"]) for line in recap["sentences"]
    )


# --- Recaps
def test_a_recap_is_stored_with_the_episodes_behind_each_sentence(
    engine_with_episodes: ApiClient, quick: Loopback
) -> None:
    quick.chat.always(
        recap_answer(("Boats came through the fog.", [1]), ("A song, then a dumb bell.", [7, 4, 5]))
    )
    recap = post_recap(engine_with_episodes)
    sentences = [(line["text"], line["episodes"]) for line in recap["sentences"]]
    assert sentences == [
        ("Boats came through the fog.", ["ep-1"]),
        ("A song, then a dumb bell.", ["ep-2", "ep-3"]),
    ]
    assert (recap["method"], recap["degraded"]) == ("llm", [])
    assert (
        engine_with_episodes.get(SESSION)[1]["sentences"] == recap["sentences"]
    )  # as it is stored
    assert all(event in quick.chat.last["messages"][-1]["content"] for event in EVENTS)


def test_a_sentence_that_cites_no_given_sentence_is_dropped(
    engine_with_episodes: ApiClient, quick: Loopback
) -> None:
    quick.chat.always(recap_answer(("A dragon came.", [99]), ("A bell hung there.", [7, 99])))
    recap = post_recap(engine_with_episodes)
    assert [(line["text"], line["episodes"]) for line in recap["sentences"]] == [
        ("A bell hung there.", ["ep-3"])
    ]


def test_a_recap_without_any_valid_source_is_extracted(
    engine_with_episodes: ApiClient, quick: Loopback
) -> None:
    quick.chat.always(recap_answer(("A dragon came.", [99]), ("It left.", [100])))
    assert is_extract(post_recap(engine_with_episodes))


@bad
def test_without_a_usable_answer_a_recap_is_extracted_and_degraded(
    engine_with_episodes: ApiClient, quick: Loopback, answer: Scripted
) -> None:
    quick.chat.always(answer)
    recap = post_recap(engine_with_episodes)
    assert quick.chat.requests
    assert (recap["method"], recap["degraded"]) == ("extract", ["llm"])
    assert is_extract(recap)
    assert Recap.objects.get().sentences.filter(episodes=None).count() == 0


def test_the_model_is_not_sent_what_players_may_not_read(
    engine_with_episodes: ApiClient, quick: Loopback
) -> None:
    secret = {
        "summary_id": "ep-1",
        "version": 2,
        "party_id": "lanternbearers",
        "session_id": "session-1",
        "scene_id": "scene-1",
        "what": "They met. :::secret\nmarker.\n::: It was cold. They rested.",
    }
    assert engine_with_episodes.post("world/episodes", secret)[0] == 200
    code, _recap = engine_with_episodes.post(f"{SESSION}?as=party:lanternbearers")
    assert code == 200
    assert quick.chat.requests
    assert "marker" not in str(quick.chat.requests)


# --- Threads
def consolidate(client: ApiClient) -> Episode:
    texts = ("We cross at night.", "The toll is nine marks.", "Agreed, said Mira.")
    steps = [{"speaker": "Mira", "text": text} for text in texts]
    assert (
        client.post("world/threads/t-1/steps", {"steps": steps, "party_id": "lanternbearers"})[0]
        == 200
    )
    code, recorded = client.post("world/threads/t-1/consolidate", {})
    assert code == 200, recorded
    return Episode.objects.get(external_id=recorded["summary_id"])


def test_a_thread_becomes_the_episode_that_the_model_wrote(
    engine: ApiClient, lanternbearers: Party, quick: Loopback
) -> None:
    quick.chat.always(answer_json({"what": "They agreed to cross at night for nine marks."}))
    assert consolidate(engine).what == "They agreed to cross at night for nine marks."
    assert "The toll is nine marks." in quick.chat.last["messages"][-1]["content"]


@bad
def test_without_a_usable_answer_a_thread_is_extracted(
    engine: ApiClient, lanternbearers: Party, quick: Loopback, answer: Scripted
) -> None:
    quick.chat.always(answer)
    episode = consolidate(engine)
    assert quick.chat.requests
    assert "The toll is nine marks." in episode.what
