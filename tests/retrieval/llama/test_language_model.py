"""The client of the language model against a real llama.cpp server."""

from contextlib import suppress
from typing import Any

import pytest
from pydantic import BaseModel, Field

from retrieval.embedders.hosted import HostedEmbedder
from retrieval.errors import EmbedderDown, LanguageModelDown
from retrieval.llm.client import LanguageModel
from retrieval.llm.structured import AnswerFormat
from retrieval.models import LanguageModelCall
from tests.retrieval.llama.conftest import LlamaServer, Start

pytestmark = [pytest.mark.llama, pytest.mark.django_db]

SCENE = (
    "Mira Voss lent the Lanternbearers a boat. The tide was low. "
    "They promised to return it by dawn."
)


class Split(BaseModel):
    contents: list[str] = Field(min_length=1, max_length=4)


class Judged(BaseModel):
    title: str = Field(max_length=60)
    grade: int = Field(ge=1, le=5)
    mood: str | None
    tags: list[str] = Field(max_length=3)


class CoreUpdate(BaseModel):
    should_update: bool
    core_markdown: str = Field(max_length=4000)


@pytest.mark.parametrize("model", [Split, Judged, CoreUpdate])
def test_answers_fit_the_schema(llm: LanguageModel, model: type[BaseModel]) -> None:
    answer = llm.generate_structured(
        "Read the text and answer briefly.", SCENE, model, purpose="llama"
    )
    assert model.model_validate(answer).model_dump() == answer
    row = LanguageModelCall.objects.latest("created_at", "pk")
    assert (row.mode, row.ok, row.purpose) == ("bounded", True, "llama")
    assert row.tokens_in > 10
    assert row.tokens_out > 3


def test_an_object_is_asked_for_without_a_schema_too(llm: LanguageModel) -> None:
    llm._format = AnswerFormat.JSON
    with suppress(
        LanguageModelDown
    ):  # so small a model may fail; it has then been asked three times
        Split.model_validate(
            llm.generate_structured('Answer {"contents": ["a", "b"]}.', SCENE, Split)
        )
    rows = list(LanguageModelCall.objects.order_by("created_at", "pk"))
    assert {row.mode for row in rows} == {"json"}
    assert rows[-1].ok or [row.error for row in rows] == ["InvalidAnswer"] * 3


def test_a_prompt_longer_than_the_model_reads_is_refused_not_repeated(llm: LanguageModel) -> None:
    with pytest.raises(LanguageModelDown, match="status 400"):
        llm.generate_structured("Read.", SCENE * 200, Split)
    assert llm.generate_structured("Read.", SCENE, Split)["contents"]


def test_a_slow_answer_is_given_up_and_the_server_stays_usable(
    llm: LanguageModel, settings: Any
) -> None:
    settings.LLM_TIMEOUT = 0.05
    with pytest.raises(LanguageModelDown, match="no answer in time"):
        llm.generate_structured("Read.", SCENE, Split)
    assert [row.error for row in LanguageModelCall.objects.all()] == ["APITimeoutError"] * 3
    settings.LLM_TIMEOUT = 120.0
    assert llm.generate_structured("Read.", SCENE, Split)["contents"]


def test_a_server_that_makes_no_embeddings_says_so(llama: LlamaServer, settings: Any) -> None:
    settings.OPENAI_BASE_URL = llama.url
    with pytest.raises(EmbedderDown, match=r"status \d+"):
        HostedEmbedder(8).embed_query(["tide"])


def test_a_server_that_died_has_no_connection(start_llama: Start) -> None:
    server = start_llama()
    llm = LanguageModel("smollm2", base_url=server.url)
    server.kill()
    with pytest.raises(LanguageModelDown, match="no connection"):
        llm.generate_structured("Read.", SCENE, Split)
