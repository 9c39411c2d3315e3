"""Roles carry their rights: nobody picks permissions."""

import pytest
from django.contrib.admin import site
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse

from npcs.models import NPC
from tests import cast
from tests.admin_forms import save_form
from worlds import keys
from worlds.admin_scoping import WorldScoped
from worlds.models import ApiKey, Campaign, Membership, Party, World
from worlds.roles import SHARED_MODELS, Role, permissions_of_role


def member(name: str, world: World | None, role: str, **fields: object) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, world=world, role=role, **fields)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def elsewhere(db: None) -> World:
    return World.objects.create(slug="elsewhere", name="Elsewhere")


@pytest.fixture
def designer(world: World) -> Client:
    return member("dana", world, Role.DESIGNER)


@pytest.fixture
def operator(world: World) -> Client:
    return member("olga", None, Role.OPERATOR)


@pytest.mark.parametrize("role", [Role.DESIGNER, Role.GM])
def test_a_role_opens_the_admin_without_staff_or_permissions(world: World, role: str) -> None:
    client = member("dana", world, role)
    for address in ("admin:index", "admin:npcs_npc_changelist", "admin:knowledge_lore_add"):
        assert client.get(reverse(address)).status_code == 200, address


def test_a_player_gets_a_page_that_says_who_may_administer(lanternbearers: Party) -> None:
    client = member("pat", lanternbearers.world, Role.PLAYER, party=lanternbearers)
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "designers and operators" in answer.content.decode()


def test_the_admin_uses_the_login_of_the_site(client: Client, db: None) -> None:
    answer = client.get("/admin/npcs/npc/", follow=True)
    assert answer.redirect_chain[-1][0] == "/login/?next=/admin/npcs/npc/"


def test_a_designer_sees_and_changes_nothing_of_another_world(
    designer: Client, mira: NPC, elsewhere: World
) -> None:
    stranger = cast.create_npc(elsewhere, slug="stranger", name="A Stranger")
    page = designer.get("/admin/npcs/npc/").content.decode()
    assert "Mira Voss" in page
    assert "A Stranger" not in page
    assert designer.get(f"/admin/npcs/npc/{stranger.pk}/change/").status_code == 302


def test_filters_offer_only_own_worlds_and_their_rows(
    designer: Client, campaign: Campaign, elsewhere: World
) -> None:
    Membership.objects.create(
        user=User.objects.get(username="dana"),
        world=World.objects.create(slug="second", name="Second Shore"),
        role=Role.GM,
    )
    Campaign.objects.create(world=elsewhere, slug="hidden", name="Hidden Campaign")
    page = designer.get("/admin/worlds/party/").content.decode()
    assert "Second Shore" in page
    assert "Elsewhere" not in page
    assert "Hidden Campaign" not in page


def test_a_row_of_a_designer_belongs_to_a_world(designer: Client, world: World) -> None:
    """A rule without a world would be every world's."""
    form = {"title": "Everywhere", "key": "everywhere", "body": "x", "language": "en"}
    page = designer.post("/admin/knowledge/rule/add/", {**form, "world": ""})
    assert "world" in page.context["adminform"].form.errors


def test_an_operator_administers_users_and_keys_but_reads_no_world(
    operator: Client, world: World, mira: NPC
) -> None:
    key, _text = keys.create_key(world, name="engine")
    for path in ("auth/user/", "worlds/apikey/", "worlds/membership/", "worlds/invitation/"):
        assert operator.get(f"/admin/{path}").status_code == 200, path
    for path in ("npcs/npc/", "knowledge/lore/", "episodes/episode/", "worlds/auditedcall/"):
        assert operator.get(f"/admin/{path}").status_code == 403, path
    assert operator.get("/w/ferrymark/").status_code == 404
    assert operator.get(f"/admin/worlds/apikey/{key.pk}/change/").status_code == 200


@pytest.mark.parametrize(("role", "is_made"), [(Role.DESIGNER, True), (Role.GM, False)])
def test_in_the_admin_designers_alone_make_a_key_that_administers_a_world(
    world: World, role: str, is_made: bool
) -> None:
    client = member("gil", world, role)
    form = {
        "name": "engine",
        "world": str(world.pk),
        "scopes": ["admin"],
        "audience": "gm",
        "calls_per_minute": 60,
    }
    client.post("/admin/worlds/apikey/add/", form)
    assert ApiKey.objects.exists() == is_made


def test_a_designer_of_another_world_makes_no_such_key(world: World, elsewhere: World) -> None:
    client = member("gil", world, Role.GM)
    user = User.objects.get(username="gil")
    Membership.objects.create(user=user, world=elsewhere, role=Role.DESIGNER)
    form = {"name": "x", "world": str(world.pk), "scopes": ["admin"], "audience": "gm"}
    client.post("/admin/worlds/apikey/add/", {**form, "calls_per_minute": 60})
    assert not ApiKey.objects.exists()


def test_a_game_master_renames_a_designers_key_and_gives_it_no_more_rights(world: World) -> None:
    client = member("gil", world, Role.GM)
    key, _text = keys.create_key(world, name="engine", scopes=["admin"])
    address = f"/admin/worlds/apikey/{key.pk}/change/"
    form = {"world": str(world.pk), "scopes": ["admin"], "calls_per_minute": 60}
    save_form(client, address, {**form, "name": "renamed", "audience": "public"})
    key.refresh_from_db()
    assert key.name == "renamed"
    save_form(client, address, {**form, "name": "again", "audience": "gm"})
    key.refresh_from_db()
    assert (key.name, key.audience) == ("renamed", "public")


def test_an_operator_cannot_widen_a_key_or_make_one(operator: Client, world: World) -> None:
    key, _text = keys.create_key(world, name="engine")
    form = {"name": "renamed", "calls_per_minute": 5, "audience": "gm", "scopes": ["admin"]}
    save_form(operator, f"/admin/worlds/apikey/{key.pk}/change/", form)
    key.refresh_from_db()
    assert (key.name, key.audience, key.scopes) == ("renamed", "public", ["tools:read"])
    assert operator.get("/admin/worlds/apikey/add/").status_code == 403
    assert ApiKey.objects.count() == 1


def test_an_operator_cannot_become_a_superuser_or_change_one(
    operator: Client, admin_user: User
) -> None:
    olga = User.objects.get(username="olga")
    page = operator.get(f"/admin/auth/user/{olga.pk}/change/").content.decode()
    assert 'name="is_superuser"' not in page
    assert 'name="user_permissions"' not in page
    assert operator.post(f"/admin/auth/user/{admin_user.pk}/password/").status_code == 403
    assert operator.get(f"/admin/auth/user/{admin_user.pk}/reset-link/").status_code == 403


def test_an_operator_makes_a_link_that_sets_a_password(operator: Client, client: Client) -> None:
    pat = User.objects.create_user("pat", password="forgotten")
    page = operator.get(f"/admin/auth/user/{pat.pk}/reset-link/", follow=True).content.decode()
    link = page.split("http://testserver")[1].split("<")[0].split()[0]
    recorded = LogEntry.objects.get(object_id=str(pat.pk))
    assert (recorded.user.username, "link" in recorded.change_message) == ("olga", True)
    assert link not in recorded.change_message
    form = client.get(link, follow=True)
    done = client.post(
        form.request["PATH_INFO"],
        {"new_password1": "salt-and-oars", "new_password2": "salt-and-oars"},
    )
    assert done.status_code == 302
    pat.refresh_from_db()
    assert pat.check_password("salt-and-oars")
    assert "used already" in client.get(link, follow=True).content.decode()


@pytest.mark.parametrize("role", [Role.DESIGNER, Role.GM])
def test_what_a_role_may_change_is_scoped_to_worlds(role: str) -> None:
    """A model that a role may change, but whose admin shows every world, would leak."""
    held = permissions_of_role(role)
    unscoped = [
        model._meta.label_lower
        for model, model_admin in site._registry.items()
        if f"{model._meta.app_label}.change_{model._meta.model_name}" in held
        and not isinstance(model_admin, WorldScoped)
    ]
    assert not unscoped
    assert not {each for each in held if "delete_world" in each or each.startswith("auth.")}
    assert not any(
        f"{label.split('.')[0]}.change_{label.split('.')[1]}" in held for label in SHARED_MODELS
    )


@pytest.mark.parametrize("path", ["auth/user/", "auth/user/add/", "auth/group/", "auth/group/add/"])
def test_user_and_group_pages_have_the_fields_of_the_theme(admin_client: Client, path: str) -> None:
    page = admin_client.get(f"/admin/{path}").content.decode()
    assert "border-base-200" in page
    for model in ("auth.user", "auth.group"):
        request = RequestFactory().get("/")
        app, name = model.split(".")
        admin = next(a for m, a in site._registry.items() if m._meta.label_lower == f"{app}.{name}")
        assert type(admin).__module__ == "memory_site.admin", request
