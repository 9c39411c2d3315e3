"""A key makes, downloads, restores and deletes archives, exports vaults and reads the audit, as the
pages do for people; who may not learns nothing."""

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import encode_multipart

from knowledge.models import Lore
from memory_site.archive import runs
from tests import cast
from tests.conftest import ApiClient
from worlds import audit, keys
from worlds.archive_run import ArchiveRun
from worlds.models import ApiKey, Membership, Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def designer(world: World) -> ApiClient:
    return ApiClient(world, scopes=["admin"])


@pytest.fixture
def installation(db: None) -> Client:
    _key, text = keys.create_key(None, name="engine", audience="gm", scopes=["admin"])
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def made_archive(designer: ApiClient) -> tuple[str, bytes]:
    """Ask for an archive, let the worker make it, and download it."""
    status, run = designer.post("world/archives")
    assert status == 201
    path = f"world/archives/{run['id']}"
    assert designer.get(f"{path}/file")[1]["detail"].startswith("This archive is waiting")
    runs.archive(run["id"])
    answer = designer.client.get(f"/api/v1/{path}/file")
    return path, b"".join(answer)


def upload(client: Client, content: bytes, **fields: str) -> Any:
    file = SimpleUploadedFile("world.zip", content)
    return client.post("/api/v1/restorations", {"file": file, **fields})


def test_an_archive_is_made_downloaded_and_deleted(designer: ApiClient, world: World) -> None:
    Lore.objects.create(world=world, slug="tin-heron", title="Tin Heron", body="An inn.")
    path, content = made_archive(designer)
    assert b"Tin Heron" in b"".join(
        zipfile.ZipFile(io.BytesIO(content)).read(name)
        for name in zipfile.ZipFile(io.BytesIO(content)).namelist()
    )
    assert designer.get(path)[1]["state"] == "done"
    assert [row["id"] for row in designer.get("world/archives")[1]["archives"]] == [path[-36:]]
    assert designer.send("DELETE", path)[0] == 204
    assert designer.get(f"{path}/file")[0] == 404


def test_a_second_request_answers_with_the_archive_that_is_being_made(designer: ApiClient) -> None:
    first = designer.post("world/archives")[1]
    status, second = designer.post("world/archives")
    assert (status, second["id"]) == (200, first["id"])
    assert designer.send("DELETE", f"world/archives/{first['id']}")[0] == 409


def test_an_archive_is_of_its_own_world(designer: ApiClient) -> None:
    path, _content = made_archive(designer)
    other = ApiClient(cast.create_world(slug="elsewhere"), scopes=["admin"])
    for address in (path, f"{path}/file"):
        assert other.get(address)[0] == 404
    assert other.send("DELETE", path)[0] == 404
    assert other.get("world/archives")[1]["archives"] == []


@pytest.mark.parametrize(
    ("key", "status"),
    [
        ({"scopes": ["tools:read", "world:write"]}, 403),
        ({"scopes": ["admin"], "audience": "public"}, 403),
    ],
)
def test_only_an_administrators_key_archives(
    world: World, key: dict[str, Any], status: int
) -> None:
    client = ApiClient(world, **key)
    paths = ("world/archives", "world/vault", "world/audit")
    assert [client.get(path)[0] for path in paths] == [status] * 3
    assert client.post("world/archives")[0] == status
    assert not ArchiveRun.objects.exists()


def test_the_vault_of_a_party_holds_what_it_may_know(
    designer: ApiClient, world: World, lanternbearers: Party
) -> None:
    common = {"world": world, "kind": "place", "status": "published"}
    Lore.objects.create(slug="pier", title="The Pier", visibility="public", **common)
    Lore.objects.create(slug="cellar", title="The Cellar", visibility="gm", **common)

    def notes(query: str) -> str:
        answer = designer.client.get(f"/api/v1/world/vault{query}")
        assert answer["Content-Type"] == "application/zip"
        return " ".join(zipfile.ZipFile(io.BytesIO(b"".join(answer))).namelist())

    assert "The Pier" in notes(f"?audience=party:{lanternbearers.slug}")
    assert "The Cellar" not in notes(f"?audience=party:{lanternbearers.slug}")
    assert "The Cellar" not in notes("?audience=public")
    assert "The Cellar" in notes("")
    assert designer.get("world/vault?audience=party:nobody")[0] == 404
    assert designer.get("world/vault?audience=everybody")[0] == 422


def test_an_archive_becomes_a_world_without_people(
    designer: ApiClient, installation: Client
) -> None:
    _path, content = made_archive(designer)
    taken = upload(installation, content).json()
    runs.restore(taken["id"])
    path = f"/api/v1/restorations/{taken['id']}"
    failed = installation.get(path).json()
    assert failed["state"] == "failed"
    assert failed["failure"]
    again = installation.post(
        f"{path}/retry", {"world_id": "the-copy"}, content_type="application/json"
    )
    assert again.json()["state"] == "waiting"
    runs.restore(taken["id"])
    done = installation.get(path).json()
    assert (done["state"], done["world_id"]) == ("done", "the-copy")
    copy = World.objects.get(slug="the-copy")
    assert not Membership.objects.filter(world=copy).exists()
    assert installation.get("/api/v1/worlds/the-copy").status_code == 200
    assert installation.delete(path).status_code == 204
    assert World.objects.filter(slug="the-copy").exists()


def test_a_revoked_key_restores_nothing_any_more(designer: ApiClient, installation: Client) -> None:
    _path, content = made_archive(designer)
    run = upload(installation, content, world_id="the-copy").json()
    keys.revoke(ApiKey.objects.get(world=None))
    runs.restore(run["id"])
    assert ArchiveRun.objects.get(pk=run["id"]).state == "failed"
    assert not World.objects.filter(slug="the-copy").exists()


def test_only_a_key_of_the_installation_restores(designer: ApiClient) -> None:
    _path, content = made_archive(designer)
    assert upload(designer.client, content, world_id="the-copy").status_code == 403
    assert designer.get("restorations")[0] == 403
    assert not ArchiveRun.objects.filter(kind="restoration").exists()


def test_what_a_person_uploads_is_not_listed(installation: Client, world: World) -> None:
    row = ArchiveRun.objects.create(kind="restoration", file_name="mine.zip", state="failed")
    assert installation.get("/api/v1/restorations").json()["restorations"] == []
    assert installation.get(f"/api/v1/restorations/{row.pk}").status_code == 404


def test_a_file_that_is_no_archive_says_so(installation: Client) -> None:
    assert upload(installation, b"").status_code == 422
    run = upload(installation, b"no zip").json()
    runs.restore(run["id"])
    row = installation.get(f"/api/v1/restorations/{run['id']}").json()
    assert row["state"] == "failed"
    assert row["failure"]


def test_the_audit_lists_who_called_what(designer: ApiClient, world: World) -> None:
    reader = ApiClient(world, name="table", scopes=["tools:read", "world:write"])
    reader.tool("lore_search", query="the heron")
    assert reader.get("world/campaigns/none")[0] == 404
    audit.wait_until_written()
    calls = designer.get(f"world/audit?key_id={reader.key.pk}")[1]["calls"]
    assert [(call["operation"], call["status"]) for call in calls] == [
        ("campaign_get", 404),
        ("lore_search", 200),
    ]
    assert {call["key_name"] for call in calls} == {"table"}
    assert calls[1]["asked"]["query"] == "the heron"
    found = designer.get("world/audit?operation=lore_search")[1]["calls"]
    assert [call["id"] for call in found] == [calls[1]["id"]]
    assert designer.get(f"world/audit/{calls[1]['id']}")[1] == calls[1]
    failed = designer.get("world/audit?failed=true")[1]["calls"]
    assert calls[0]["id"] in {call["id"] for call in failed}
    assert calls[1]["id"] not in {call["id"] for call in failed}
    other = ApiClient(cast.create_world(slug="elsewhere"), scopes=["admin"])
    assert other.get(f"world/audit/{calls[1]['id']}")[0] == 404


def test_the_audit_has_pages(designer: ApiClient) -> None:
    for _ in range(3):
        designer.get("world/campaigns")
    audit.wait_until_written()
    first = designer.get("world/audit?limit=2&operation=campaign_list&sort=created")[1]
    second = designer.get(
        f"world/audit?limit=2&operation=campaign_list&sort=created&cursor={first['next_cursor']}"
    )[1]
    times = [call["at"] for call in (*first["calls"], *second["calls"])]
    assert len(times) == 3
    assert times == sorted(times)
    assert second["next_cursor"] is None


def test_a_large_upload_is_stored_once(installation: Client) -> None:
    def send(content: bytes, *, boundary: str) -> Any:
        file = SimpleUploadedFile("world.zip", content)
        return installation.post(
            "/api/v1/restorations",
            encode_multipart(boundary, {"file": file, "world_id": "gulls"}),
            content_type=f"multipart/form-data; boundary={boundary}",
            headers={"Idempotency-Key": "once"},
        )

    content = b"x" * 11_000_000
    first, again = send(content, boundary="first"), send(content, boundary="second")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    run = ArchiveRun.objects.get()
    assert (run.size, run.slug) == (len(content), "gulls")
    with run.file.open() as stored:
        assert stored.read() == content
    other = send(b"y" * 11_000_000, boundary="first")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
