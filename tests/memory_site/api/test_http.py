"""HTTP as programs expect it: conditional reads, compression, unknown parameters."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from tests.conftest import ApiClient
from worlds.models import Party

pytestmark = pytest.mark.django_db


def read(engine: ApiClient, path: str, **headers: str) -> Any:
    return engine.client.get(f"/api/v1/{path}", headers=headers)


def test_an_unchanged_entry_is_not_sent_again(engine: ApiClient) -> None:
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn."})
    first = read(engine, "world/lore/tin-heron")
    again = read(engine, "world/lore/tin-heron", **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn by the river."})
    changed = read(engine, "world/lore/tin-heron", **{"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_a_list_without_a_version_has_an_etag_of_its_text(engine: ApiClient) -> None:
    first = read(engine, "world/reveals")
    assert read(engine, "world/reveals", **{"If-None-Match": first["ETag"]}).status_code == 304


def test_an_answer_is_kept_by_no_cache_between(engine: ApiClient) -> None:
    assert read(engine, "world/reveals")["Cache-Control"] == "private, no-cache"


def test_a_refused_caller_gets_no_304(engine: ApiClient, client: Client) -> None:
    tag = read(engine, "world/reveals")["ETag"]
    assert client.get("/api/v1/world/reveals", headers={"If-None-Match": tag}).status_code == 401


def test_long_answers_are_compressed(engine: ApiClient) -> None:
    engine.put("world/lore", {"title": "Long", "body": "A river. " * 200})
    answer = read(engine, "world/lore/long", **{"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.content))["slug"] == "long"


def test_a_compressed_answer_can_be_asked_for_conditionally(engine: ApiClient) -> None:
    engine.put("world/lore", {"title": "Long", "body": "A river. " * 200})
    headers = {"Accept-Encoding": "gzip"}
    tag = read(engine, "world/lore/long", **headers)["ETag"]
    again = read(engine, "world/lore/long", **headers, **{"If-None-Match": tag})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["world/episodes?partyid=lanternbearers", "world/lore/x?full=1"])
def test_an_unknown_parameter_is_refused(
    engine: ApiClient, lanternbearers: Party, path: str
) -> None:
    status, problem = engine.get(path)
    assert status == 422
    name = path.split("?")[1].split("=")[0]
    assert problem["errors"] == [{"loc": [name], "msg": "unknown parameter"}]
    assert lanternbearers.slug not in problem["detail"]


def test_the_refusal_names_what_the_operation_takes(engine: ApiClient) -> None:
    _status, problem = engine.get("world/episodes?partyid=lanternbearers")
    assert {"party_id", "cursor", "limit"} <= set(problem["candidates"])
