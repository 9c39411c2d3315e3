"""The admin of worlds: each sees their own, a key is shown once, and what the site writes is not
edited.
"""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client

from worlds import keys
from worlds.admin_history import VersionHistory
from worlds.models import ApiKey, Campaign, Membership, World


@pytest.fixture
def designer(world: World) -> User:
    user = User.objects.create_user("dana", password="pw", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="worlds"))
    Membership.objects.create(user=user, world=world, role=Membership.Role.DESIGNER)
    return user


@pytest.fixture
def elsewhere(world: World) -> Campaign:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    return Campaign.objects.create(world=other, slug="far", name="Far Away")


def at(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_designer_sees_only_their_worlds(
    designer: User, campaign: Campaign, elsewhere: Campaign
) -> None:
    page = at(designer).get("/admin/worlds/campaign/").content.decode()
    assert "Low Water" in page
    assert "Far Away" not in page
    assert at(designer).get(f"/admin/worlds/campaign/{elsewhere.pk}/change/").status_code == 302


def test_a_designer_cannot_put_a_row_into_another_world(
    designer: User, elsewhere: Campaign
) -> None:
    form = {"name": "Sneaky", "slug": "sneaky", "world": str(elsewhere.world_id)}
    at(designer).post("/admin/worlds/campaign/add/", form)
    assert not Campaign.objects.filter(slug="sneaky").exists()


def test_a_key_made_in_the_admin_is_shown_once_and_works(admin_user: User, world: World) -> None:
    client = at(admin_user)
    form = {
        "name": "engine",
        "world": str(world.pk),
        "scopes": ["tools:read"],
        "audience": "public",
    }
    page = client.post(
        "/admin/worlds/apikey/add/", {**form, "calls_per_minute": 60}, follow=True
    ).content.decode()
    text = re.search(r"m37_[0-9a-f]+_[\w-]+", page)
    assert text
    assert keys.verify(text[0]).name == "engine"
    assert text[0] not in client.get("/admin/worlds/apikey/").content.decode()


def test_an_audience_that_is_none_is_told_in_the_form(admin_user: User, world: World) -> None:
    form = {
        "name": "engine",
        "world": str(world.pk),
        "scopes": ["tools:read"],
        "audience": "god",
        "calls_per_minute": 1,
    }
    page = at(admin_user).post("/admin/worlds/apikey/add/", form).content.decode()
    assert "Unknown audience" in page
    assert not ApiKey.objects.exists()


def test_keys_are_revoked_by_an_action(admin_user: User, world: World) -> None:
    key, _text = keys.create_key(world, name="engine")
    at(admin_user).post(
        "/admin/worlds/apikey/", {"action": "revoke", "_selected_action": [str(key.pk)]}
    )
    key.refresh_from_db()
    assert key.revoked_at


@pytest.mark.parametrize(
    "model", ["world", "campaign", "party", "apikey", "reveal", "auditedcall", "gamesystem"]
)
def test_every_list_and_form_opens(admin_user: User, world: World, model: str) -> None:
    client = at(admin_user)
    assert client.get(f"/admin/worlds/{model}/?q=x").status_code == 200
    added = client.get(f"/admin/worlds/{model}/add/").status_code
    assert added == (403 if model in ("reveal", "auditedcall") else 200)


def test_an_admin_with_history_must_say_how_it_restores_a_version() -> None:
    class ForgetfulAdmin(VersionHistory):
        pass

    with pytest.raises(TypeError, match="restore_version"):
        ForgetfulAdmin(World, admin.site)
