"""The OpenAPI document, as those who generate clients from it read it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from knowledge.graph.labels import RELATION_LABELS
from memory_site.api import api
from memory_site.api_reference.descriptions import schema_texts, texts
from memory_site.api_reference.schema_names import NAMES, PREFIX, schema_name, walk
from memory_site.openapi import operations
from tests.api_document import json_schema_validator
from worlds.deprecations import DEPRECATED


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(), default=str))
    return parsed


def test_every_schema_has_a_name_that_says_what_it_is(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if name.endswith(("Out", "In", "Ask")) or name[-1] in "23"]
    references = {node["$ref"] for node in walk(document) if "$ref" in node}
    names = {each.removeprefix(PREFIX) for each in references if each.startswith(PREFIX)}
    assert names <= set(schemas)
    assert set(NAMES.values()) <= set(schemas), "a name that no schema has"


def test_a_schema_without_a_name_for_clients_is_refused() -> None:
    assert schema_name("CampaignOut") == "Campaign"
    with pytest.raises(ValueError, match="Give BargeIn a name"):
        schema_name("BargeIn")


LINTER = "@redocly/cli@2.77.0"
NOT_JSON = {"picture_file", "archive_file", "vault_export", "memory_export", "event_stream"}
"""Operations that answer with a file or a stream."""


def responses_of(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the responses of `operation` by status, those that it refers to included."""
    shared = document["components"]["responses"]
    return {
        status: shared[response["$ref"].rsplit("/", 1)[-1]] if "$ref" in response else response
        for status, response in operation["responses"].items()
    }


def contents(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every body and every answer: the operation, which of both, and its content."""
    for _method, _path, operation in operations(document):
        name = operation["operationId"]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield name, "body", content
        for status, response in responses_of(document, operation).items():
            for content in response.get("content", {}).values():
                yield name, status, content


def test_every_schema_says_what_it_is(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert not [name for name, schema in schemas.items() if not schema.get("description")]
    alike = {name for name in schema_texts() if name in schemas}
    assert alike == set(schema_texts()), "a description of a schema that there is not"
    unused = [name for name, text in schema_texts().items() if schemas[name]["description"] != text]
    assert not unused, "the class says it itself"


def test_every_field_parameter_and_operation_is_described(document: dict[str, Any]) -> None:
    missing = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, node in schema.get("properties", {}).items()
        if not node.get("description")
    ]
    for _method, _path, operation in operations(document):
        name = operation["operationId"]
        missing += [name] * (not operation.get("description") or not operation.get("summary"))
        missing += [
            f"{name}?{each['name']}"
            for each in operation["parameters"]
            if "$ref" not in each and not each.get("description")
        ]
        missing += [
            f"{name} {s}"
            for s, r in responses_of(document, operation).items()
            if not r["description"]
        ]
    assert missing == [], "describe it at the class or in api_reference/fields.toml"


def test_the_codes_in_descriptions_are_those_of_relations(document: dict[str, Any]) -> None:
    described = [
        each["description"]
        for schema in document["components"]["schemas"].values()
        for name, each in schema.get("properties", {}).items()
        if name == "relation"
    ]
    described += [
        each["description"]
        for _method, _path, operation in operations(document)
        for each in operation.get("parameters", ())
        if each.get("name") == "relation"
    ]
    codes = {code for text in described for code in re.findall(r"[A-Z]{3,}(?:_[A-Z]+)*", text)}
    assert codes
    assert codes - {"NPC"} <= RELATION_LABELS.keys()


def test_no_description_waits_for_a_field_that_is_gone(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"].values()
    fields = {field for schema in schemas for field in schema.get("properties", {})}
    assert set(texts()["fields"]) <= fields


def test_every_body_and_answer_has_an_example_that_fits_it(document: dict[str, Any]) -> None:
    faults = []
    for name, part, content in contents(document):
        if name in NOT_JSON and part in ("200", "body"):
            continue
        if "example" not in content:
            faults.append(f"{name} {part}: no example")
            continue
        schema = {**content["schema"], "components": document["components"]}
        if "multipart" in str(content) or "(the file)" in str(content["example"]):
            continue  # a file is no JSON
        errors = json_schema_validator()(schema).iter_errors(content["example"])
        faults += [f"{name} {part}: {error.message[:200]}" for error in errors]
    assert faults == [], "pytest tests/memory_site/api/test_whole_day.py --write-examples"


def test_servers_tags_and_headers_are_declared(document: dict[str, Any]) -> None:
    assert document["servers"][0]["url"]
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    for method, _path, operation in operations(document):
        assert set(operation["tags"]) <= described
        named = {each.get("$ref", "").rsplit("/", 1)[-1] for each in operation["parameters"]}
        assert ("If-None-Match" in named) == (method == "GET")
    (party,) = (
        operation
        for _method, _path, operation in operations(document)
        if operation["operationId"] == "party_delete"
    )
    responses = responses_of(document, party)
    assert "`referenced`" in responses["409"]["description"]
    assert "Retry-After" in responses["429"]["headers"]


def test_equal_problems_are_described_once(document: dict[str, Any]) -> None:
    shared = [json.dumps(each) for each in document["components"]["responses"].values()]
    assert len(shared) == len(set(shared)) < 100
    for _method, _path, operation in operations(document):
        for status, response in operation["responses"].items():
            assert ("$ref" in response) == (int(status) >= 400), operation["operationId"]


def test_every_reference_has_its_target(document: dict[str, Any]) -> None:
    for node in walk(document):
        if "$ref" in node:
            target: Any = document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            assert target


@pytest.mark.timeout(180)
def test_the_linter_finds_nothing(document: dict[str, Any], tmp_path: Path) -> None:
    if not (npx := shutil.which("npx")):
        give_up("npx is missing")
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    offline = [] if os.environ.get("CI") else ["--prefer-offline"]
    command = [str(npx), "--yes", *offline, LINTER, "lint", "openapi.json", "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=150)
    if not done.stdout.lstrip().startswith("{"):
        give_up(f"the linter cannot be had: {done.stderr[-300:]}")
    problems = json.loads(done.stdout)["problems"]
    assert [(each["ruleId"], each["message"]) for each in problems] == []


def give_up(reason: str) -> None:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def test_what_will_go_says_so(document: dict[str, Any]) -> None:
    leaving = {
        operation["operationId"]: operation
        for _method, _path, operation in operations(document)
        if operation.get("deprecated")
    }
    assert leaving.keys() == DEPRECATED.keys()
    guide = (Path(settings.BASE_DIR) / "docs" / "api-changelog.md").read_text()
    for name, each in DEPRECATED.items():
        assert {"Deprecation", "Sunset"} <= leaving[name]["responses"]["200"]["headers"].keys()
        assert f"`{name}`" in guide
        assert (each.sunset - each.since).days >= 365
    assert DEPRECATED["memory_edit"].headers == {
        "Deprecation": "@1795392000",
        "Sunset": "Tue, 23 Nov 2027 00:00:00 GMT",
    }


def test_what_may_be_left_out_of_a_body_has_no_default_in_its_schema(
    document: dict[str, Any],
) -> None:
    """Generators of types take a default for "always there": callers would have to send it."""
    episode = document["components"]["schemas"]["EpisodeCreate"]
    assert "flags" not in episode["required"]
    assert "default" not in episode["properties"]["flags"]
    delta = document["components"]["schemas"]["RelationDelta"]["properties"]["axis"]
    assert delta["description"].endswith("Default: `affection`.")
    assert "default" not in delta


def test_answers_say_that_they_have_all_their_fields(document: dict[str, Any]) -> None:
    profile = document["components"]["schemas"]["NPCProfile"]
    assert profile["required"] == list(profile["properties"])
    assert {"relations", "dynamic", "private"} <= set(profile["required"])
