"""Whoever holds a player's key learns from no operation what there is in the world.

The key of a party, with all scopes, sends every call of an engine's whole day before and after the
engine does: with the addresses and bodies of rows that there are, and with those of rows that
there never were; also with the `ETag` that the game master got of the row. It is answered alike.
"""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from memory_site.openapi import operations
from memory_site.toolbox import TOOLS
from tests.api_document import api_document
from tests.memory_site.api.day.memory_calls import NIGHT
from tests.memory_site.api.day.play_calls import EVENING
from tests.memory_site.api.day.run import Call, Day
from tests.memory_site.api.day.world_calls import MORNING
from worlds import keys
from worlds.keys import Scope
from worlds.models import World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(400)]
TOOL_CALLS = {*(tool.name for tool in TOOLS), "tools_call"}
"""Their answers are compared in test_secrecy.py."""
OWN = {
    *("me", "system_list", "openai_tools", "event_list", "event_stream"),
    *("calendar_get", "calendar_date", "calendar_parse"),
}
"""What a player's key reads; test_secrecy_of_changes.py compares the answers."""
OPEN_TO_PLAYERS = {"picture_list", "picture_get", "picture_file", "lore_propose"}
"""They answer with pictures that the audience sees anywhere, or take a proposal."""
NAMESPACE_TAGS = {"memory", "agent"}
"""Operations on the memories of the key's own agent."""
NO_UUID = "0198f7a0-0000-7000-8000-00000000dead"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
REFERENCE = re.compile(r"(^|_)(ref|ids?|key|subject|object|from|to|number|slug)$")
MATCHES: list[dict[str, str]] = [{}, {"If-Match": '"1"'}, {"If-None-Match": "*"}]


def absent(value: Any, name: str = "") -> Any:
    """The same value with each reference to a row replaced by one that there never was."""
    if isinstance(value, dict):
        return {key: absent(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [absent(item, name) for item in value]
    if not REFERENCE.search(name):
        return value
    if isinstance(value, int) or str(value).isdigit():
        return type(value)(98765)  # no number may be above 100,000
    if not isinstance(value, str) or not value:
        return value
    return UUID.sub(NO_UUID, value) if UUID.search(value) else f"{value[:60]}-never"


class Attack(Day):
    """The day, with a player's key that tries each call too."""

    def __init__(self, document: dict[str, Any], audience: str) -> None:
        found = list(operations(document))
        super().__init__({each["operationId"]: (method, path) for method, path, each in found})
        self.tags = {each["operationId"]: set(each["tags"]) for _m, _p, each in found}
        self.audience, self.player = audience, Client()
        self.differences: list[Any] = []
        self.answered: set[str] = set()

    def send(self, step: Call) -> None:
        self.attack(step)
        super().send(step)
        self.attack(step)

    def attack(self, step: Call) -> None:
        world = World.objects.filter(slug="salt-coast").first()
        known = TOOL_CALLS | OWN
        if world is None or step.operation in known or self.tags[step.operation] & NAMESPACE_TAGS:
            return
        if not self.player.defaults.get("HTTP_AUTHORIZATION"):
            self.player = self.new_player(world)
        path = {name: str(self.filled(value)) for name, value in step.path.items()}
        for headers in [*MATCHES, *self.matches_of_gm(step)]:
            real = self.ask_as_player(step, path, self.filled(step.body), headers)
            never = self.ask_as_player(step, absent(path), absent(self.filled(step.body)), headers)
            if real[0] < 400:
                self.answered.add(step.operation)
            if real != never and step.operation not in OPEN_TO_PLAYERS:
                self.differences.append((step.operation, headers, real, never))

    def matches_of_gm(self, step: Call) -> list[dict[str, str]]:
        """Headers with the tag that the game master gets of the row at this address."""
        address = self.addresses[step.operation][1]
        reads = [name for name, at in self.addresses.items() if at == ("GET", address)]
        if not reads or "stream" in reads[0]:
            return []
        query = step.query if reads[0] == step.operation else {}
        tag = self.ask(Call(reads[0], path=step.path, query=query)).get("ETag")
        return [{"If-Match": tag}, {"If-None-Match": tag}] if tag else []

    def new_player(self, world: World) -> Client:
        _key, text = keys.create_key(
            world,
            name="player",
            audience=self.audience,
            scopes=list(Scope),
            calls_per_minute=1_000_000,
        )
        return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)

    def ask_as_player(
        self, step: Call, path: dict[str, str], body: Any, headers: dict[str, str]
    ) -> tuple[int, Any, Any]:
        """Return what a reader could compare: status, text and headers."""
        method, address = self.addresses[step.operation]
        for name, value in path.items():
            address = re.sub(rf"{{(\w+:)?{name}}}", value, address)
        if step.files:
            parts = {
                field: SimpleUploadedFile(name, self.filled(content))
                for field, (name, content) in step.files.items()
            }
            answer = self.player.post(address, {**(body or {}), **parts}, headers=headers)
        else:
            answer = self.player.generic(
                method,
                address,
                "" if body is None else json.dumps(body),
                content_type="application/json",
                headers=headers,
                query_params=self.filled(step.query),
            )
        return comparable(answer)


VARYING = {"Date", "X-Request-ID", "RateLimit-Remaining", "RateLimit-Reset", "Content-Length"}


def comparable(answer: Any) -> tuple[int, str, dict[str, str]]:
    content = b"".join(answer) if answer.streaming else answer.content
    problem = content.decode(errors="replace")
    if "json" in answer.get("Content-Type", ""):
        told = json.loads(content)
        if isinstance(told, dict):
            told = {name: told[name] for name in told if name not in ("instance", "request_id")}
        problem = json.dumps(told)
    # The digest of a problem is that of its request id.
    varying = VARYING | {"ETag"} if answer.status_code >= 400 else VARYING
    headers = {name: value for name, value in answer.headers.items() if name not in varying}
    return answer.status_code, problem, headers


@pytest.mark.parametrize("audience", ["party:gulls", "public"])
def test_no_operation_tells_a_player_what_there_is(audience: str) -> None:
    day = Attack(api_document(), audience)
    day.carry_out([*MORNING, *EVENING, *NIGHT])
    assert not day.differences, "\n".join(map(str, day.differences[:200]))
    # Ada Crane and the pier are public, and so is that she lives there.
    assert day.answered <= OPEN_TO_PLAYERS | {"graph_path"}
