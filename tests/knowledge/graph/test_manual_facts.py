"""Facts are versioned, never edited: a correction by hand ends the old record and writes a new
one.
"""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.postgres_store import neighbors
from knowledge.graph.protocol import View
from knowledge.graph.upsert import upsert_facts
from retrieval.errors import Conflict
from tests.admin_forms import save_form
from tests.knowledge.graph.conftest import edge, node
from worlds import reveals
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import Reveal

pytestmark = pytest.mark.django_db
PARTY = Audience.parse("party:lanternbearers")


@pytest.fixture
def designer(db):
    user = get_user_model().objects.create_superuser("designer", "d@example.org", "secret")
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def fact(world):
    """Mira is in Ferrymark: hidden, and revealed to the party."""
    upsert_facts(
        world,
        [
            node("Mira Voss"),
            node("Ferrymark", "Location"),
            node("Harrow", "Location"),
            node("Joss Vale"),
            edge("Mira Voss", "LOCATED_IN", "Ferrymark", visibility="gm", since=5),
        ],
    )
    edge_row = GraphEdge.objects.get()
    reveals.reveal(edge_row, PARTY, episode_ref="ep-1", note="They saw her.")
    return GraphEdge.objects.get()


def form_of(fact, **changes):
    form = {
        "src": fact.src_id,
        "relation": fact.relation_id,
        "dst": fact.dst_id,
        "label": fact.label,
        "since": fact.since or "",
        "until": fact.until or "",
        "confidence": fact.confidence,
        "flag": fact.flag,
        "visibility": fact.visibility,
        "source_kind": fact.source_kind,
        "source_ref": fact.source_ref,
    }
    return {**form, **changes}


def change(designer, fact, **changes):
    return save_form(
        designer, f"/admin/knowledge/graphedge/{fact.pk}/change/", form_of(fact, **changes)
    )


def where(world, audience=GM, believed_at=None):
    mira = GraphNode.objects.get(name="Mira Voss")
    neighborhood = neighbors(View(world, audience, believed_at=believed_at), mira.pk)
    return [each.name for each in neighborhood.nodes if each.id != mira.pk]


def test_an_edit_in_the_admin_ends_the_old_record_and_says_who_and_why(designer, world, fact):
    harrow = GraphNode.objects.get(name="Harrow")
    then = timezone.now()
    answer = change(designer, fact, dst=harrow.pk, reason="She lied about it.", _continue="1")
    old, new = GraphEdge.objects.get(pk=fact.pk), GraphEdge.objects.believed_now().get()
    assert (old.dst.name, new.dst.name, new.replaces) == ("Ferrymark", "Harrow", old)
    assert old.believed_until == new.believed_from
    assert (new.edited_by, new.edited_because) == ("designer", "She lied about it.")
    assert (where(world), where(world, believed_at=then)) == (["Harrow"], ["Ferrymark"])
    assert answer["location"] == f"/admin/knowledge/graphedge/{new.pk}/change/"
    assert b"She lied about it." in designer.get(answer["location"]).content


def test_the_reveal_log_follows_to_the_new_row_and_a_reveal_taken_back_closes_the_old_one_too(
    designer, world, fact
):
    then = timezone.now()
    change(designer, fact, since=6)
    new = GraphEdge.objects.believed_now().get()
    entry = Reveal.objects.get()
    assert reveals.find_subject(world, entry.subject_kind, entry.subject_id) == new
    assert (entry.note, new.visibility, new.known_to) == ("They saw her.", "revealed", [str(PARTY)])
    assert where(world, PARTY) == ["Ferrymark"]
    reveals.undo_reveal(entry)
    assert (where(world, PARTY), where(world, PARTY, believed_at=then)) == ([], [])


def test_an_edit_that_hides_a_fact_hides_what_it_replaced(designer, world, fact):
    then = timezone.now()
    assert where(world, PARTY, believed_at=then) == ["Ferrymark"]
    change(designer, fact, visibility="gm", since=6)
    assert where(world, PARTY, believed_at=then) == []
    assert where(world, GM, believed_at=then) == ["Ferrymark"]


def test_an_edit_that_opens_a_fact_does_not_open_what_it_replaced(designer, world, fact):
    then = timezone.now()
    change(designer, fact, visibility="public", since=6)
    assert (where(world, PUBLIC), where(world, PUBLIC, believed_at=then)) == (["Ferrymark"], [])


def test_saving_without_a_change_and_a_flag_alone_make_no_version(designer, fact):
    change(designer, fact, reason="Nothing.")
    change(designer, fact, flag="Look again.")
    assert GraphEdge.objects.get().flag == "Look again."


def test_the_facts_in_an_entitys_form_are_versioned_too_and_a_removed_one_stays_as_history(
    designer, world, fact
):
    mira = fact.src
    head = {
        "world": world.pk,
        "kind": mira.kind,
        "name": mira.name,
        "slug": mira.slug,
        "visibility": mira.visibility,
        "source_kind": mira.source_kind,
    }
    empty = {f"{name}-{key}_FORMS": 0 for name in ("facts_to",) for key in ("TOTAL", "INITIAL")}

    def post(fact, **changes):
        rows = {
            f"facts_from-0-{name}": value for name, value in {**form_of(fact), **changes}.items()
        }
        form = {
            **head,
            **empty,
            "facts_from-TOTAL_FORMS": 1,
            "facts_from-INITIAL_FORMS": 1,
            **rows,
            "facts_from-0-id": fact.pk,
        }
        answer = save_form(designer, f"/admin/knowledge/graphnode/{mira.pk}/change/", form)
        assert answer.status_code == 302, [
            fs.errors for fs in answer.context["inline_admin_formsets"]
        ]

    post(fact, since=7, reason="A day later.")
    new = GraphEdge.objects.believed_now().get()
    assert (new.since, new.replaces_id, new.edited_because) == (7, fact.pk, "A day later.")
    post(new, DELETE="on")
    assert not GraphEdge.objects.believed_now().exists()
    assert GraphEdge.objects.count() == 2


def test_what_rests_on_a_fact_rests_on_its_new_version_too(world, fact):
    upsert_facts(world, [edge("Joss Vale", "KNOWS", "Mira Voss", rests_on=[fact.pk])])
    fact.since = 6
    new = save_manual_fact(fact, by="ana", because="A day later.")
    assert [each.relation_id for each in new.dependants.all()] == ["KNOWS"]


def test_a_fact_is_stored_in_one_form(world, fact):
    upsert_facts(world, [node("Salt Key", "Item")])
    key, mira = GraphNode.objects.get(name="Salt Key"), fact.src
    manual_fact = save_manual_fact(
        GraphEdge(world=world, src=mira, relation_id="OWNS", dst=key), by="ana"
    )
    assert (manual_fact.src, manual_fact.relation_id, manual_fact.dst, manual_fact.edited_by) == (
        key,
        "OWNED_BY",
        mira,
        "ana",
    )


def test_two_who_edit_the_same_version_do_not_both_win(world, fact):
    mine, theirs = GraphEdge.objects.get(pk=fact.pk), GraphEdge.objects.get(pk=fact.pk)
    mine.since, theirs.since = 6, 7
    save_manual_fact(mine, by="ana")
    with pytest.raises(Conflict):
        save_manual_fact(theirs, by="ben")
