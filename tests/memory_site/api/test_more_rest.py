"""What people can do on the pages, keys can do too: imports, rule books, kinds, versions, comments,
pictures, contradictions, memories."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from art.models import Picture
from knowledge.bulk_changes import BulkChangeRequest, apply_change
from knowledge.models import Document, Lore
from memory_site.api import api
from memory_site.imports import runs, undo
from tests.api_document import api_document
from tests.art.image_samples import image_bytes
from tests.conftest import ApiClient
from worlds.models import ImportRun, World
from worlds.rest_fields import fields_to_choose

pytestmark = pytest.mark.django_db
LORE = {"title": "Tin Heron", "body": "An inn.", "status": "published"}


@pytest.fixture
def designer(world: World) -> ApiClient:
    return ApiClient(world, scopes=["admin"], namespace="mira")


def upload(client: Client, path: str, name: str, content: bytes, field: str) -> Any:
    sent = {field: SimpleUploadedFile(name, content)}
    return client.post(f"/api/v1/{path}", sent)


def test_an_import_is_checked_written_and_undone(designer: ApiClient) -> None:
    answer = upload(designer.client, "world/imports", "Tin Heron.md", b"An inn.", "files")
    assert answer.status_code == 201, answer.content
    run = answer.json()
    assert answer["Location"] == f"/api/v1/world/imports/{run['id']}"
    path = f"world/imports/{run['id']}"
    assert designer.post(f"{path}/write")[0] == 409  # not checked yet
    runs.read_run(run["id"])
    options = {"status": "published", "visibility": "public"}
    assert designer.post(f"{path}/check", {"options": options})[1]["state"] == "checking"
    runs.check_run(run["id"])
    assert designer.get(path)[1]["report"]["written"]
    assert designer.post(f"{path}/write")[1]["state"] == "importing"
    runs.import_run(run["id"])
    rows = designer.get(f"{path}/rows?outcome=created")[1]["rows"]
    assert [row["name"] for row in rows if row["kind"] == "lore"] == ["Tin Heron"]
    assert designer.get("world/lore/tin-heron")[1]["visibility"] == "public"
    assert designer.send("DELETE", path)[0] == 409  # it can be undone
    assert designer.post(f"{path}/undo", {})[1]["state"] == "undoing"
    undo.undo_run(run["id"])
    assert designer.get("world/lore/tin-heron")[0] == 404
    assert [each["state"] for each in designer.get("world/imports")[1]["imports"]] == ["undone"]


def test_an_upload_that_was_not_imported_is_deleted(designer: ApiClient) -> None:
    run = upload(designer.client, "world/imports", "a.md", b"# A\n\nText.", "files").json()
    runs.read_run(run["id"])
    assert designer.send("DELETE", f"world/imports/{run['id']}")[0] == 204
    assert not ImportRun.objects.exists()


def test_an_unknown_option_of_an_import_is_refused(designer: ApiClient) -> None:
    run = upload(designer.client, "world/imports", "a.md", b"# A\n\nText.", "files").json()
    path = f"world/imports/{run['id']}/check"
    assert designer.post(path, {"options": {"visiblity": "gm"}})[0] == 422


def test_rule_books_are_listed_changed_and_deleted(designer: ApiClient, world: World) -> None:
    Document.objects.create(slug="srd", title="SRD", system=world.system)
    rule = {"rule_id": "house/rope", "title": "Rope", "body": "Pull."}
    assert designer.put("world/rules", rule)[0] == 200
    books = {each["book_id"]: each for each in designer.get("world/rule-books")[1]["books"]}
    assert (books["srd"]["shared"], books["house"]["rules"]) == (True, 1)
    own = designer.get("world/rule-books?shared=false")[1]["books"]
    assert [each["book_id"] for each in own] == ["house"]
    change = {"title": "Our rules", "licence": "CC0"}
    changed = designer.send("PATCH", "world/rule-books/house", change)[1]
    assert (changed["title"], changed["licence"], changed["version"]) == ("Our rules", "CC0", 2)
    assert designer.send("PATCH", "world/rule-books/srd", change)[0] == 403
    assert designer.send("DELETE", "world/rule-books/house")[1]["code"] == "referenced"
    assert designer.send("DELETE", "world/rule-books/house?with_rules=true")[0] == 204
    assert designer.get("world/rules/house/rope")[0] == 404


def test_kinds_of_the_world_are_made_changed_and_deleted(designer: ApiClient, world: World) -> None:
    status, kind = designer.post("world/kinds", {"name": "Ship", "template": "## Crew"})
    assert (status, kind["kind_id"]) == (201, "ship")
    assert designer.post("world/kinds", {"name": "ship"})[0] == 409
    icon = designer.send("PATCH", "world/kinds/ship", {"icon": "⚓"})[1]
    assert (icon["icon"], icon["template"]) == ("⚓", "## Crew")
    designer.put("world/lore", {**LORE, "kind": "custom", "custom_kind": "ship"})
    assert designer.send("DELETE", "world/kinds/ship?entries_become=place")[0] == 204
    assert Lore.objects.get().kind == "place"
    assert designer.get("world/kinds")[1]["kinds"] == []


def test_an_older_version_of_an_entry_comes_back(designer: ApiClient) -> None:
    designer.put("world/lore", LORE)
    designer.put("world/lore", {**LORE, "body": "A ruin."})
    versions = designer.get("world/lore/tin-heron/versions")[1]["versions"]
    assert [each["version"] for each in versions] == [2, 1]
    path = f"world/lore/tin-heron/versions/{versions[1]['version_id']}/restore"
    assert designer.send("POST", path, **{"If-Match": '"1"'})[0] == 412
    assert designer.post(path)[1]["body"] == "An inn."
    assert designer.post("world/lore/tin-heron/versions/999999/restore")[0] == 404


def test_an_older_version_of_an_npc_comes_back(designer: ApiClient) -> None:
    designer.put("world/npcs", {"npc_id": "ada", "name": "Ada", "role": "Pilot"})
    designer.put("world/npcs", {"npc_id": "ada", "name": "Ada", "role": "Smuggler"})
    first = designer.get("world/npcs/ada/versions")[1]["versions"][-1]
    path = f"world/npcs/ada/versions/{first['version_id']}/restore"
    assert designer.post(path)[1]["role"] == "Pilot"


def test_comments_are_written_and_resolved(designer: ApiClient) -> None:
    designer.put("world/lore", LORE)
    status, comment = designer.post("world/lore/tin-heron/comments", {"text": "Which street?"})
    assert status == 201
    path = f"world/lore/tin-heron/comments/{comment['id']}"
    assert designer.send("PATCH", path, {"resolved": True})[1]["resolved_by"]
    (listed,) = designer.get("world/lore/tin-heron/comments")[1]["comments"]
    assert listed["resolved_at"]


def test_a_change_of_many_entries_by_people_is_undone(
    designer: ApiClient, world: World, django_user_model: Any
) -> None:
    designer.put("world/lore", LORE)
    user = django_user_model.objects.create_user("anna")
    apply_change(
        world, [Lore.objects.get().pk], BulkChangeRequest("status", status="draft"), user=user
    )
    (change,) = designer.get("world/lore-changes")[1]["changes"]
    assert (change["user"], change["entries"]) == ("anna", 1)
    path = f"world/lore-changes/{change['id']}/undo"
    assert designer.post(path)[1] == {"restored": 1, "skipped": []}
    assert Lore.objects.get().status == "published"
    assert designer.post(path)[0] == 409


def test_a_picture_is_described_placed_deleted_and_restored(designer: ApiClient) -> None:
    designer.put("world/lore", LORE)
    answer = upload(designer.client, "world/pictures", "inn.png", image_bytes(), "file")
    assert answer.status_code == 201, answer.content
    path = f"world/pictures/{answer.json()['id']}"
    assert answer["Location"] == f"/api/v1/{path}"
    old = answer["ETag"]
    assert designer.send("PATCH", path, {"alt": "The inn."}, **{"If-Match": old})[0] == 200
    assert designer.send("PATCH", path, {"alt": "Late."}, **{"If-Match": old})[0] == 412
    place = f"lore:{Lore.objects.get().pk}"
    status, use = designer.post(f"{path}/uses", {"place": place})
    assert (status, use["portrait"]) == (201, True)
    assert designer.send("DELETE", f"{path}/uses/{use['id']}")[0] == 204
    assert designer.get(f"{path}/uses")[1] == {"uses": []}
    assert designer.send("DELETE", path)[0] == 204
    assert designer.get(path)[0] == 404
    assert designer.post(f"{path}/restore")[1]["alt"] == "The inn."
    assert Picture.objects.get().deleted_at is None


def test_memories_are_listed_by_their_parts_reworded_and_restored(designer: ApiClient) -> None:
    for text, subject in (("Mira likes figs.", "Mira"), ("Orrin owns a boat.", "Orrin")):
        designer.post("memory", {"contents": [text], "subject": subject})
    (memory,) = designer.get("memory?subject=Mira")[1]["memories"]
    path = f"memory/item/{memory['id']}"
    etag = designer.client.get(f"/api/v1/{path}")["ETag"]
    change = {"text": "Mira likes dates.", "reason": "She said so."}
    assert designer.send("PATCH", path, change, **{"If-Match": '"old"'})[0] == 412
    status, new = designer.send("PATCH", path, change, **{"If-Match": etag})
    assert (status, new["text"]) == (200, "Mira likes dates.")
    assert designer.send("DELETE", f"memory/item/{new['id']}")[0] == 204
    assert designer.get("memory?subject=Mira")[1]["memories"] == []
    assert designer.post(f"memory/item/{new['id']}/restore", {})[1]["state"] == "active"
    first = designer.get("memory?limit=1&sort=created")[1]
    second = designer.get(f"memory?limit=1&sort=created&cursor={first['next_cursor']}")[1]
    texts = [first["memories"][0]["text"], second["memories"][0]["text"]]
    assert texts == ["Orrin owns a boat.", "Mira likes dates."]


def test_contradictions_are_listed_by_state(designer: ApiClient) -> None:
    nodes = [
        {"node": {"kind": kind, "name": name}}
        for kind, name in (("Character", "Ada"), ("Location", "Pier"), ("Location", "Mill"))
    ]
    places = [
        {"edge": {"src": "Ada", "relation": "LOCATED_IN", "dst": place, "since": 1}}
        for place in ("Pier", "Mill")
    ]
    status, report = designer.post("world/graph/facts", {"facts": [*nodes, *places]})
    assert status == 200, report
    (row,) = designer.get("world/graph/contradictions")[1]["contradictions"]
    path = f"world/graph/contradictions/{row['id']}"
    assert designer.get(path)[1] == row
    decision = {"how": "retract_second", "reason": "She never left."}
    assert designer.post(f"{path}/resolve", decision)[0] == 200
    assert designer.get("world/graph/contradictions")[1]["contradictions"] == []
    (decided,) = designer.get("world/graph/contradictions?state=resolved")[1]["contradictions"]
    assert (decided["how"], decided["reason"]) == ("retract_second", "She never left.")


def test_without_a_key_nothing_is_told_of_the_parameters(designer: ApiClient) -> None:
    anonymous = Client().get("/api/v1/world/lore?colour=red")
    assert anonymous.status_code == 401
    status, problem = designer.get("world/lore?colour=red")
    assert (status, problem["errors"]) == (422, [{"loc": ["colour"], "msg": "unknown parameter"}])


def test_problems_speak_of_json(designer: ApiClient) -> None:
    def says(method: str, path: str, body: Any = None) -> str:
        status, problem = designer.send(method, path, body)
        assert status == 422, problem
        return str(problem["detail"]).partition("again: ")[2]

    assert says("GET", "world/lore?limit=0") == "limit: must be at least 1."
    assert says("GET", "world/graph/facts/abc") == "fact_id: must be a UUID."
    assert says("PUT", "world/lore", [1]) == "body: must be an object."
    assert says("PUT", "world/lore", {"title": 5}) == "title: must be a string."
    assert says("GET", "world/recaps/x/y").startswith("level: must be 'scene', 'session'")
    many = {"facts": []}
    assert says("POST", "world/graph/facts", many) == "facts: must have at least 1 item."
    assert says("PUT", "world/lore", {**LORE, "title": ""}) == "title: must not be empty."
    long = {**LORE, "title": "x" * 201}
    assert says("PUT", "world/lore", long) == "title: must have at most 200 characters."


def test_what_put_creates_has_an_address(designer: ApiClient) -> None:
    party = {"name": "Gulls", "campaign_id": "first"}
    designer.post("world/campaigns", {"name": "First", "campaign_id": "first"})
    designer.post("world/parties", party)
    bodies = {
        "lore": (LORE, "tin-heron"),
        "rules": ({"rule_id": "house/rope", "title": "Rope", "body": "Pull."}, "house/rope"),
        "npcs": ({"npc_id": "ada", "name": "Ada"}, "ada"),
        "art": (
            {"image_id": "i-1", "prompt_text": "A quay.", "cdn_url": "https://a.example/1.png"},
            "i-1",
        ),
        "sessions": ({"session_id": "s-1", "party_id": "gulls"}, "s-1"),
        "scenes": ({"scene_id": "sc-1", "party_id": "gulls"}, "sc-1"),
    }
    for name, (body, ref) in bodies.items():
        for location in (f"/api/v1/world/{name}/{ref}", None):
            answer = designer.client.put(
                f"/api/v1/world/{name}", json.dumps(body), content_type="application/json"
            )
            assert answer.status_code == 200, answer.content
            assert answer.get("Location") == location
        assert designer.get(f"world/{name}/{ref}")[0] == 200


def test_a_read_answers_with_the_fields_that_were_asked_for(designer: ApiClient) -> None:
    designer.put("world/lore", LORE)
    assert designer.get("world/lore?fields=slug,title")[1] == {
        "lore": [{"slug": "tin-heron", "title": "Tin Heron"}],
        "next_cursor": None,
    }
    assert designer.get("world/lore/tin-heron?fields=body")[1] == {"body": "An inn."}
    status, problem = designer.get("world/lore?fields=slug,colour")
    assert (status, problem["errors"]) == (422, [{"loc": ["fields"], "msg": "unknown field"}])
    assert {"slug", "title"} <= set(problem["candidates"])
    assert Client().get("/api/v1/world/lore?fields=colour").status_code == 401
    assert designer.send("PUT", "world/lore?fields=id", LORE)[0] == 422
    assert designer.get("memory/core/versions?fields=number")[0] == 200


def test_what_offers_fields_declares_it() -> None:
    for path, methods in api_document()["paths"].items():
        if "get" in methods:
            offers = fields_of_operation(methods["get"]["operationId"])
            named = {each.get("$ref", "") for each in methods["get"]["parameters"]}
            assert ("#/components/parameters/Fields" in named) == offers, path


def fields_of_operation(name: str) -> bool:
    operations = (
        operation
        for _prefix, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
    )
    return any(each.operation_id == name and fields_to_choose(each) for each in operations)


@pytest.mark.parametrize("path", ["world/pictures", "world/imports"])
def test_a_form_without_its_boundary_is_unreadable(designer: ApiClient, path: str) -> None:
    answer = designer.client.generic(
        "POST", f"/api/v1/{path}", b"--x", content_type="multipart/form-data"
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
