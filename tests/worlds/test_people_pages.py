"""Members, invitations, keys and new worlds: by clicking, without the admin."""

import os
import re
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from worlds import keys
from worlds.invitations import create_invitation
from worlds.models import ApiKey, Invitation, Membership, Party, World
from worlds.roles import Role


def signed_in(name: str, world: World | None = None, role: str = "", **fields: object) -> Client:
    user = User.objects.create_user(name, password="salt-and-oars")
    if role:
        Membership.objects.create(user=user, world=world, role=role, **fields)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def designer(world: World) -> Client:
    return signed_in("dana", world, Role.DESIGNER)


@pytest.fixture
def gm(world: World) -> Client:
    return signed_in("gil", world, Role.GM)


def invite(client: Client, role: str = "player", **form: object) -> str:
    """Create an invitation and return its address."""
    sent = {"role": role, "days": 7, "max_uses": 1, **form}
    page = client.post("/w/ferrymark/people/", sent).content.decode()
    found = re.search(r'value="http://testserver(/invitation/[^"]+)"', page)
    assert found, page
    return found[1]


GM_PAGES = ("people/", "keys/")


@pytest.mark.parametrize("path", GM_PAGES)
def test_only_game_masters_have_the_pages(
    designer: Client, lanternbearers: Party, path: str
) -> None:
    address = f"/w/ferrymark/{path}"
    pat = signed_in("pat", lanternbearers.world, Role.PLAYER, party=lanternbearers)
    assert designer.get(address).status_code == 200
    assert pat.get(address).status_code == 404
    assert pat.post(address, {"name": "x"}).status_code == 404
    assert signed_in("stranger").get(address).status_code == 404
    assert Client().get(address).headers["Location"].startswith("/login/")
    designer.post("/w/ferrymark/as/", {"as": "party:lanternbearers"})
    assert designer.get(address).status_code == 404


def test_a_link_signs_up_a_player_of_a_party(designer: Client, lanternbearers: Party) -> None:
    address = invite(designer, party=lanternbearers.pk)
    guest = Client()
    assert "Ferrymark" in guest.get(address).content.decode()
    form = {"username": "pat", "password1": "salt-and-oars", "password2": "salt-and-oars"}
    page = guest.post(address, form, follow=True)
    assert page.redirect_chain[-1][0] == "/w/ferrymark/"
    member = Membership.objects.get(user__username="pat")
    assert (member.role, member.party) == ("player", lanternbearers)


def test_a_link_for_one_works_once(designer: Client) -> None:
    address = invite(designer)
    assert signed_in("pat").post(address).status_code == 302
    late = signed_in("quinn")
    answer = late.post(address)
    assert answer.status_code == 404
    assert "Ferrymark" not in answer.content.decode()
    assert not Membership.objects.filter(user__username="quinn").exists()


def test_a_bad_password_makes_no_user_and_uses_nothing_up(designer: Client) -> None:
    address = invite(designer)
    form = {"username": "pat", "password1": "1234", "password2": "1234"}
    assert Client().post(address, form).status_code == 200
    assert not User.objects.filter(username="pat").exists()
    assert Invitation.objects.get().uses == 0


def test_a_member_stays_what_they_are(designer: Client, gm: Client) -> None:
    gm.post(invite(designer, role="player"))
    assert Membership.objects.get(user__username="gil").role == Role.GM
    assert Invitation.objects.get().uses == 0


@pytest.mark.parametrize("ended", ["expired", "revoked", "unknown"])
def test_an_ended_link_does_not_tell_whose_it_was(designer: Client, ended: str) -> None:
    address = invite(designer)
    row = Invitation.objects.get()
    if ended == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    elif ended == "revoked":
        designer.post(f"/w/ferrymark/invitations/{row.pk}/revoke/")
    else:
        address = "/invitation/nobody-made-this/"
    answer = Client().get(address)
    assert answer.status_code == 404
    assert "Ferrymark" not in answer.content.decode()


def test_the_token_is_stored_as_a_hash_and_shown_once(designer: Client) -> None:
    token = invite(designer).split("/")[2]
    assert token not in Invitation.objects.get().token_hash
    assert token not in designer.get("/w/ferrymark/people/").content.decode()


def test_a_game_master_cannot_make_designers(designer: Client, gm: Client, world: World) -> None:
    page = gm.post("/w/ferrymark/people/", {"role": "designer", "days": 7, "max_uses": 1})
    assert page.context["form"].errors["role"]
    dana = Membership.objects.get(user__username="dana")
    assert gm.post(f"/w/ferrymark/people/{dana.pk}/remove/").status_code == 403
    gil = Membership.objects.get(user__username="gil")
    gm.post(f"/w/ferrymark/people/{gil.pk}/change/", {"role": "designer"})
    gil.refresh_from_db()
    assert gil.role == Role.GM


def test_members_of_another_world_are_out_of_reach(designer: Client) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    signed_in("far", other, Role.PLAYER)
    far = Membership.objects.get(user__username="far")
    assert designer.post(f"/w/ferrymark/people/{far.pk}/remove/").status_code == 404
    invitation, _token = create_invitation(
        other, role="gm", granted_by=Role.DESIGNER, invited_by=far.user
    )
    assert designer.post(f"/w/ferrymark/invitations/{invitation.pk}/revoke/").status_code == 404


def test_the_last_designer_cannot_leave_the_world_alone(designer: Client) -> None:
    dana = Membership.objects.get(user__username="dana")
    page = designer.post(f"/w/ferrymark/people/{dana.pk}/remove/", follow=True).content.decode()
    assert "needs a designer or game master" in page
    assert Membership.objects.filter(pk=dana.pk).exists()


def test_a_member_gets_another_role_and_party(designer: Client, lanternbearers: Party) -> None:
    signed_in("pat", lanternbearers.world, Role.GM)
    pat = Membership.objects.get(user__username="pat")
    form = {"role": "player", "party": lanternbearers.pk}
    designer.post(f"/w/ferrymark/people/{pat.pk}/change/", form)
    pat.refresh_from_db()
    assert (pat.role, pat.party) == ("player", lanternbearers)


def test_a_party_is_made_with_its_campaign(designer: Client) -> None:
    form = {"name": "Гребцы", "new_campaign": "High Water"}
    designer.post("/w/ferrymark/people/party/", form)
    party = Party.objects.get()
    assert (party.name, party.campaign.slug) == ("Гребцы", "high-water")
    page = designer.post("/w/ferrymark/people/party/", {"name": "Nowhere"})
    assert page.context["party_form"].errors


def test_a_key_is_made_in_words_shown_once_and_revoked(designer: Client) -> None:
    form = {"name": "engine", "scopes": ["tools:read"], "audience": "public", "days": 30}
    page = designer.post("/w/ferrymark/keys/", form).content.decode()
    text = re.search(r"m37_[0-9a-f]+_[\w-]{20,}", page)
    assert text
    key = keys.verify(text[0])
    assert key.expires_at
    again = designer.get("/w/ferrymark/keys/").content.decode()
    assert text[0] not in again
    assert "Sees: What everybody may know" in again
    designer.post(f"/w/ferrymark/keys/{key.pk}/revoke/")
    key.refresh_from_db()
    assert key.revoked_at


def test_a_game_master_makes_no_key_that_administers_the_world(
    designer: Client, gm: Client
) -> None:
    """With such a key its holder would make themselves a designer."""
    form = {"name": "engine", "scopes": ["admin"], "audience": "gm", "days": 30}
    assert "admin" not in dict(
        gm.get("/w/ferrymark/keys/").context["form"].fields["scopes"].choices
    )
    assert gm.post("/w/ferrymark/keys/", form).context["form"].errors["scopes"]
    assert not ApiKey.objects.exists()
    designer.post("/w/ferrymark/keys/", form)
    assert ApiKey.objects.get().scopes == ["admin"]
    # A game master still sees what the key may do.
    assert "Administer" in gm.get("/w/ferrymark/keys/").content.decode()


def test_a_key_for_an_unknown_audience_is_refused_in_the_form(designer: Client) -> None:
    form = {"name": "engine", "scopes": ["tools:read"], "audience": "party:nobody", "days": 30}
    page = designer.post("/w/ferrymark/keys/", form)
    assert page.context["form"].errors["audience"]
    assert not ApiKey.objects.exists()


def test_a_designer_makes_a_world_and_leads_it(designer: Client) -> None:
    form = {"name": "Ferrymark", "language": "ko", "description": "A second shore."}
    page = designer.post("/worlds/new/", form, follow=True)
    assert page.redirect_chain[-1][0] == "/w/ferrymark-2/"
    member = Membership.objects.get(world__slug="ferrymark-2")
    assert (member.user.username, member.role) == ("dana", "designer")


@pytest.mark.parametrize("language", ["en", "ru", "ko"])
def test_a_new_world_is_written_in_the_language_of_the_site(
    designer: Client, language: str
) -> None:
    page = designer.get("/worlds/new/", headers={"Accept-Language": language})
    assert f'<option value="{language}" selected>' in page.content.decode()


def test_a_game_master_or_player_makes_no_world(gm: Client) -> None:
    assert gm.get("/worlds/new/").status_code == 403
    assert gm.post("/worlds/new/", {"name": "x", "language": "en"}).status_code == 403


def test_a_forgotten_password_is_set_by_mail(client: Client, db: None) -> None:
    User.objects.create_user("pat", "pat@example.org", "forgotten")
    client.post("/password/", {"email": "pat@example.org"})
    link = re.search(r"http://testserver(/password/\S+)", mail.outbox[0].body)
    assert link
    form = client.get(link[1], follow=True)
    new = {"new_password1": "salt-and-oars", "new_password2": "salt-and-oars"}
    client.post(form.request["PATH_INFO"], new)
    assert client.login(request=form.wsgi_request, username="pat", password="salt-and-oars")


def mail_backend_with(**environment: str) -> str:
    """Return where a site with these settings sends its mail."""
    program = "from memory_site import settings; print(settings.EMAIL_BACKEND.split('.')[-2])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "EMAIL_HOST": "", "HTTPS": "", **environment},
        cwd=site.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_links_for_passwords_are_in_no_log_of_a_site_that_others_reach() -> None:
    assert mail_backend_with() == "console"
    assert mail_backend_with(HTTPS="true") == "dummy"
    assert mail_backend_with(HTTPS="true", EMAIL_HOST="mail.example.org") == "smtp"


def test_a_site_without_a_mail_server_promises_no_mail(
    client: Client, settings: Any, db: None
) -> None:
    settings.EMAIL_HOST, settings.HTTPS = "", True
    for address in ("/password/", "/password/sent/"):
        page = client.get(address).content.decode()
        assert "Ask an operator" in page
        assert "Send the link" not in page
        assert "your mail" not in page
    settings.HTTPS = False
    assert "Send the link" in client.get("/password/").content.decode()
    assert "output of the server" in client.get("/password/sent/").content.decode()
    settings.EMAIL_HOST = "mail.example.org"
    assert "Look at your mail" in client.get("/password/sent/").content.decode()


def test_everybody_changes_their_own_password_and_name(world: World) -> None:
    pat = signed_in("pat", world, Role.PLAYER)
    form = {
        "old_password": "salt-and-oars",
        "new_password1": "tar-and-rope",
        "new_password2": "tar-and-rope",
    }
    assert pat.post("/account/password/", form).status_code == 302
    pat.post("/account/", {"first_name": "Pat of the Ferry", "email": ""})
    user = User.objects.get(username="pat")
    assert user.check_password("tar-and-rope")
    assert "Pat of the Ferry" in pat.get("/account/").content.decode()


def test_more_members_cost_no_more_queries(designer: Client, lanternbearers: Party) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            designer.get("/w/ferrymark/people/")
        return len(captured)

    few = queries()
    for number in range(20):
        signed_in(f"pat{number}", lanternbearers.world, Role.PLAYER, party=lanternbearers)
        World.objects.create(slug=f"w{number}", name=f"World {number}")
    assert queries() == few


def test_a_key_made_on_the_page_has_the_memory_of_an_agent(designer: Client) -> None:
    form = {"name": "scribe", "scopes": ["agent:write"], "audience": "public", "days": 30}
    page = designer.post("/w/ferrymark/keys/", form)
    assert page.context["form"].errors["namespace"]
    assert not ApiKey.objects.exists()
    page = designer.post("/w/ferrymark/keys/", {**form, "namespace": "scribe"})
    assert "Memory of the agent: scribe" in page.content.decode()
    assert ApiKey.objects.get().namespace == "scribe"
    # A game master's key without a name reaches the memory of NPCs.
    designer.post("/w/ferrymark/keys/", {**form, "audience": "gm"})
    assert ApiKey.objects.get(audience="gm").namespace == ""


def test_worlds_of_one_name_are_told_apart_by_their_addresses(
    designer: Client, world: World
) -> None:
    dana = User.objects.get(username="dana")
    for slug, name in (("ferrymark-copy", world.name), ("saltmere", "Saltmere")):
        other = World.objects.create(slug=slug, name=name)
        Membership.objects.create(user=dana, world=other, role=Role.DESIGNER)
    for address in ("/", "/w/ferrymark/"):
        page = designer.get(address).content.decode()
        assert "Ferrymark (ferrymark-copy)" in page
        assert "Saltmere" in page
        assert "Saltmere (" not in page
