"""The designers' admin: entries are saved with their passages, states are shown, search can be
tried as anybody.
"""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from knowledge.editing_models import LoreProposal
from knowledge.glossary_term import GlossaryTerm
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore, LorePassage, Rule
from knowledge.proposals import propose
from knowledge.schemas import LoreIn, ProposalIn
from tests.admin_forms import save_form
from worlds.models import Membership, Party, World

BACKEND = "django.contrib.auth.backends.ModelBackend"
TRY = "admin:knowledge_try_search"
Write = Callable[..., Lore]


@pytest.fixture
def ana(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("ana", password="x"), backend=BACKEND)
    return client


@pytest.fixture
def ben(db: None, world: World) -> Client:
    """A designer of another world, who may change lore."""
    user = User.objects.create_user("ben", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="knowledge"))
    other = World.objects.create(slug="saltmere", name="Saltmere")
    Membership.objects.create(user=user, world=other, role=Membership.Role.DESIGNER)
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def form_of(entry: Lore, **changes: object) -> dict[str, object]:
    fields = {
        "title": entry.title,
        "slug": entry.slug,
        "world": str(entry.world_id),
        "kind": entry.kind,
        "body": entry.body,
        "aliases": ",".join(entry.aliases),
        "tags": ",".join(entry.tags),
        "language": entry.language,
        "status": entry.status,
        "visibility": entry.visibility,
    }
    return {**fields, **changes}


def test_saving_an_entry_cuts_it_anew_and_keeps_why(ana: Client, write: Write) -> None:
    quay = write("The Quay", "Wet.")
    url = reverse("admin:knowledge_lore_change", args=[quay.pk])
    answer = save_form(
        ana, url, form_of(quay, body="Dry.\n\n:::secret\nMined.\n:::", reason="the tide turned")
    )
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert set(LorePassage.objects.values_list("text", "visibility")) == {
        ("Dry.", "public"),
        ("Mined.", "gm"),
    }
    newest = quay.history.first()
    assert (newest.history_change_reason, newest.history_user.username, newest.version) == (
        "the tide turned",
        "ana",
        2,
    )


def test_an_entry_can_be_added(ana: Client, world: World) -> None:
    quay = Lore(world=world, slug="quay", title="The Quay", body="Wet.", kind="place")
    answer = ana.post(reverse("admin:knowledge_lore_add"), form_of(quay))
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert LorePassage.objects.get().text == "Wet."
    assert Lore.objects.get().history.count() == 1


def test_the_list_shows_how_far_the_embedding_is(ana: Client, write: Write) -> None:
    quay = write("The Quay", "Wet.")
    page = ana.get(reverse("admin:knowledge_lore_changelist")).content.decode()
    assert "0/1" in page
    LorePassage.objects.filter(lore=quay).update(embedded_rev=9)
    assert "1/1" in ana.get(reverse("admin:knowledge_lore_changelist")).content.decode()
    assert (
        ana.get(reverse("admin:knowledge_lore_changelist"), {"embedding": "waiting"})
        .context["cl"]
        .result_count
        == 0
    )


def test_embed_again_makes_the_passages_stale(ana: Client, write: Write) -> None:
    quay = write("The Quay", "Wet.")
    LorePassage.objects.update(embedded_rev=9, embed_error="down", embed_tries=8)
    chosen = {"action": "embed_again", "_selected_action": [str(quay.pk)]}
    ana.post(reverse("admin:knowledge_lore_changelist"), chosen)
    assert LorePassage.objects.values_list("embedded_rev", "embed_error", "embed_tries").get() == (
        0,
        "",
        0,
    )


def test_publishing_reaches_the_passages(ana: Client, write: Write) -> None:
    quay = write("The Quay", "Wet.", status="draft")
    ana.post(
        reverse("admin:knowledge_lore_changelist"),
        {"action": "publish", "_selected_action": [str(quay.pk)]},
    )
    assert LorePassage.objects.only_published().exists()


def test_proposals_are_accepted_and_rejected(ana: Client, world: World) -> None:
    for title in ("The Tenth Boat", "The Eleventh Boat"):
        propose(world, ProposalIn(entry=LoreIn(title=title, body="Gone.")))
    eleventh, tenth = sorted(LoreProposal.objects.all(), key=str)
    url = reverse("admin:knowledge_loreproposal_changelist")
    ana.post(url, {"action": "accept_them", "_selected_action": [str(tenth.pk)]})
    ana.post(url, {"action": "reject_them", "_selected_action": [str(eleventh.pk)]})
    assert Lore.objects.get().title == "The Tenth Boat"
    assert set(LoreProposal.objects.values_list("state", "decided_by")) == {
        ("accepted", "ana"),
        ("rejected", "ana"),
    }


@pytest.mark.parametrize("model", [Rule, GlossaryTerm, LoreProposal, Lore])
def test_every_list_and_form_opens(
    ana: Client, rules: dict[str, Rule], write: Write, model: type
) -> None:
    write("The Quay", "Wet.")
    name = f"admin:knowledge_{model._meta.model_name}"  # type: ignore[attr-defined]
    assert ana.get(reverse(f"{name}_changelist"), {"q": "wet"}).status_code == 200
    if row := model.objects.first():  # type: ignore[attr-defined]
        assert ana.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200


class TestTrying:
    def test_it_shows_each_leg_and_both_together(self, ana: Client, rules: dict[str, Rule]) -> None:
        page = ana.get(reverse(TRY), {"q": "grappled creature", "domain": "rules"}).content.decode()
        assert "srd-5.1/conditions/grappled" in page
        assert "Keyword search" in page
        assert "Vector search" in page

    def test_an_audience_sees_its_own_answer(
        self, ana: Client, write: Write, lanternbearers: Party
    ) -> None:
        write("Mira Voss", "Clerk.\n\n:::secret party:lanternbearers\nShe forged page nine.\n:::")
        question = {"q": "forged page nine", "domain": "lore", "world": "ferrymark"}

        def page_as(audience: str) -> str:
            return ana.get(reverse(TRY), {**question, "audience": audience}).content.decode()

        assert "She forged" in page_as("gm")
        assert "She forged" in page_as("ferrymark/party:lanternbearers")
        assert "She forged" not in page_as("public")

    def test_a_designer_tries_their_own_worlds_alone(self, ben: Client, write: Write) -> None:
        write("Mira Voss", "She forged page nine.")
        page = ben.get(
            reverse(TRY), {"q": "forged page", "domain": "lore", "world": "ferrymark"}
        ).content.decode()
        assert "She forged" not in page
        assert ben.get(reverse("admin:knowledge_lore_changelist")).context["cl"].result_count == 0

    def test_it_is_for_those_who_may_see_lore(self, db: None, client: Client) -> None:
        client.force_login(User.objects.create_user("cyd", is_staff=True), backend=BACKEND)
        assert client.get(reverse(TRY)).status_code == 403


def test_the_try_page_shows_the_leg_of_the_graph_when_it_is_asked_for(
    ana: Client, world: World, write: Write
) -> None:
    for kind, entry in (
        ("Character", write("Mira Voss", "A ledger.")),
        ("Location", write("Hall", "Wet benches.")),
    ):
        node = NodeFact(kind=kind, name=entry.title, lore_id=entry.pk)
        upsert_facts(world, [GraphFact(node=node)])
    upsert_facts(
        world, [GraphFact(edge=EdgeFact(src="Mira Voss", relation="LOCATED_IN", dst="Hall"))]
    )
    asked = {"q": "Mira Voss", "domain": "lore", "world": world.slug}
    assert [leg.key for leg in ana.get(reverse(TRY), asked).context["legs"]] == [
        "keyword",
        "vector",
    ]
    graph = ana.get(reverse(TRY), {**asked, "expand": "on"}).context["legs"][-1]
    assert (graph.key, [hit.id for hit in graph.hits]) == ("graph", ["hall"])
