"""The client of the language model against a scripted OpenAI-compatible server."""

import time
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from retrieval.errors import LanguageModelDown
from retrieval.llm import Purpose, get_llm
from retrieval.llm.client import LanguageModel
from retrieval.models import LanguageModelCall
from tests.loopback import (
    Loopback,
    answer_json,
    drop,
    garbage,
    hang,
    no_schema,
    not_json,
    say,
    status,
)

pytestmark = pytest.mark.django_db

SPLIT = {"contents": ["Mira lent the party a boat.", "The tide was low."]}


class Split(BaseModel):
    """Facts, one each."""

    contents: list[str] = Field(min_length=1, max_length=8)


@pytest.fixture
def llm(scripted_llm: Loopback) -> LanguageModel:
    return LanguageModel("scripted", base_url=scripted_llm.url, api_key="test-key")


def ask(llm: LanguageModel) -> dict[str, Any]:
    return llm.generate_structured(
        "Split into facts.", "Mira lent the party a boat at low tide.", Split, purpose="split"
    )


def test_no_model_configured_is_none(settings: Any) -> None:
    settings.LLM_MODEL = ""
    assert get_llm(Purpose.RECAP) is None


def test_one_model_per_process(scripted_llm: Loopback) -> None:
    first, second = get_llm(Purpose.RECAP), get_llm(Purpose.READING)
    assert first
    assert second
    assert first.models[0] is second.models[0]


def test_an_answer_is_held_to_the_schema(llm: LanguageModel, scripted_llm: Loopback) -> None:
    scripted_llm.chat.then(answer_json(SPLIT))
    assert ask(llm) == SPLIT
    sent = scripted_llm.chat.last["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False
    assert sent["schema"]["properties"]["contents"] == {
        "type": "array",
        "minItems": 1,
        "maxItems": 8,
        "items": {"type": "string", "maxLength": 600},
    }


@pytest.mark.parametrize(
    "trouble", [status(429, retry_after=0.01), status(500), drop(), garbage(), not_json()]
)
def test_trouble_that_passes_is_tried_again(
    llm: LanguageModel, scripted_llm: Loopback, trouble: Any
) -> None:
    scripted_llm.chat.then(trouble, answer_json(SPLIT))
    assert ask(llm) == SPLIT


def test_three_tries_and_no_more(llm: LanguageModel, scripted_llm: Loopback) -> None:
    scripted_llm.chat.always(status(503, retry_after=0.01))
    with pytest.raises(LanguageModelDown, match="status 503"):
        ask(llm)
    assert len(scripted_llm.chat.requests) == 3


@pytest.mark.parametrize(
    "trouble", [status(401), status(403), status(429, error="insufficient_quota")]
)
def test_trouble_that_stays_is_reported_at_once(
    llm: LanguageModel, scripted_llm: Loopback, trouble: Any
) -> None:
    scripted_llm.chat.always(trouble)
    with pytest.raises(LanguageModelDown) as down:
        ask(llm)
    assert len(scripted_llm.chat.requests) == 1
    assert "test-key" not in down.value.detail
    assert "Mira" not in down.value.detail


def test_a_server_that_hangs_is_given_up(
    llm: LanguageModel, scripted_llm: Loopback, settings: Any
) -> None:
    settings.LLM_TIMEOUT = 0.2
    scripted_llm.chat.always(hang())
    started = time.monotonic()
    with pytest.raises(LanguageModelDown, match="no answer in time"):
        ask(llm)
    assert len(scripted_llm.chat.requests) == 3
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    "nonsense", ["", "Certainly!", '{"contents": "one"}', '{"contents": []}', '{"contents": ["cut']
)
def test_the_model_is_told_what_is_wrong_with_its_answer(
    llm: LanguageModel, scripted_llm: Loopback, nonsense: str
) -> None:
    scripted_llm.chat.then(say(nonsense), answer_json(SPLIT))
    assert ask(llm) == SPLIT
    *_prompts, given, complaint = scripted_llm.chat.last["messages"]
    assert given == {"role": "assistant", "content": nonsense or "…"}
    assert complaint["role"] == "user"
    assert "cannot be used" in complaint["content"]


def test_an_answer_cut_off_by_its_length_is_not_taken_for_whole(
    llm: LanguageModel, scripted_llm: Loopback
) -> None:
    scripted_llm.chat.then(say('{"contents": ["a"]}', finish="length"), answer_json(SPLIT))
    assert ask(llm) == SPLIT


def test_three_bad_answers_are_reported_with_the_reason(
    llm: LanguageModel, scripted_llm: Loopback
) -> None:
    scripted_llm.chat.always(answer_json({"contents": 7}))
    with pytest.raises(
        LanguageModelDown,
        match="no valid answer in 3 tries: contents: Input should be a valid list",
    ):
        ask(llm)


@pytest.mark.parametrize(
    "wrapped",
    [
        '```json\n{"contents": ["Mira lent the party a boat.", "The tide was low."]}\n```',
        'Sure {here}: {"contents": ["Mira lent the party a boat.", "The tide was low."]} More?',
        '<think>{"contents": ["no"]}</think>'
        '{"contents": ["Mira lent the party a boat.", "The tide was low."]}',
    ],
)
def test_an_object_is_found_in_what_surrounds_it(
    llm: LanguageModel, scripted_llm: Loopback, wrapped: str
) -> None:
    scripted_llm.chat.then(say(wrapped))
    assert ask(llm) == SPLIT


def test_a_server_without_schemas_is_asked_in_plain_words_and_remembered(
    llm: LanguageModel, scripted_llm: Loopback
) -> None:
    refuse = no_schema()
    plain = answer_json(SPLIT)
    scripted_llm.chat.always(lambda body: (refuse if "response_format" in body else plain)(body))
    assert ask(llm) == ask(llm) == SPLIT
    formats = [
        request.get("response_format", {}).get("type") for request in scripted_llm.chat.requests
    ]
    assert formats == ["json_schema", "json_schema", "json_object", None, None]
    assert '"contents"' in scripted_llm.chat.last["messages"][0]["content"]


def test_a_refused_prompt_does_not_spoil_the_way_for_the_next(
    llm: LanguageModel, scripted_llm: Loopback
) -> None:
    scripted_llm.chat.always(status(400, error="context_length_exceeded"))
    with pytest.raises(LanguageModelDown, match="context_length_exceeded"):
        ask(llm)
    scripted_llm.chat.always(answer_json(SPLIT))
    ask(llm)
    assert scripted_llm.chat.last["response_format"]["type"] == "json_schema"


def test_every_try_is_in_the_ledger_with_its_price(
    llm: LanguageModel, scripted_llm: Loopback, settings: Any
) -> None:
    settings.LLM_PRICE_IN, settings.LLM_PRICE_OUT = 2.0, 10.0
    scripted_llm.chat.then(status(500), answer_json({"contents": 7}), answer_json(SPLIT))
    ask(llm)
    rows = LanguageModelCall.objects.order_by("created_at", "pk")
    assert [(row.ok, row.error, row.mode) for row in rows] == [
        (False, "InternalServerError", "bounded"),
        (False, "InvalidAnswer", "bounded"),
        (True, "", "bounded"),
    ]
    assert [row.tokens_in for row in rows] == [0, 11, 11]
    assert rows[2].cost == Decimal(11 * 2 + rows[2].tokens_out * 10) / 1_000_000


def test_without_a_price_no_cost_is_written(llm: LanguageModel, scripted_llm: Loopback) -> None:
    scripted_llm.chat.then(answer_json(SPLIT))
    ask(llm)
    assert LanguageModelCall.objects.get().cost is None


def test_prompts_that_http_cannot_carry_are_mended(
    llm: LanguageModel, scripted_llm: Loopback
) -> None:
    scripted_llm.chat.then(answer_json(SPLIT))
    llm.generate_structured("Split.", "\0 \ud800 용", Split)
    assert scripted_llm.chat.last["messages"][1]["content"] == "  ? 용"
