"""What an answer says that it had to do without is about what the reader may know: whether hidden
texts wait for their vectors, failed, or have those of another model, changes nothing."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db.models import F
from django.test import Client

from retrieval.indexing import embed_pending
from retrieval.models import Passage
from retrieval.search import clear_vector_shares
from tests.conftest import ApiClient
from tests.memory_site.api.hidden_changes import PARTY, world_with_secrets
from worlds.audiences import Audience, resolve_audience
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db
AUDIENCES = (PARTY, "public")
QUESTIONS = [
    ("lore_search", {"query": "smell of the inn at the pier"}),
    ("lore_search", {"query": "who sells the pier"}),
    ("rules_lookup", {"term": "what does a wet rope bear"}),
    ("session_fetch", {"party_id": "lanternbearers", "query": "out of the water"}),
    ("art_suggest", {"scene_id": "pier-night"}),
]
STATES: dict[str, dict[str, Any]] = {
    "with vectors": {},
    "partly waiting": {},
    "waiting": {"embedding": None, "embedding_model": "", "embedded_rev": 0},
    "failed": {"embedding": None, "embedding_model": "", "embedded_rev": 0, "embed_tries": 8},
    "of another model": {"embedding_model": "another/model"},
}


@pytest.fixture
def gm(world: World, lanternbearers: Party, gilded_oath: Party) -> ApiClient:
    client = world_with_secrets(world)
    for number in range(6):  # more than a few hidden ones: shares and counts would show
        entry = {"title": f"Plot {number}", "body": "The spy sells the inn.", "visibility": "gm"}
        client.put("world/lore", entry)
    return client


@pytest.fixture
def member(world: World, lanternbearers: Party) -> Client:
    user = get_user_model().objects.create_user("pat")
    Membership.objects.create(user=user, world=world, role="player", party=lanternbearers)
    client = Client()
    client.force_login(user)
    return client


def passage_models() -> list[Any]:
    models = [model for model in apps.get_models() if issubclass(model, Passage)]
    return [model for model in models if hasattr(model._default_manager.all(), "visible_to")]


def set_state(world: World, audience: Audience, *, hidden: str, seen: str) -> None:
    """Give the texts that the audience may know one state of their vectors, the others another."""
    for model in passage_models():
        model.objects.update(
            embedding=None, embedding_model="", embedded_rev=0, embed_tries=0, embed_after=None
        )
        embed_pending(model)
        rows = model.objects.all()
        known = list(rows.in_world(world).visible_to(audience).values_list("pk", flat=True))
        for chosen, state in (
            (rows.filter(pk__in=known), seen),
            (rows.exclude(pk__in=known), hidden),
        ):
            if state == "partly waiting":
                half = chosen.values_list("pk", flat=True)[: chosen.count() // 2]
                chosen.filter(pk__in=list(half)).update(**STATES["waiting"])
            elif STATES[state]:
                chosen.update(**STATES[state])
        if not {hidden, seen} & {"waiting", "partly waiting"}:
            waiting = rows.filter(embedded_rev__lt=F("rev"), embed_tries=0)
            assert not waiting.exists(), model
    clear_vector_shares()


def answers(client: ApiClient) -> dict[str, Any]:
    told = {}
    for tool, ask in QUESTIONS:
        status, answer = client.post(f"tools/{tool}", ask)
        # The public may not ask about a party.
        told[f"{tool} {ask}"] = json.dumps(answer) if status == 200 else str(status)
    assert sum(each.startswith("{") for each in told.values()) >= len(QUESTIONS) - 1
    return told


@pytest.mark.parametrize("seen", STATES)
def test_hidden_texts_change_nothing_of_what_was_missing(
    world: World, gm: ApiClient, member: Client, seen: str
) -> None:
    for name in AUDIENCES:
        audience = resolve_audience(world, Audience.parse(name))
        reader = ApiClient(world, audience=name, scopes=["tools:read"], calls_per_minute=10_000)
        told = {}
        for hidden in STATES:
            set_state(world, audience, hidden=hidden, seen=seen)
            told[hidden] = answers(reader)
            if name == PARTY:
                page = member.get(f"/w/{world.slug}/search/?q=smell+of+the+inn")
                notices = page.content.decode().split('class="notice"')
                told[hidden]["page"] = [each.split("</p>")[0] for each in notices[1:]]
        for hidden in STATES:
            assert told[hidden] == told["with vectors"], (name, hidden)
        missing = json.dumps(told["with vectors"]).count('\\"degraded\\": [\\"vector')
        assert (missing > 0) == (seen != "with vectors"), "the test does see the state"
