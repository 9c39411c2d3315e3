"""The texts in the admin are written in the editor of the site, without a wider security policy."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from episodes.models import Episode
from knowledge.models import Document, Lore, Rule
from npcs.models import NPC
from worlds.models import Campaign, Membership, Party, World

pytestmark = pytest.mark.django_db
MODELS = ("knowledge_lore", "knowledge_rule", "npcs_npc", "episodes_episode")


def sign_in(world: World, role: str) -> Client:
    user = User.objects.create_user(f"a {role}")
    Membership.objects.create(user=user, world=world, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def rows(world: World, campaign: Campaign, lanternbearers: Party, mira: NPC) -> dict[str, Any]:
    document = Document.objects.create(
        world=world, slug="house", title="House", system=world.system
    )
    episode = Episode.objects.create(
        world=world, campaign=campaign, party=lanternbearers, external_id="e1", what="A storm."
    )
    return {
        "knowledge_lore": Lore.objects.create(world=world, slug="bell", title="The Bell"),
        "knowledge_rule": Rule.objects.create(world=world, document=document, key="h/1", title="R"),
        "npcs_npc": mira,
        "episodes_episode": episode,
    }


def edited(html: str) -> set[str]:
    areas = re.findall(r"<textarea[^>]*>", html)
    names = (re.search(r'name="(\w+)"', each) for each in areas if "data-editor" in each)
    return {name[1] for name in names if name}


@pytest.mark.parametrize(
    ("model", "fields"),
    zip(MODELS, [{"body"}, {"body"}, {"summary", "voice"}, {"what", "notes"}], strict=True),
)
def test_each_text_has_the_editor(
    world: World, rows: dict[str, Any], model: str, fields: set[str]
) -> None:
    client = sign_in(world, "designer")
    answer = client.get(reverse(f"admin:{model}_change", args=[rows[model].pk]))
    html = answer.content.decode()
    assert edited(html) == fields
    assert html.count('id="editor-frame"') == 1
    assert f"/w/{world.slug}/editor/complete/" in html
    assert "memory37/admin_editor.css" in html
    policy = answer.headers["Content-Security-Policy"]
    scripts = next(each for each in policy.split(";") if "script-src" in each)
    assert "unsafe-inline" not in scripts
    assert "nonce" not in policy, "a nonce would forbid the styles of the admin itself"


def test_a_rule_of_all_worlds_is_written_as_plain_text(world: World) -> None:
    document = Document.objects.create(slug="srd", title="SRD", system=world.system)
    rule = Rule.objects.create(document=document, key="srd/1", title="Grappled")
    client = Client()
    client.force_login(User.objects.create_superuser("ana"))
    html = client.get(reverse("admin:knowledge_rule_change", args=[rule.pk])).content.decode()
    assert 'id="editor-frame"' not in html
    assert '<textarea name="body"' in html


def test_a_new_entry_has_the_editor_of_the_only_world(world: World) -> None:
    client = sign_in(world, "designer")
    address = reverse("admin:knowledge_lore_add")
    assert f"/w/{world.slug}/editor/" in client.get(address).content.decode()
    other = World.objects.create(slug="other", name="Other")
    Membership.objects.create(user=User.objects.get(), world=other, role="gm")
    assert 'id="editor-frame"' not in client.get(address).content.decode()
