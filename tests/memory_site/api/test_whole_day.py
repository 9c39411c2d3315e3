"""Every operation of the API once, by REST alone, from an empty database and one key."""

import json
from typing import Any

import pytest

from memory_site.api_reference import examples
from memory_site.api_reference.examples import FILE
from memory_site.openapi import operations
from tests.api_document import api_document
from tests.memory_site.api.day.example_texts import examples_of
from tests.memory_site.api.day.memory_calls import NIGHT
from tests.memory_site.api.day.play_calls import EVENING
from tests.memory_site.api.day.run import Call, Day
from tests.memory_site.api.day.world_calls import MORNING

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(240)]
NEVER_ENDS = {"event_stream"}
STEPS = [*MORNING, *EVENING, *NIGHT]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return api_document()


def addresses_in(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        operation["operationId"]: (method, path) for method, path, operation in operations(document)
    }


def test_an_engine_needs_nothing_but_a_key(
    document: dict[str, Any], pytestconfig: pytest.Config
) -> None:
    day = Day(addresses_in(document))
    day.carry_out(STEPS)
    assert len({each.call.operation for each in day.exchanges}) >= 120
    found = examples_of(day.exchanges)
    if pytestconfig.getoption("write_examples"):
        FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    for operation, example in found.items():
        stored = examples.examples().get(operation, example)
        assert stored.keys() == example.keys(), f"{operation}: run with --write-examples"
        assert fields_of(stored) == fields_of(example), f"{operation}: run with --write-examples"


def fields_of(example: dict[str, Any]) -> set[str]:
    """The names at the top of body and answer."""
    parts = [part for part in example.values() if isinstance(part, dict)]
    return {name for part in parts for name in part}


def test_the_day_calls_every_operation(document: dict[str, Any]) -> None:
    called = {step.operation for step in STEPS if isinstance(step, Call)}
    assert set(addresses_in(document)) - NEVER_ENDS <= called
