"""What is wrong with a value is told in the words of somebody who sends JSON, everywhere the
same."""

from typing import Any

import pytest

from tests.conftest import ApiClient

pytestmark = pytest.mark.django_db


def test_the_alternatives_of_a_value_are_one_message(engine: ApiClient) -> None:
    status, problem = engine.tool("lore_assert", fact="")
    assert (status, problem["errors"]) == (
        422,
        [{"loc": ["fact"], "msg": "must have at least 1 character, or must be an object"}],
    )
    status, problem = engine.get("events?since=zzz")
    assert (status, problem["errors"]) == (
        422,
        [{"loc": ["since"], "msg": "must be a UUID, or must be 'latest' or 'oldest'"}],
    )


@pytest.mark.parametrize(
    ("operation", "body", "message"),
    [
        (
            "tools/lore_search",
            {"query": "mill", "as": "bob"},
            "as: must be gm, public, party:<id>, character:<id> or npc:<id>",
        ),
        (
            "world/parties",
            {"name": "Gulls", "party_id": "a gull"},
            "party_id: must hold only letters, digits, _ and -",
        ),
    ],
)
def test_a_pattern_is_told_in_words(
    engine: ApiClient, operation: str, body: dict[str, Any], message: str
) -> None:
    status, problem = engine.post(operation, body)
    assert status == 422
    assert message in problem["detail"]


def test_a_row_of_many_is_refused_in_the_words_of_a_single_one(engine: ApiClient) -> None:
    entry = {"kind": "hill", "colour": "red"}
    single = engine.put("world/lore", entry)[1]["detail"]
    row = engine.post("world/lore/bulk", {"entries": [entry]})[1]["items"][0]["detail"]
    assert single == f"Correct these arguments and call again: {row}."
    assert "title: required" in row
    assert "colour: unknown field" in row


def test_what_was_rolled_back_has_neither_an_id_nor_an_outcome(engine: ApiClient) -> None:
    entries = [{"title": "The Quay"}, {"title": ""}]
    _status, report = engine.post("world/lore/bulk", {"entries": entries, "atomic": True})
    first = report["items"][0]
    assert (first["status"], first["id"], first["outcome"]) == ("rolled_back", "", "")
