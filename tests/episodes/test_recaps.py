"""Recaps: grounded, in two cuts, never older than what they sum up."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodes.models import Episode
from episodes.recap_models import Recap, RecapSentence
from episodes.summarize import SourcedSentence, select_sentences, source_sentences
from npcs.models import DispositionChange
from tests.conftest import ApiClient
from worlds.calendars.presets import preset
from worlds.models import Party, World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


@pytest.fixture
def engine_with_episodes(engine: ApiClient, lanternbearers: Party) -> ApiClient:
    for number, words in enumerate(
        ["fog and two boats", "a singer in the reeds", "a bell without a tongue"], 1
    ):
        body = {
            "summary_id": f"ep-{number}",
            "party_id": "lanternbearers",
            "session_id": "session-1",
            "scene_id": f"scene-{number}",
            "when": {"real": f"2026-09-0{number}T18:00:00Z"},
            "what": f"They met {words}. It was cold. :::secret\n"
            f"marker-secret {number}.\n::: Then they rested.",
            "notes": f"marker-note {number}.",
        }
        assert engine.post("world/episodes", body)[0] == 200
    return engine


@pytest.mark.parametrize("path", ["scene/scene-1", "session/session-1", "campaign/low-water"])
def test_every_sentence_names_the_episodes_it_rests_on(
    engine_with_episodes: ApiClient, path: str
) -> None:
    status, recap = engine_with_episodes.get(f"world/recaps/{path}")
    assert status == 200
    texts = {
        episode.external_id: f"{episode.what} {episode.notes}" for episode in Episode.objects.all()
    }
    for sentence in recap["sentences"]:
        assert sentence["episodes"]
        assert any(
            sentence["text"].rstrip(".") in texts[name].replace("\n", " ")
            for name in sentence["episodes"]
        )


def test_a_recap_for_players_holds_nothing_that_players_may_not_read(
    engine_with_episodes: ApiClient,
) -> None:
    gm = str(engine_with_episodes.get("world/recaps/scene/scene-1")[1])
    assert "marker" in gm
    for path in ("world/recaps/campaign/low-water", "world/recaps/session/session-1"):
        cut = engine_with_episodes.get(f"{path}?as=party:lanternbearers")[1]
        assert cut["sentences"]
        assert "marker" not in str(cut)


def test_a_stored_recap_is_not_shown_once_an_episode_changed(
    engine_with_episodes: ApiClient,
) -> None:
    built = engine_with_episodes.post("world/recaps/session/session-1")[1]
    assert engine_with_episodes.get("world/recaps/session/session-1")[1] == built
    engine_with_episodes.post("world/episodes/ep-2/retract", {})
    after = engine_with_episodes.get("world/recaps/session/session-1")[1]
    assert "singer" not in str(after)
    assert Recap.objects.count() == 1


def test_a_stored_recap_is_not_shown_once_the_calendar_gives_other_dates(
    engine: ApiClient, world: World, lanternbearers: Party
) -> None:
    body = {"party_id": "lanternbearers", "session_id": "session-1", "what": "They met in fog."}
    for name, when in (("day", {"in_world_at": 40}), ("words", {"in_world_label": "at dusk"})):
        told = {**body, "summary_id": name, "session_id": name, "when": when}
        assert engine.post("world/episodes", told)[0] == 200
        engine.post(f"world/recaps/session/{name}")
    # As a language model writes it, to which the dates are shown.
    RecapSentence.objects.update(text="On that date they met in fog.")
    save_calendar(world, preset("twelve-times-thirty", "en"), by="mira")
    shown = {name: str(engine.get(f"world/recaps/session/{name}")[1]) for name in ("day", "words")}
    assert "On that date" not in shown["day"]
    assert "They met in fog" in shown["day"]
    assert "On that date" in shown["words"], "its date is in its own words"


def test_another_party_reads_an_empty_recap(
    engine_with_episodes: ApiClient, gilded_oath: Party
) -> None:
    assert (
        engine_with_episodes.get("world/recaps/campaign/low-water?as=party:gilded-oath")[1][
            "sentences"
        ]
        == []
    )


def test_an_episode_deleted_for_good_leaves_nothing(engine_with_episodes: ApiClient) -> None:
    engine_with_episodes.post("world/recaps/session/session-1")
    status, receipt = engine_with_episodes.send("DELETE", "world/episodes/ep-2")
    assert (status, receipt["rows"]["episodes.Episode"]) == (200, 1)
    assert not Recap.objects.exists()
    assert not DispositionChange.objects.filter(episode__external_id="ep-2").exists()
    assert engine_with_episodes.get("world/episodes/ep-2")[0] == 404


def test_sentences_are_found_in_three_languages() -> None:
    text = "Fog came. «Кто там?» — спросила Мира. 종이 울리지 않았다. The end…"
    assert [each.text for each in source_sentences(text)] == [
        "Fog came.",
        "«Кто там?» — спросила Мира.",
        "종이 울리지 않았다.",
        "The end…",
    ]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 6))
def test_selected_sentences_keep_their_order(texts: list[str], most: int) -> None:
    given_sentences = [SourcedSentence(text, (number,)) for number, text in enumerate(texts)]
    chosen = select_sentences(given_sentences, most)
    assert len(chosen) == min(most, len(texts))
    assert chosen == [each for each in given_sentences if each in chosen]


def test_a_player_key_cannot_read_recaps_of_the_world_api(
    engine_with_episodes: ApiClient, client_with_key: Callable[..., Any]
) -> None:
    assert (
        client_with_key(audience="party:lanternbearers").get("world/recaps/session/session-1")[0]
        == 403
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('She said: "Not here. Come at dusk." He left.', 'She said: "Not here. Come at dusk."'),
        (
            "Он сказал: «Не здесь. Приходите». Они ушли.",
            "Он сказал: «Не здесь. Приходите».",
        ),
        ("A bell (see p. 4. It is odd.) rang. Two.", "A bell (see p. 4. It is odd.) rang."),
        ("An “open one never ends. They left. All slept.", "An “open one never ends."),
        ("A “quotation.\n\nAnother paragraph”. End.", "A “quotation."),
    ],
)
def test_a_sentence_of_an_extract_does_not_end_within_a_quotation(text: str, first: str) -> None:
    assert source_sentences(text)[0].text == first


def test_of_each_episode_something_is_told_in_the_recap_of_a_session(
    engine: ApiClient, lanternbearers: Party
) -> None:
    """Of two episodes without a scene, too, one of which says far more."""
    long = " ".join(
        f"The ferry of Mira Voss and the ferry of Jory Fenn crossed the river for the {nth} time."
        for nth in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    )
    for number, what in enumerate([long, "Ice lay on Saltmarsh."], 1):
        body = {"summary_id": f"e{number}", "party_id": "lanternbearers", "what": what}
        engine.post("world/episodes", {**body, "session_id": "session-1"})
    _status, recap = engine.get("world/recaps/session/session-1")
    told = {name for sentence in recap["sentences"] for name in sentence["episodes"]}
    assert told == {"e1", "e2"}


def test_as_many_sources_as_there_is_place_for_are_quoted() -> None:
    lines = [
        SourcedSentence(f"The ferry and the ferry of Mira crossed for hour {n}.", (1,))
        for n in range(6)
    ]
    lines += [SourcedSentence("Ice.", (2,)), SourcedSentence("Snow fell.", (3,))]
    chosen = select_sentences(lines, 3)
    assert {key for line in chosen for key in line.rests_on} == {1, 2, 3}
    chosen = select_sentences(lines, 2)
    assert len({key for line in chosen for key in line.rests_on}) == 2
