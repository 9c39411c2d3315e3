"""Every object of the demo world, opened in its admin form and saved as it is, stays as it is."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.admin.sites import all_sites
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from art.models import ArtCard
from episodes.models import Arc, Session
from knowledge.entry_store import save_entry
from knowledge.glossary_term import GlossaryTerm
from knowledge.graph.models import GraphNode
from knowledge.models import Document, Lore, Rule
from knowledge.proposals import propose
from knowledge.schemas import LoreIn, ProposalIn
from npcs.models import NPC
from tests.conftest import ApiClient
from tests.memory_site.demo.browser_form import BrowserForm
from worlds.characters import set_members
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db
AWKWARD = ["Bread, salt, and rope", "A line\nand another", "трапеза", " spaces ", 'a "quote" <b>']
NOT_COMPARED = (BrowserSession, LogEntry)
SAMPLE = 6
"""Forms of one model that are submitted: all people, and of longer lists evenly spread rows."""


def test_every_object_saved_as_it_is_stays_as_it_is(demo: World, admin_client: Client) -> None:
    fill_empty_models(demo)
    before = stored_rows()
    submitted: set[type[Model]] = set()
    failures = []
    for site in all_sites:
        for model in filter(site.is_registered, apps.get_models()):
            for row in sample_of(model):
                outcome = submit_unchanged(admin_client, site.name, row)
                submitted |= {model} if outcome == "saved" else set()
                if outcome not in ("saved", "read-only"):
                    failures.append(outcome)
    assert failures == []
    after = stored_rows()
    assert [
        f"{label} {text}" for label in before for text in differences(before[label], after[label])
    ] == []
    # The forms of libraries log a save without a change; ours do not.
    log = LogEntry.objects.exclude(content_type__app_label="axes")
    assert list(log.values_list("content_type__model", "change_message")) == []
    # The test would be empty if these forms were not among the submitted ones.
    assert submitted >= {NPC, Lore, Rule, GraphNode, Party, ArtCard, World}
    assert submitted >= {GlossaryTerm, Session, User}


def sample_of(model: type[Model]) -> list[Model]:
    rows = list(model._default_manager.order_by("pk"))
    return rows[:: max(1, -(-len(rows) // SAMPLE))]


def submit_unchanged(client: Client, site: str, row: Model) -> str:
    """Open the change form of `row` and save it; return `saved`, `read-only` or what is wrong."""
    meta = row._meta
    url = reverse(f"{site}:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    page = client.get(url)
    if page.status_code != 200:
        return f"{meta.label} {row.pk}: {page.status_code}"
    text = page.content.decode()
    form = BrowserForm(text, f"{meta.model_name}_form")
    if not form.is_found or not page.context["has_change_permission"]:
        return "read-only"
    answer = client.post(url, {**form.fields, "_save": "Save"})
    if answer.status_code != 302:
        errors = answer.context["errors"] if answer.context else answer.status_code
        return f"{meta.label} {row.pk}: {errors}"
    return "saved"


def stored_rows() -> dict[str, dict[Any, dict[str, Any]]]:
    """Every row of every table of the site: history, passages and the admin's log as well."""
    models = [model for model in apps.get_models() if model not in NOT_COMPARED]
    return {
        model._meta.label: {
            row["pk"]: row for row in model._base_manager.values("pk", *columns(model))
        }
        for model in models
        if model._meta.managed
    }


def columns(model: type[Model]) -> list[str]:
    names = [field.attname for field in model._meta.concrete_fields]
    return [name for name in names if name not in ("embedding", "search_vector", "last_login")]


def differences(before: dict[Any, Any], after: dict[Any, Any]) -> list[str]:
    changed = [
        f"{pk} {name}: {row[name]!r:.80} became {after.get(pk, {}).get(name)!r:.80}"
        for pk, row in before.items()
        for name in row
        if pk not in after or after[pk][name] != row[name]
    ]
    return [*changed, *(f"new: {after[pk]!r:.120}" for pk in after.keys() - before.keys())]


def fill_empty_models(world: World) -> None:
    """Write rows of the models that the demo world leaves empty, with awkward values."""
    campaign = world.campaigns.get()
    player = User.objects.create_user("ola", email="ola@example.org", first_name="Ola ")
    Membership.objects.create(user=player, world=world, role="player", party=Party.objects.first())
    Arc.objects.create(campaign=campaign, external_id="arc-1", title="The Ferry")
    ApiClient(world, scopes=["world:write", "tools:read"], name="engine")
    propose(world, ProposalIn(entry=LoreIn(title="The Tenth Boat", body="Gone.", tags=AWKWARD)))
    system = world.system
    assert system
    GlossaryTerm.objects.create(system=system, term="Rope", language="ru", names=AWKWARD)
    document = Document.objects.create(system=system, world=world, slug="house", title="House")
    rule = Rule(
        world=world, document=document, key="house/rope", title="Rope", body="Pull.\r\nHard. \n"
    )
    rule.aliases, rule.breadcrumb, rule.data = AWKWARD, AWKWARD, {"b": [1, {"a": "х"}], "a": 1.5}
    save_entry(rule)
    lore = Lore(
        world=world, slug="knot", title="The Knot", body="\nA knot.\r\n\r\nTwo. ", tags=AWKWARD
    )
    lore.aliases = AWKWARD
    save_entry(lore)
    for party in Party.objects.all():
        # Names of characters: one line, without spaces around.
        set_members(party, [name.strip() for name in AWKWARD if "\n" not in name])
    NPC.objects.update(play_now=AWKWARD, milestones=[{"text": "Х, у", "at": 1.0, "label": None}])
    GraphNode.objects.update(aliases=AWKWARD)
    ArtCard.objects.update(visual_tags=AWKWARD)
