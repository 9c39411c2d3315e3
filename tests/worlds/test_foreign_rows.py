"""What another world holds stays out of reach, by whatever address of the admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from episodes.models import Scene, Session
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from tests import cast
from tests.admin_forms import save_form
from worlds.models import Campaign, Membership, Party, World
from worlds.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def elsewhere() -> World:
    return World.objects.create(slug="elsewhere", name="Elsewhere")


@pytest.fixture
def designer(world: World) -> Client:
    user = User.objects.create_user("dana")
    Membership.objects.create(user=user, world=world, role=Role.DESIGNER)
    client = Client()
    client.force_login(user)
    return client


def test_the_history_of_a_row_of_another_world_is_not_shown(
    designer: Client, elsewhere: World, world: World
) -> None:
    foreign = Lore(world=elsewhere, slug="vault", title="The Hidden Vault", body="Gold.")
    save_entry(foreign)
    npc = cast.create_npc(elsewhere, slug="stranger", name="A Stranger")
    for path, row in (("knowledge/lore", foreign), ("npcs/npc", npc)):
        answer = designer.get(f"/admin/{path}/{row.pk}/history/", follow=True)
        assert str(row) not in answer.content.decode(), path
    own = Lore(world=world, slug="quay", title="The Quay", body="Wet.")
    save_entry(own)
    assert "The Quay" in designer.get(f"/admin/knowledge/lore/{own.pk}/history/").content.decode()


def session_form(session: Session, **scene: object) -> dict[str, object]:
    form = {
        "world": session.world_id,
        "campaign": session.campaign_id,
        "number": session.number,
        "external_id": session.external_id,
        "title": session.title,
        "visibility": session.visibility,
        "language": "en",
        "scenes-TOTAL_FORMS": 1,
        "scenes-INITIAL_FORMS": 0,
        "scenes-0-position": 1,
        "scenes-0-title": "Arrival",
        "scenes-0-external_id": "arrival",
    }
    return {**form, **{f"scenes-0-{name}": value for name, value in scene.items()}}


def test_a_scene_added_to_a_session_is_of_its_world(
    designer: Client, campaign: Campaign, elsewhere: World
) -> None:
    session = Session.objects.create(
        world=campaign.world, campaign=campaign, number=1, external_id="s1", title="One"
    )
    address = f"/admin/episodes/session/{session.pk}/change/"
    hidden = Campaign.objects.create(world=elsewhere, slug="hidden", name="Hidden")
    foreign = Party.objects.create(world=elsewhere, campaign=hidden, slug="far", name="Far Party")
    page = save_form(designer, address, session_form(session, party=foreign.pk))
    assert not Scene.objects.exists()
    assert page.status_code == 200
    page = save_form(designer, address, session_form(session))
    assert page.status_code == 302, page.context["errors"]
    scene = Scene.objects.get()
    assert (scene.world, scene.campaign) == (campaign.world, campaign)


def test_a_designer_leads_a_world_that_they_make_in_the_admin(designer: Client) -> None:
    form = {"name": "Second Shore", "slug": "second", "language": "en"}
    inline = {"campaigns-TOTAL_FORMS": 0, "campaigns-INITIAL_FORMS": 0}
    page = designer.post("/admin/worlds/world/add/", {**form, **inline})
    assert page.status_code == 302, page.context["errors"]
    member = Membership.objects.get(world__slug="second")
    assert (member.user.username, member.role) == ("dana", "designer")
