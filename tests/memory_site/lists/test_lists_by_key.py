"""What people do with lists and drafts, by key: filters of lore, saved filters, unsaved drafts, and
what changed lately."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from knowledge.editing_models import SavedFilter
from knowledge.entry_drafts import EntryDraft
from tests.conftest import ApiClient
from worlds.models import Campaign, Membership, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(world: World) -> Any:
    user = get_user_model().objects.create_user("anna")
    Membership.objects.create(user=user, world=world, role="gm")
    return user


@pytest.fixture
def admin(world: World, anna: Any) -> ApiClient:
    return ApiClient(world, scopes=["admin"])


def write_lore(client: ApiClient) -> None:
    pier = {"title": "The Pier", "body": "Wet planks.", "visibility": "public"}
    client.put("world/lore", {**pier, "status": "published", "kind": "place"})
    client.put("world/lore", {"title": "Болото", "body": "Туман.", "language": "ru"})
    client.put("world/lore", {"title": "Guild", "body": "They know the PLANKS."})


def titles(client: ApiClient, query: str) -> list[str]:
    status, answer = client.get(f"world/lore?sort=name&{query}")
    assert status == 200, answer
    return [each["title"] for each in answer["lore"]]


def test_lore_is_listed_by_author_language_visibility_and_text(
    world: World, admin: ApiClient
) -> None:
    write_lore(admin)
    other = ApiClient(world, name="other", scopes=["admin"])
    other.put("world/lore", {"title": "Tern", "body": "A cutter."})
    assert titles(admin, "language=ru") == ["Болото"]
    assert titles(admin, "visibility=public") == ["The Pier"]
    assert titles(admin, "text=planks") == ["Guild", "The Pier"]
    assert titles(admin, "text=planks&visibility=gm") == ["Guild"]
    author = admin.get("world/lore/tern")[1]["author"]
    assert titles(admin, f"author={author}") == ["Tern"]
    for wrong in ("visibility=secret", "text=", "authors=x"):
        assert admin.get(f"world/lore?{wrong}")[0] == 422


def test_a_saved_filter_is_found_on_the_site_and_by_key(
    world: World, admin: ApiClient, anna: Any
) -> None:
    write_lore(admin)
    parts = {"kind": "place", "text": "planks", "sort": "-updated"}
    entry = {"user": "anna", "name": "Places", "filter": parts}
    status, saved = admin.post("world/saved-filters", entry)
    assert (status, saved["filter"]) == (201, parts)
    page = Client()
    page.force_login(anna)
    text = page.get(f"/w/{world.slug}/lore/").content.decode()
    assert "Places" in text
    shown = page.get(f"/w/{world.slug}/lore/?{SavedFilter.objects.get().query}").content.decode()
    assert "The Pier" in shown
    assert "Guild" not in shown
    assert admin.post("world/saved-filters", entry)[0] == 409
    path = f"world/saved-filters/{saved['id']}"
    changed = admin.send("PATCH", path, {"name": "Harbour"})[1]
    assert (changed["name"], changed["filter"]) == ("Harbour", parts)
    assert admin.send("PATCH", path, {"name": "x"}, **{"If-Match": '"stale"'})[0] == 412
    listed = admin.get("world/saved-filters?user=anna")[1]["filters"]
    assert [each["name"] for each in listed] == ["Harbour"]
    assert admin.get("world/saved-filters?user=bo")[1]["filters"] == []
    assert admin.send("DELETE", path)[0] == 204
    assert admin.get(path)[0] == 404


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"user": "nobody"}, 404),
        ({"filter": {"sort": "size"}}, 422),
        ({"filter": {"shade": "blue"}}, 422),
        ({"name": " "}, 422),
    ],
)
def test_a_filter_that_cannot_be_saved_is_refused(
    admin: ApiClient, change: dict[str, Any], status: int
) -> None:
    entry = {"user": "anna", "name": "Places", "filter": {"kind": "place"}, **change}
    assert admin.post("world/saved-filters", entry)[0] == status
    assert not SavedFilter.objects.exists()


def test_a_draft_is_kept_changed_and_deleted_for_its_author(admin: ApiClient, anna: Any) -> None:
    write_lore(admin)
    entry = {"user": "anna", "entry": "the-pier", "fields": {"body": "Dry planks."}}
    status, draft = admin.post("world/drafts", {**entry, "base_version": 1})
    assert (status, draft["entry"], draft["form"]) == (201, "the-pier", "lore")
    new = admin.post("world/drafts", {"user": "anna", "fields": {"title": "Lock"}})[1]
    assert (new["title"], new["entry"]) == ("Lock", None)
    assert {row.user for row in EntryDraft.objects.all()} == {anna}
    listed = admin.get("world/drafts?user=anna&limit=1")[1]
    assert [each["id"] for each in listed["drafts"]] == [new["id"]]
    rest = admin.get(f"world/drafts?user=anna&limit=1&cursor={listed['next_cursor']}")[1]
    assert [each["id"] for each in rest["drafts"]] == [draft["id"]]
    path = f"world/drafts/{draft['id']}"
    changed = admin.send("PATCH", path, {"fields": {"body": "Planks, dry."}})[1]
    assert (changed["id"], changed["fields"]) == (draft["id"], {"body": "Planks, dry."})
    assert admin.send("DELETE", path)[0] == 204
    assert admin.send("DELETE", path)[0] == 404
    many = {str(number): "x" for number in range(201)}
    assert admin.post("world/drafts", {"user": "anna", "fields": many})[0] == 422


def test_recent_changes_come_in_pages_without_gap_or_repetition(admin: ApiClient) -> None:
    for number in range(7):
        admin.put("world/npcs", {"npc_id": f"n-{number}", "name": f"N {number}"})
    admin.put("world/npcs", {"npc_id": "n-3", "name": "N 3", "role": "pilot"})
    admin.put("world/rules", {"rule_id": "house/rope", "title": "Rope", "body": "It breaks."})
    admin.put("world/lore", {"title": "Inn", "body": "An inn."})
    seen: list[Any] = []
    address, pages = "world/recent-changes?limit=3", 0
    while address:
        status, answer = admin.get(address)
        assert status == 200
        seen += answer["changes"]
        cursor, pages = answer["next_cursor"], pages + 1
        address = f"world/recent-changes?limit=3&cursor={cursor}" if cursor else ""
    assert sum(each["count"] for each in seen) == 10, seen
    assert [(each["kinds"], each["ref"]) for each in seen[:2]] == [
        (["lore"], "inn"),
        (["rule"], "house/rope"),
    ]
    assert seen == sorted(seen, key=lambda each: each["at"], reverse=True)
    newest = seen[1]["at"].replace("+", "%2B")
    assert len(admin.get(f"world/recent-changes?since={newest}")[1]["changes"]) == 2
    assert admin.get("world/recent-changes?cursor=none")[0] == 422
    assert admin.get("world/recent-changes?sort=at")[0] == 422


def test_lists_of_people_are_for_keys_of_administrators(
    world: World, admin: ApiClient, campaign: Campaign
) -> None:
    keys = [
        ApiClient(world, scopes=["world:write"]),
        ApiClient(world, scopes=["admin"], audience="public"),
        ApiClient(world, scopes=["admin"], campaign=campaign),
    ]
    for path in ("saved-filters", "drafts"):
        assert [key.get(f"world/{path}")[0] for key in keys] == [403, 403, 403]
    assert [key.get("world/recent-changes")[0] for key in keys] == [200, 403, 403]
