"""Whatever the language model does wrong, what was acknowledged is found, and what is outdated does
not come first."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from memories.ingest import add
from memories.models import Namespace
from memories.search import recall
from memories.similarity.coverage import without_inventions
from memories.vectors import SiteSource
from retrieval.llm import Purpose, PurposeModel, get_llm
from retrieval.models import LanguageModelCall
from tests.loopback import Loopback, drop, garbage, hang, say, status
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db

OUTDATED = "Mira Voss owns three ferries at the lower landing."
CURRENT = "Mira Voss owns four ferries at the lower landing."
DENIED = "Tobin Reed never opens the toll gate after dusk."
RAW_FACTS = [
    "The lantern of the Sunken Ward burns blue.",
    "Berta Holm paid Tobin nine silver for the bell rope.",
]
RAW = " ".join(RAW_FACTS)
ACKNOWLEDGED = [CURRENT, DENIED, *RAW_FACTS]


def texts_of(body: dict[str, Any]) -> list[str]:
    """Return the new contents, or the raw text, of a prompt."""
    prompt = body["messages"][1]["content"]
    block = prompt.rpartition("New contents:" if "New contents:" in prompt else "Raw input:")[2]
    return [line[2:] for line in block.splitlines() if line.startswith("- ")]


def answers(change: Callable[[list[str]], list[str]], coverage: str = "complete") -> Any:
    """Answer every prompt with what `change` makes of its texts."""

    def answer(body: dict[str, Any]) -> Any:
        texts = change(texts_of(body))
        value = {"contents": texts, "memories": texts, "coverage": coverage}
        value |= {"should_update": False, "core_markdown": None}
        said = say(json.dumps(value))
        return said(body) if callable(said) else said

    return answer


def without(*words: str) -> Callable[[list[str]], list[str]]:
    def change(texts: list[str]) -> list[str]:
        for word in words:
            texts = [text.replace(f"{word} ", "") for text in texts]
        return texts

    return change


FAILURES: dict[str, Any] = {
    "drops the connection": drop(),
    "hangs": hang(30),
    "has a rate limit": status(429, retry_after=0.01),
    "has an error": status(500),
    "refuses the key": status(401),
    "is a web page": garbage(),
    "is cut off": say('{"contents": ["Mira Voss ow'),
    "has another schema": say('{"facts": "Mira", "memories": 5, "coverage": "yes"}'),
    "answers nothing": answers(lambda _texts: []),
    "answers x": answers(lambda _texts: ["x"]),
    "says that it is incomplete": answers(lambda texts: texts[:1], coverage="incomplete"),
    "invents": answers(lambda _texts: ["The dragon Vermithrax guards 900 gold crowns."]),
    "drops numbers": answers(without("three", "four", "nine")),
    "drops negations": answers(without("never")),
    "drops names": answers(without("Mira Voss", "Tobin Reed", "Berta Holm", "Tobin")),
    "calls a part complete": answers(lambda texts: texts[:1]),
    "answers in another language": answers(
        lambda _texts: ["У Миры Восс паромы на нижней пристани.", "Фонарь горит синим."]
    ),
    "repeats the instruction": answers(lambda _texts: ["Task: list the facts of the raw input."]),
}


@pytest.fixture(params=FAILURES)
def failing(request: Any, scripted_llm: Loopback, settings: Any, mira: Namespace) -> Namespace:
    """A namespace whose language model fails, after a first memory was added without one."""
    settings.LLM_MODEL = ""
    remember(mira, OUTDATED)
    settings.LLM_MODEL, settings.LLM_TIMEOUT = "scripted", 0.3
    scripted_llm.chat.always(FAILURES[request.param])
    models = add.site_models(mira)
    add.add(mira, [CURRENT, DENIED], models=models)
    add.add(mira, RAW, models=models)
    return mira


def test_what_was_acknowledged_is_found_after_each_failure(failing: Namespace) -> None:
    for text in ACKNOWLEDGED:
        found = [memory.text for memory in recall.search(failing, text, limit=5).memories]
        assert any(text in one for one in found), text


def test_the_outdated_does_not_come_first_after_any_failure(failing: Namespace) -> None:
    question = "How many ferries does Mira Voss own at the lower landing?"
    found = recall.search(failing, question, limit=5).memories
    assert found[0].text == CURRENT
    outdated = [memory for memory in found if memory.text == OUTDATED]
    assert all(memory.formerly for memory in outdated)


def test_a_model_that_is_down_is_asked_once_and_then_rests(
    scripted_llm: Loopback, mira: Namespace
) -> None:
    scripted_llm.chat.always(status(401))
    for text in (OUTDATED, CURRENT, RAW):
        add.add(mira, text, models=add.site_models(mira))
    assert len(scripted_llm.chat.requests) == 1
    assert len(mira.memories.active()) == 4


def test_one_add_has_one_deadline(scripted_llm: Loopback, settings: Any, mira: Namespace) -> None:
    settings.MEMORY_MODEL_SECONDS, settings.LLM_REST = 0.5, 0.0
    scripted_llm.chat.always(hang(30))
    begun = time.monotonic()
    add.add(mira, RAW, models=add.site_models(mira))
    assert time.monotonic() - begun < 3
    assert {memory.text for memory in mira.memories.all()} == set(RAW_FACTS)


def test_a_model_that_was_given_no_time_is_not_down(
    scripted_llm: Loopback, settings: Any, mira: Namespace
) -> None:
    settings.MEMORY_MODEL_SECONDS = 0.2
    scripted_llm.chat.always(hang(30))
    model = get_llm(Purpose.MEMORY)
    assert isinstance(model, PurposeModel)
    add.add(mira, [CURRENT], models=add.Models(SiteSource(), model))
    assert not model.is_resting
    assert LanguageModelCall.objects.filter(ok=False).exists()


def test_each_memory_rests_on_what_it_says_and_replaces_what_it_is_about(
    scripted_llm: Loopback, settings: Any, mira: Namespace
) -> None:
    settings.LLM_MODEL = ""
    remember(mira, OUTDATED, "Jory Fenn mends ropes at the boathouse.")
    settings.LLM_MODEL = "scripted"
    mira.merge_distance_cutoff = 2.0
    mira.save()
    scripted_llm.chat.always(answers(lambda texts: texts))
    result = add.add(mira, [CURRENT, DENIED], models=add.site_models(mira))
    (outdated,) = mira.memories.filter(text=OUTDATED)
    assert result.superseded == [outdated.pk]
    sources = {
        memory.text: {seen.text for seen in memory.observations.all()}
        for memory in mira.memories.active()
    }
    assert sources[CURRENT] == {CURRENT, OUTDATED}
    assert sources[DENIED] == {DENIED}
    assert "Jory Fenn mends ropes at the boathouse." in sources


def test_a_refinement_is_asked_for_what_an_answer_leaves_out(
    scripted_llm: Loopback, mira: Namespace
) -> None:
    scripted_llm.chat.then(answers(lambda texts: texts[:1]), answers(lambda texts: texts))
    scripted_llm.chat.always(answers(lambda texts: texts))
    add.add(mira, [CURRENT, DENIED], models=add.site_models(mira))
    assert set(mira.memories.active().values_list("text", "made_by")) == {
        (CURRENT, "model"),
        (DENIED, "model"),
    }
    assert "Correction" in scripted_llm.chat.requests[1]["messages"][1]["content"]


def test_a_sentence_turned_into_its_opposite_is_not_remembered(
    scripted_llm: Loopback, mira: Namespace
) -> None:
    scripted_llm.chat.always(answers(without("never")))
    add.add(mira, [DENIED], models=add.site_models(mira))
    assert [memory.text for memory in mira.memories.active()] == [DENIED]


@pytest.mark.parametrize(
    ("denied", "beside", "joined"),
    [
        (
            "Petra does not trust Ivo.",
            "Petra sailed with 12 casks.",
            "Petra trusts Ivo and sailed with 12 casks.",
        ),
        (
            "Пётр не верит Ивану.",
            "Пётр уплыл с 12 бочками.",
            "Пётр верит Ивану и уплыл с 12 бочками.",
        ),
        (
            "민수는 지훈을 믿지 않는다.",
            "민수는 통 12개를 싣고 떠났다.",
            "민수는 지훈을 믿고 통 12개를 싣고 떠났다.",
        ),
    ],
)
def test_a_denial_is_not_lost_among_other_things(denied: str, beside: str, joined: str) -> None:
    assert without_inventions([joined], [denied, beside]) == []
    # Where both were given, one is a correction of the other.
    assert without_inventions([joined], [denied, joined]) == [joined]


def test_a_question_in_words_that_the_model_left_out_finds_the_memory_by_its_observation(
    scripted_llm: Loopback, settings: Any, mira: Namespace
) -> None:
    raw = "The barge with the red hull and the carved heron belongs to the quarrymen of Stonewater."
    short = "The barge belongs to the quarrymen of Stonewater, heron hull."
    scripted_llm.chat.always(answers(lambda _texts: [short]))
    add.add(mira, [raw], models=add.site_models(mira))
    settings.LLM_MODEL = ""
    remember(mira, *(f"Ferry number {n} has a carved red rail." for n in range(30)))
    found = recall.search(mira, "carved red barge", limit=3, mode="keyword").memories
    assert found[-1].text == short
    assert (found[-1].match, found[-1].sources[0].text) == ("observation", raw)
    assert len(found) == 3


def test_an_observation_brings_back_no_memory_that_is_out_of_use(mira: Namespace) -> None:
    remember(mira, OUTDATED)
    mira.memories.update(state="archived", made_by="model")
    assert not recall.search(mira, "three ferries", limit=3).memories
