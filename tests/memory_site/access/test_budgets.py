"""What one request may take: its time, its depth, its number of fields."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory_site import asgi
from npcs.models import DispositionChange
from tests import cast
from tests.conftest import ApiClient
from worlds import keys
from worlds.bulk import report_on_all
from worlds.models import GameSystem, Party, World


def scope(path: str) -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": headers,
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
    }


async def answer(path: str, receive: Any, *headers: tuple[bytes, bytes]) -> list[Any]:
    """Return what the site sends to whom `receive` reads."""
    application, sent = asgi.Application(), list[Any]()
    application.mcp = asgi.McpEndpoint()

    async def send(message: Any) -> None:
        sent.append(message)

    asked = scope(path)
    asked["headers"] += headers
    await asyncio.wait_for(application(asked, receive, send), 20)
    return sent


@pytest.fixture
def bearer(transactional_db: None) -> tuple[bytes, bytes]:
    """The header of a key that is valid. Threads of the server read it: it is committed."""
    _key, text = keys.create_key(cast.create_world(), name="host")
    return b"authorization", f"Bearer {text}".encode()


@pytest.mark.parametrize("path", ["/api/v1/tools/lore_search", "/mcp"])
async def test_a_body_that_comes_too_slowly_is_refused(
    path: str, bearer: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.2)
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        if not parts:
            await asyncio.sleep(60)
        return parts.pop()

    sent = await answer(path, receive, bearer)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


class LongBody:
    """A body of 60 MB without an announced length; `taken` bytes of it were read."""

    taken = 0

    async def receive(self) -> Any:
        self.taken += 1_000_000
        more = self.taken < 60_000_000
        return {"type": "http.request", "body": b" " * 1_000_000, "more_body": more}


async def test_of_whom_mcp_does_not_know_it_reads_no_body() -> None:
    body = LongBody()
    sent = await answer("/mcp", body.receive)
    assert sent[0]["status"] == 401
    assert body.taken == 0


async def test_mcp_reads_no_more_of_a_body_than_it_takes(bearer: tuple[bytes, bytes]) -> None:
    body = LongBody()
    sent = await answer("/mcp", body.receive, bearer)
    assert sent[0]["status"] == 413
    assert b"10 MB" in sent[1]["body"]
    assert body.taken <= 12_000_000


async def test_after_its_body_a_client_may_wait_as_long_as_it_likes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Streams wait for the end of their client."""
    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.1)
    messages = iter([{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        message = next(messages)
        if message["type"] == "http.disconnect":
            await asyncio.sleep(0.3)
        return message

    limited = asgi.limit_body(receive, scope("/"), most=1_000)
    assert (await limited())["body"] == b"{}"
    assert (await limited())["type"] == "http.disconnect"


def nested(depth: int) -> Any:
    value: Any = 1
    for _level in range(depth):
        value = [value]
    return value


def test_json_that_is_nested_too_deep_is_refused(engine: ApiClient, lanternbearers: Party) -> None:
    engine.put("world/scenes", {"scene_id": "pier", "party_id": "lanternbearers"})
    put = "world/scenes/pier/scratch/notes"
    assert engine.put(put, {"value": nested(900)})[0] == 400
    assert engine.put(put, {"value": nested(50)})[0] == 200
    assert engine.get("world/scenes/pier/scratch")[0] == 200


def test_thousands_of_secrets_in_one_body_are_stored(engine: ApiClient) -> None:
    entry = {"title": "Inn", "body": "Open.\n" + ":::secret\n" * 5_000}
    status, answer = engine.put("world/lore", entry)
    assert status in (200, 422), answer
    assert engine.tool("lore_search", query="open inn")[0] == 200


@pytest.mark.django_db
def test_a_bulk_write_ends_when_its_time_is_used_up() -> None:
    report = report_on_all(["a", "b"], lambda item: (item, "done"), atomic=False, seconds=-1)
    assert [each.code for each in report.items] == ["time_used_up"] * 2
    report = report_on_all(["a", "b"], lambda item: (item, "done"), atomic=False)
    assert report.stored == 2


def test_more_than_a_thousand_rows_are_deleted_at_once(admin_user: User) -> None:
    rows = [GameSystem(slug=f"system-{n}", name=f"System {n}") for n in range(1_100)]
    GameSystem.objects.bulk_create(rows)
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    chosen = [str(row.pk) for row in rows]
    form = {"action": "delete_selected", "_selected_action": chosen[:100], "select_across": "1"}
    address = "/admin/worlds/gamesystem/"
    question = client.post(address, form)
    assert question.status_code == 200
    assert question.content.decode().count('name="_selected_action"') >= 1_100
    done = client.post(address, {**form, "_selected_action": chosen, "post": "yes"})
    assert done.status_code == 302
    assert not GameSystem.objects.filter(slug__startswith="system-").exists()


def test_a_form_with_too_many_fields_is_told_so(admin_user: User) -> None:
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.post("/admin/worlds/gamesystem/", {"x": ["1"] * 50_001})
    assert answer.status_code == 413
    assert "fewer at once" in answer.content.decode()


@pytest.mark.parametrize("depth", ["nan", "inf", "-inf", "1e999"])
def test_a_depth_that_is_no_number_is_left_out(world: World, admin_user: User, depth: str) -> None:
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(f"/w/{world.slug}/graph/?depth={depth}").status_code == 200


@pytest.mark.parametrize("field", [{"axis": "wrath"}, {"axis": "\0"}, {"reason": "a\0b"}])
def test_a_correction_with_an_unknown_axis_is_no_fault_of_the_server(
    admin_user: User, lanternbearers: Party, mira: Any, field: dict[str, str]
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    form = {"party": "lanternbearers", "delta": "5", "reason": "A gift.", **field}
    answer = client.post(f"/w/{lanternbearers.world.slug}/npcs/{mira.slug}/correct/", form)
    assert answer.status_code in (302, 422)
    assert not DispositionChange.objects.exists()


@pytest.mark.parametrize("path", ["/w/%00/", "/w/{}/lore/%00/", "/w/{}/npcs/a%00b/"])
def test_nul_in_an_address_is_no_fault_of_the_server(
    world: World, admin_user: User, path: str
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(path.format(world.slug)).status_code in (400, 404, 422)
    assert client.get(f"/w/{world.slug}/audit/?tool=%00").status_code < 500
    assert client.get(f"/w/{world.slug}/links/?name=%00").status_code < 500
    viewed = client.post(f"/w/{world.slug}/as/", {"as": "party:\0"})
    assert viewed.status_code in (302, 400, 404, 422)
