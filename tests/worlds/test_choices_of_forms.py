"""No form of the admin offers, or takes, a row of another world."""

from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client, RequestFactory

from art.models import ArtCard, Picture
from episodes.models import Arc, Episode, Scene, Session
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.lore_kinds import LoreKind
from knowledge.models import Document, Lore, Rule
from memories.models import Namespace
from npcs.models import NPC
from tests.memory_site.demo.browser_form import BrowserForm
from worlds.models import Campaign, Membership, Party, World

pytestmark = pytest.mark.django_db


def fill(world: World, campaign: Campaign) -> dict[str, Any]:
    """One row of each kind that a form can refer to."""
    party = Party.objects.create(world=world, campaign=campaign, slug=f"p-{world.slug}", name="P")
    arc = Arc.objects.create(campaign=campaign, external_id="arc", title="Arc")
    session = Session.objects.create(world=world, campaign=campaign, external_id="s", title="S")
    own = {"world": world, "campaign": campaign, "party": party}
    scene = Scene.objects.create(**own, session=session, external_id="sc", title="Scene")
    episode = Episode.objects.create(**own, external_id="ep", what="Fog.", text="Fog.")
    lore = Lore(world=world, slug="quay", title="The Quay", body="Wet.")
    save_entry(lore)
    document = Document.objects.create(
        world=world, slug=f"doc-{world.slug}", title="House rules", system=world.system
    )
    rule = Rule(world=world, document=document, key="house/fog", title="Fog", body="Wait.")
    save_entry(rule)
    place = {"world": world, "kind": "Location"}
    quay = GraphNode.objects.create(**place, slug="quay", name="Quay")
    harbour = GraphNode.objects.create(**place, slug="harbour", name="Harbour")
    return {
        "world": world,
        "campaign": campaign,
        "party": party,
        "arc": arc,
        "session": session,
        "scene": scene,
        "episode": episode,
        "lore": lore,
        "document": document,
        "rule": rule,
        "lorekind": LoreKind.objects.create(world=world, slug="deity", name="Deity"),
        "npc": NPC.objects.create(world=world, slug="mira", name="Mira"),
        "graphnode": quay,
        "graphedge": GraphEdge.objects.create(
            world=world,
            src=harbour,
            relation_id="PART_OF",
            dst=quay,
            src_kind="Location",
            dst_kind="Location",
        ),
        "picture": Picture.objects.create(
            world=world, name="quay.webp", sha256=world.slug, width=1, height=1, size=1
        ),
        "artcard": ArtCard.objects.create(
            world=world, external_id="card", prompt_text="Fog.", cdn_url="https://x.example/a.webp"
        ),
        "namespace": Namespace.objects.create(world=world, name="Memory", path=world.slug),
    }


@pytest.fixture
def own(world: World, campaign: Campaign) -> dict[str, Any]:
    return fill(world, campaign)


@pytest.fixture
def foreign(world: World) -> dict[str, Any]:
    elsewhere = World.objects.create(slug="elsewhere", name="Elsewhere", system=world.system)
    return fill(elsewhere, Campaign.objects.create(world=elsewhere, slug="far", name="Far"))


@pytest.fixture
def designer(own: dict[str, Any], foreign: dict[str, Any]) -> User:
    user = User.objects.create_user("dana", is_staff=True)
    Membership.objects.create(user=user, world=own["world"], role="designer")
    return user


def choice_fields(user: User, row_of: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each field of any form or inline of the admin in which the user chooses a row."""
    request = RequestFactory().get("/")
    request.user = user
    for model, model_admin in admin.site._registry.items():
        row = row_of.get(str(model._meta.model_name))
        if not (
            model_admin.has_change_permission(request) or model_admin.has_add_permission(request)
        ):
            continue
        form = model_admin.get_form(request, row, change=row is not None)
        forms_of_page = [(model._meta.label, form, "")]
        for inline in model_admin.get_inline_instances(request, row):
            formset = inline.get_formset(request, row)
            # The field of the row above it is no choice.
            page = f"{model._meta.label}/{inline.model._meta.label}"
            forms_of_page.append((page, formset.form, formset.fk.name))
        for page, each, parent in forms_of_page:
            for name, field in each.base_fields.items():
                if isinstance(field, forms.ModelChoiceField) and name != parent:
                    yield f"{page}.{name}", field


def test_a_designer_chooses_among_the_rows_of_their_world(
    designer: User, own: dict[str, Any], foreign: dict[str, Any]
) -> None:
    checked = {}
    for name, field in choice_fields(designer, own):
        kind = str(field.queryset.model._meta.model_name)
        if kind not in foreign:
            continue
        checked[name] = kind
        assert not field.queryset.filter(pk=foreign[kind].pk).exists(), name
        assert field.queryset.filter(pk=own[kind].pk).exists(), name
    assert len(checked) >= 30, sorted(checked)
    # Whatever else a form offers belongs to no world.
    others = {
        field.queryset.model._meta.label
        for name, field in choice_fields(designer, own)
        if name not in checked
    }
    assert others <= {
        "auth.User",
        "worlds.GameSystem",
        "knowledge.GraphRelation",
        "knowledge.ConflictRule",
    }, others


def send_all_fields(client: Client, row: Model, changes: dict[str, Any]) -> Any:
    meta = row._meta
    url = f"/admin/{meta.app_label}/{meta.model_name}/{row.pk}/change/"
    page = BrowserForm(client.get(url).content.decode(), f"{meta.model_name}_form")
    return client.post(url, {**page.fields, **changes})


REFERENCES = {
    ("lore", "campaign"): "campaign",
    ("lore", "custom_kind"): "lorekind",
    ("npc", "biography"): "lore",
    ("npc", "home_lore"): "lore",
    ("session", "party"): "party",
    ("session", "arc"): "arc",
    ("scene", "session"): "session",
    ("scene", "place_lore"): "lore",
    ("party", "campaign"): "campaign",
    ("artcard", "scene"): "scene",
    ("artcard", "picture"): "picture",
    ("graphnode", "lore"): "lore",
    ("rule", "overrides"): "rule",
}


def test_nobody_refers_from_one_world_to_another(
    admin_client: Client, own: dict[str, Any], foreign: dict[str, Any]
) -> None:
    for (kind, field), target in REFERENCES.items():
        page = send_all_fields(admin_client, own[kind], {field: foreign[target].pk})
        assert page.status_code == 200, (kind, field, "was saved")
        errors = page.context["adminform"].form.errors
        assert "another world" in str(errors.get(field)), (kind, field, errors)
        own[kind].refresh_from_db()
        assert getattr(own[kind], f"{field}_id") != foreign[target].pk


def test_a_scene_below_a_session_refers_to_its_world(
    admin_client: Client, own: dict[str, Any], foreign: dict[str, Any]
) -> None:
    for party, is_saved in ((foreign["party"], False), (own["party"], True)):
        scene = {"scenes-0-party": party.pk}
        page = send_all_fields(admin_client, own["session"], scene)
        assert (page.status_code == 302) == is_saved
        assert ("another world" in page.content.decode()) != is_saved
