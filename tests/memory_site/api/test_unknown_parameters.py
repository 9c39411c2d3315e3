"""Every operation of the document refuses a query parameter that it does not have, and a body when
it takes none."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from memory_site.openapi import operations
from tests.api_document import api_document
from worlds import keys
from worlds.models import World

pytestmark = pytest.mark.django_db
NOBODY = "00000000-0000-0000-0000-000000000000"


def address_of(path: str, operation: dict[str, Any]) -> str:
    """Return the path with the id of nothing in each place."""
    numbers = {
        each["name"]
        for each in operation["parameters"]
        if each.get("schema", {}).get("type") == "integer"
    }
    return re.sub(r"\{(.+?)\}", lambda match: "1" if match[1] in numbers else NOBODY, path)


OPERATIONS = [
    (method, address_of(path, operation), operation["operationId"])
    for method, path, operation in operations(json.loads(json.dumps(api_document(), default=str)))
]


@pytest.fixture
def clients(world: World) -> dict[str, Client]:
    scopes = ("tools:read", "world:write", "agent:write", "agent:review", "admin")
    own = keys.create_key(world, name="own", audience="gm", scopes=scopes, namespace="n")[1]
    every = keys.create_key(None, name="all", audience="gm", scopes=scopes)[1]
    return {
        name: Client(headers={"Authorization": f"Bearer {key}", "M37-World": world.slug})
        for name, key in (("own", own), ("every", every))
    }


@pytest.mark.parametrize(
    ("method", "address", "name"), OPERATIONS, ids=[each[2] for each in OPERATIONS]
)
def test_an_unknown_parameter_is_refused_by_name(
    clients: dict[str, Client], method: str, address: str, name: str
) -> None:
    for client in clients.values():
        answer = client.generic(method.upper(), f"{address}?nonsense=1")
        problem: dict[str, Any] = answer.json()
        if answer.status_code != 403:
            break
    assert (answer.status_code, problem["errors"]) == (
        422,
        [{"loc": ["nonsense"], "msg": "unknown parameter"}],
    ), problem


BODILESS = [
    (method, address_of(path, operation), operation["operationId"])
    for method, path, operation in operations(json.loads(json.dumps(api_document(), default=str)))
    if method.lower() != "get" and "requestBody" not in operation
]


@pytest.mark.parametrize(
    ("method", "address", "name"), BODILESS, ids=[each[2] for each in BODILESS]
)
def test_a_body_is_refused_where_none_is_taken(
    clients: dict[str, Client], method: str, address: str, name: str
) -> None:
    for client in clients.values():
        answer = client.generic(method.upper(), address, '{"note": "bleeding"}', "application/json")
        problem: dict[str, Any] = answer.json()
        if answer.status_code != 403:
            break
    assert (answer.status_code, problem["errors"]) == (
        422,
        [{"loc": ["note"], "msg": "unknown field"}],
    ), problem


def test_an_empty_object_is_no_body(clients: dict[str, Client]) -> None:
    answer = clients["own"].generic(
        "POST", "/api/v1/world/npcs/nobody/restore", "{}", "application/json"
    )
    assert answer.status_code == 404
