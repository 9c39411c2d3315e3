"""The schemas a language model is held to: closed, complete, and bounded or without bounds."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from retrieval.llm.structured import (
    BOUNDS,
    AnswerFormat,
    InvalidAnswer,
    parse_answer,
    request_for,
    strict_schema,
)


class Mood(StrEnum):
    CALM = "calm"
    ANGRY = "angry"


class Cat(BaseModel):
    kind: Literal["cat"]
    title: str = Field(max_length=40)


class Dog(BaseModel):
    kind: Literal["dog"]
    weight: float = Field(ge=0, le=90)


class Kept(BaseModel):
    """What somebody keeps at home."""

    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    other: Cat | None = Field(default=None, description="A second one.")
    mood: Mood = Mood.CALM
    names: list[str] = Field(default_factory=list)
    since: date | None = None


def parts(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in parts(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(found for value in schema.values() for found in parts(value))]


@pytest.mark.parametrize("bounded", [True, False])
def test_objects_are_closed_and_complete(bounded: bool) -> None:
    objects = [
        part
        for part in parts(strict_schema(Kept, with_bounds=bounded))
        if part.get("type") == "object"
    ]
    assert len(objects) == 3
    for part in objects:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


def test_every_string_and_list_is_bounded() -> None:
    found = parts(strict_schema(Kept, with_bounds=True))
    free = [
        part
        for part in found
        if part.get("type") == "string" and not part.keys() & {"enum", "const", "format"}
    ]
    assert free
    assert all("maxLength" in part for part in free)
    assert all("maxItems" in part for part in found if part.get("type") == "array")


def test_without_bounds_there_is_none() -> None:
    for part in parts(strict_schema(Kept, with_bounds=False)):
        assert not part.keys() & BOUNDS
        assert "default" not in part
        assert "oneOf" not in part


def test_a_reference_stands_alone() -> None:
    for part in parts(strict_schema(Kept, with_bounds=True)):
        assert "$ref" not in part or list(part) == ["$ref"]


def test_a_field_may_be_called_like_a_keyword() -> None:
    assert "title" in strict_schema(Cat, with_bounds=False)["properties"]


def test_plain_ways_ask_without_a_schema() -> None:
    assert request_for(Kept, AnswerFormat.JSON) == {"response_format": {"type": "json_object"}}
    assert request_for(Kept, AnswerFormat.PLAIN) == {}


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[1, 2]", '{"kind": "cat"}', "{" * 5000, '{"kind": "cat", "title": 1}'],
)
def test_what_is_not_the_object_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        parse_answer(text, Cat)
    assert str(refused.value)
