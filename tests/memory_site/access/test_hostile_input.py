"""No page and no operation answers 500, whatever it is sent.

Every address of the site is called with values that break programs which trust them: in the
address, in each parameter and form field that the view reads, and in every place of the example
body of each operation. CI sends a sample; `HOSTILE_CALLS=1000000` sends all.
"""

import json
import os
import random
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.urls.resolvers import RegexPattern

from memory_site.api_reference.examples import examples
from tests.api_document import api_document
from tests.conftest import ApiClient
from tests.memory_site.access.hostile import TEXTS, changed_bodies, names_read
from tests.memory_site.test_query_counts import MASTER, UNKNOWN, known_arguments, make_world
from worlds.models import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]

CALLS = int(os.environ.get("HOSTILE_CALLS", "150"))
ENDLESS = {"live", "event_stream"}
"""Streams: their answers do not end."""


class Call(NamedTuple):
    method: str
    address: str
    body: Any = None


@pytest.fixture
def world(db: None) -> World:
    return make_world("few", 2)


def sample(calls: list[Call]) -> list[Call]:
    chosen = random.Random(37)
    return calls if len(calls) <= CALLS else chosen.sample(calls, CALLS)


def faults(client: Client, calls: list[Call], **headers: Any) -> dict[str, Call]:
    """The calls that were answered with a fault of the server, one for each address without its
    values."""
    found = {}
    for call in calls:
        sent = call.body if call.body is not None else ""
        kind = "application/json"
        if call.method == "POST" and not call.address.startswith("/api/"):
            sent, kind = urlencode(sent or {}), "application/x-www-form-urlencoded"
        elif sent != "":
            sent = json.dumps(sent)
        with transaction.atomic():
            answer = client.generic(call.method, call.address, sent, content_type=kind, **headers)
            transaction.set_rollback(True)
        if answer.status_code >= 500:
            found[f"{call.method} {call.address[:120]} {answer.status_code}"] = call
    return found


# --- pages


def patterns(resolver: Any, outer: dict[str, type]) -> Iterator[tuple[URLPattern, dict[str, type]]]:
    for each in resolver.url_patterns:
        own = {name: type(converter) for name, converter in each.pattern.converters.items()}
        if isinstance(each.pattern, RegexPattern):
            own = dict.fromkeys(each.pattern.regex.groupindex, str)
        arguments = {**outer, **own}
        if isinstance(each, URLPattern):
            if each.name and each.name not in ENDLESS:
                yield each, arguments
        elif not each.namespace:  # the admin and the API have one
            yield from patterns(each, arguments)


def page_calls(world: World) -> Iterator[Call]:
    known = known_arguments(world)
    for pattern, wanted in patterns(get_resolver(), {}):
        name = pattern.name
        kwargs = {
            each: known.get(f"{name} {each}", known.get(each, UNKNOWN.get(kind, "nothing")))
            for each, kind in wanted.items()
        }
        address = reverse(name, kwargs=kwargs)
        names = sorted(names_read(pattern.callback))
        for text in TEXTS:
            for each, kind in wanted.items():
                if kind not in UNKNOWN and "/" not in text:
                    hostile = reverse(name, kwargs={**kwargs, each: "HOSTILE"})
                    yield Call("GET", hostile.replace("HOSTILE", quote(text, safe="")))
            for each in names:
                yield Call("GET", f"{address}?{urlencode({each: text})}")
            yield Call("POST", address, dict.fromkeys(names, text))
            for each in names:
                yield Call("POST", address, {each: text})


def test_no_page_answers_500_to_any_input(world: World) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username=MASTER))
    calls = list(page_calls(world))
    assert len(calls) > 2_000
    assert faults(client, sample(calls)) == {}


# --- operations


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in api_document()["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in ENDLESS:
                yield method.upper(), path, operation


def api_calls(method: str, path: str, operation: dict[str, Any]) -> Iterator[Call]:
    example = examples().get(operation["operationId"], {})
    parameters = [each for each in operation.get("parameters", ()) if "name" in each]
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    plain = path
    for name in in_path:
        plain = plain.replace(f"{{{name}}}", "1")
    body = example.get("body")
    for text in TEXTS:
        for name in in_path:
            address = path.replace(f"{{{name}}}", quote(text, safe=""))
            for other in in_path:
                address = address.replace(f"{{{other}}}", "1")
            yield Call(method, address, body)
        for each in parameters:
            if each["in"] == "query":
                yield Call(method, f"{plain}?{urlencode({each['name']: text})}", body)
    if isinstance(body, dict):
        for _path, changed in changed_bodies(body):
            yield Call(method, plain, changed)


def test_no_operation_answers_500_to_any_input(world: World) -> None:
    key = ApiClient(world, scopes=["admin"], calls_per_minute=1_000_000)
    calls = list(chain.from_iterable(api_calls(*each) for each in operations()))
    assert len(calls) > 10_000
    found = faults(key.client, sample(calls))
    assert found == {}
