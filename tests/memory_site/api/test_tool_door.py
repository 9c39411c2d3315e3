"""The short way to a tool answers as the long way through Django does."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from memory_site import tool_door
from memory_site.tool_door import ToolDoor
from worlds import keys

pytestmark = pytest.mark.django_db

LONG_WAY = {"Accept-Language": "en"}
OWN = {"x-request-id", "date", "ratelimit-remaining", "ratelimit-reset", "retry-after"}
"""Headers that differ from call to call."""


class Asked:
    """Asks the running site, and notes which calls took the short way."""

    def __init__(self, site: dict[str, Any]) -> None:
        self.site, self.short = site, list[str]()
        self._client = HTTPConnection(urlsplit(site["url"]).netloc)

    def __call__(
        self, tool: str, body: bytes, key: str | None = "", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        given = {"Content-Type": "application/json", **headers}
        if key is not None:
            given["Authorization"] = f"Bearer {key or self.site['key']}"
        self._client.request("POST", f"/api/v1/tools/{tool}", body, given)
        answer = self._client.getresponse()
        text = answer.read()
        return (
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            json.loads(text),
        )


@pytest.fixture
def asked(site: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    asking = Asked(site)

    def noting(tool: str, *given: Any) -> Any:
        asking.short.append(tool)
        return answer(tool, *given)

    answer = tool_door.answer
    monkeypatch.setattr(tool_door, "answer", noting)
    yield asking
    asking._client.close()


def alike(told: tuple[int, dict[str, str], Any]) -> Any:
    status, headers, body = told
    body = {name: value for name, value in body.items() if name != "instance"}
    length = () if "instance" in told[2] else ("content-length",)
    return (
        status,
        {name: headers[name] for name in headers if name not in OWN and name not in length},
        body,
    )


CALLS = [
    ("rules_lookup", b'{"term": "grappled"}', {}),
    ("rules_lookup", b'{"term": "grappled", "k": null}', {"X-Request-ID": "turn-7"}),
    ("lore_search", b'{"query": "eels", "filters": {"kind": "place"}}', {}),
    ("lore_search", b'{"query": "eels", "filters": {"kind": null, "tags": null}}', {}),
    ("npc_profile", b'{"npc": "Nobody"}', {}),
    ("rules_lookup", b'{"word": "grappled"}', {}),
    ("rules_lookup", b"", {}),
    ("rules_lookup", b"{", {}),
    ("rules_lookup", b"[1]", {}),
    ("rules_lookup", b"\xff\xfe", {}),
    ("rules_lookup", b'{"term": "\\u0000"}', {}),
    ("session_fetch", b'{"party": "lanternbearers", "as": "party:other"}', {}),
]


@pytest.mark.parametrize(("tool", "body", "headers"), CALLS)
def test_both_ways_answer_the_same(
    asked: Asked, tool: str, body: bytes, headers: dict[str, str]
) -> None:
    short = asked(tool, body, **headers)
    assert asked.short == [tool]
    long = asked(tool, body, **headers, **LONG_WAY)
    assert asked.short == [tool]
    assert alike(short) == alike(long)
    if "X-Request-ID" in headers:
        assert short[1]["x-request-id"] == headers["X-Request-ID"]


@pytest.mark.parametrize("key", [None, "nonsense", "m37_000000000000_nonsense"])
def test_both_ways_refuse_a_wrong_key_alike(asked: Asked, key: str | None) -> None:
    short, long = (asked("rules_lookup", b'{"term": "x"}', key, **more) for more in ({}, LONG_WAY))
    assert asked.short == ["rules_lookup"]
    assert short[0] == 401
    assert alike(short) == alike(long)


def test_a_key_in_the_other_header_is_as_good(asked: Asked) -> None:
    told = asked("rules_lookup", b'{"term": "grappled"}', None, **{"X-API-Key": asked.site["key"]})
    assert (told[0], asked.short) == (200, ["rules_lookup"])


def committed_key(world: Any) -> str:
    """A key that the site can see: made over a connection of its own, outside the test's transaction."""

    def make() -> str:
        try:
            return keys.create_key(world, name="slow", audience="gm", calls_per_minute=1)[1]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:
        return other.submit(make).result()


def test_both_ways_count_and_refuse_alike(asked: Asked) -> None:
    text = committed_key(asked.site["world"])
    first, second, third = (
        asked("rules_lookup", b'{"term": "x"}', text, **more) for more in ({}, {}, LONG_WAY)
    )
    assert [told[0] for told in (first, second, third)] in (
        [200, 429, 429],
        [200, 200, 429],
    )  # a minute may begin
    assert first[1]["ratelimit-limit"] == "1"
    if second[0] == 429:
        assert alike(second) == alike(third)
        assert int(second[1]["retry-after"]) <= 60


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Idempotency-Key": "7"}, 200),
        ({"Accept-Language": "ko"}, 200),
        ({"Host": "elsewhere.example"}, 400),
    ],
)
def test_what_is_not_ordinary_goes_the_long_way(
    asked: Asked, headers: dict[str, str], status: int
) -> None:
    assert asked("rules_lookup", b'{"term": "grappled"}', **headers)[0] == status
    assert asked.short == []


def test_another_name_another_method_and_a_body_without_length_go_the_long_way(
    asked: Asked,
) -> None:
    assert asked("no_such_tool", b"{}")[0] == 404
    asked._client.request(
        "GET",
        "/api/v1/tools/rules_lookup",
        headers={"Authorization": f"Bearer {asked.site['key']}"},
    )
    answer = asked._client.getresponse()
    assert (answer.status, answer.read()[:1]) == (405, b"{")
    asked._client.request(
        "POST",
        "/api/v1/tools/rules_lookup",
        iter([b'{"term": ', b'"grappled"}']),
        {"Authorization": f"Bearer {asked.site['key']}", "Content-Type": "application/json"},
        encode_chunked=True,
    )
    answer = asked._client.getresponse()
    assert answer.status == 200, answer.read()
    answer.read()
    assert asked.short == []


ORDINARY = {
    "type": "http",
    "method": "POST",
    "path": "/api/v1/tools/lore_search",
    "scheme": "http",
    "headers": [(b"host", b"localhost"), (b"content-length", b"2")],
}


def takes(**other: Any) -> bool:
    return ToolDoor(None).takes({**ORDINARY, **other})  # type: ignore[arg-type]


def test_middleware_of_the_sites_own_closes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert takes()
    monkeypatch.setattr(settings, "MIDDLEWARE", ["site.AddressList", *settings.MIDDLEWARE])
    assert not takes()


def test_over_https_alone_where_the_site_wants_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SECURE_SSL_REDIRECT", True)
    assert not takes()
    assert takes(scheme="https")
    monkeypatch.setattr(settings, "SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https"))
    assert not takes(scheme="https")
    assert takes(headers=[*ORDINARY["headers"], (b"x-forwarded-proto", b"https")])  # type: ignore[misc]


def test_a_body_too_large_or_headers_said_twice_are_djangos_to_refuse() -> None:
    assert not takes(headers=[(b"host", b"localhost"), (b"content-length", b"99999999")])
    assert not takes(headers=[*ORDINARY["headers"], (b"host", b"elsewhere")])  # type: ignore[misc]
    assert not takes(type="websocket")
