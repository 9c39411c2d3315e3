"""The first page of the admin, its sidebar and its palette: what a role has, and no more."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from knowledge.editing_models import LoreProposal
from memory_site.admin_sections import SECTIONS
from npcs.models import NPC
from tests import cast
from worlds.models import Membership, World
from worlds.roles import Role


def member(name: str, world: World | None, role: str) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, world=world, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def designer(world: World) -> Client:
    return member("dana", world, Role.DESIGNER)


def test_the_dashboard_shows_what_waits_in_the_own_worlds(designer: Client, world: World) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    for each in (world, world, other):
        LoreProposal.objects.create(world=each, entry={"title": "A rumour"}, proposed_by="engine")
    page = designer.get("/admin/").content.decode()
    assert "2 proposals" in page
    assert "/w/ferrymark/inbox/" in page
    assert "Elsewhere" not in page
    assert "Task queue" not in page


def test_an_operator_sees_health_instead_of_worlds(world: World) -> None:
    page = member("olga", None, Role.OPERATOR).get("/admin/").content.decode()
    assert "Task queue" in page
    assert "/w/ferrymark/" not in page
    assert "/admin/auth/user/" in page
    assert "/admin/npcs/npc/" not in page


def test_every_model_in_the_admin_stands_in_a_section(admin_client: Client) -> None:
    groups = admin_client.get("/admin/").context["sidebar_navigation"]
    assert [group["title"] for group in groups][1:6] == [str(title) for title, _icons in SECTIONS]
    links = [item["link"] for group in groups for item in group["items"]]
    assert len(links) == len(set(links))
    assert all(item["icon"] for group in groups for item in group["items"])


def test_every_list_and_autocomplete_has_an_order(rf: RequestFactory, admin_user: User) -> None:
    request = rf.get("/admin/")
    request.user = admin_user
    models = [model for model in apps.get_models() if admin.site.is_registered(model)]
    assert len(models) > 20
    for model in models:
        pages = admin.site.get_model_admin(model)
        assert pages.get_queryset(request).ordered, model


def test_the_palette_finds_rows_of_own_worlds_by_name(
    designer: Client, mira: NPC, world: World
) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    cast.create_npc(other, slug="mirabel", name="Mirabel of Elsewhere")
    page = designer.get("/admin/search/?extended=1&s=mira").content.decode()
    assert f"/admin/npcs/npc/{mira.pk}/change/" in page
    assert "Mirabel" not in page


def test_the_palette_finds_a_row_made_a_moment_ago(designer: Client, world: World) -> None:
    assert "Tollkeeper" not in designer.get("/admin/search/?extended=1&s=toll").content.decode()
    cast.create_npc(world, slug="tollkeeper", name="Tollkeeper")
    assert "Tollkeeper" in designer.get("/admin/search/?extended=1&s=toll").content.decode()


@pytest.mark.parametrize("query", ["s=%00", "s=", "s=x&page=many", "extended=1&s=%00x"])
def test_the_palette_survives_what_it_is_sent(designer: Client, query: str) -> None:
    assert designer.get(f"/admin/search/?{query}").status_code == 200


def test_the_palette_is_there_for_a_role_without_is_staff(designer: Client) -> None:
    assert 'id="search-input-command"' in designer.get("/admin/").content.decode()
