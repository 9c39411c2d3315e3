"""Database constraints of the graph, which hold for every writer."""

import pytest
from django.db import IntegrityError, connection, transaction

from knowledge.graph.models import GraphEdge, GraphJoin, GraphNode, GraphRelation
from knowledge.graph.projection_models import GraphOutbox
from worlds.models import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def mira(world):
    return GraphNode.objects.create(
        world=world, kind="Character", slug="mira-voss", name="Mira Voss"
    )


@pytest.fixture
def ferrymark(world):
    return GraphNode.objects.create(
        world=world, kind="Location", slug="ferrymark", name="Ferrymark"
    )


def edge(src, relation, dst, **more):
    return GraphEdge(
        world=src.world,
        src=src,
        dst=dst,
        relation_id=relation,
        src_kind=src.kind,
        dst_kind=dst.kind,
        **more,
    )


def assert_refused(constraint):
    return pytest.raises(IntegrityError, match=constraint)


def save(fact):
    with transaction.atomic():
        fact.save()
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_the_seeded_relations_are_there():
    assert GraphRelation.objects.count() == 9
    assert GraphJoin.objects.filter(
        relation="LOCATED_IN", src_kind="Character", dst_kind="Location"
    ).exists()


def test_an_edge_between_kinds_that_may_not_be_joined_is_refused(mira, ferrymark):
    save(edge(mira, "LOCATED_IN", ferrymark))
    with assert_refused("edge_kinds_allowed"):
        save(edge(ferrymark, "LOCATED_IN", mira))
    assert GraphEdge.objects.get().src == mira


def test_an_edge_into_another_world_is_refused(mira):
    elsewhere = World.objects.create(slug="elsewhere", name="Elsewhere")
    harrow = GraphNode.objects.create(
        world=elsewhere, kind="Location", slug="harrow", name="Harrow"
    )
    with assert_refused("edge_dst_in_world"):
        save(edge(mira, "LOCATED_IN", harrow))
    assert not GraphEdge.objects.exists()


def test_an_edge_that_lies_about_its_kinds_is_refused(mira, ferrymark):
    wrong = edge(ferrymark, "LOCATED_IN", mira)
    wrong.src_kind, wrong.dst_kind = "Character", "Location"
    with assert_refused("edge_src_in_world|edge_dst_in_world"):
        save(wrong)
    assert not GraphEdge.objects.exists()


def test_a_fact_that_ends_before_it_begins_is_refused(mira, ferrymark):
    with assert_refused("graphedge_ends_after_it_begins"):
        save(edge(mira, "LOCATED_IN", ferrymark, since=20, until=10))
    assert not GraphEdge.objects.exists()


def test_an_edge_to_itself_is_refused(mira):
    with assert_refused("edge_joins_two_nodes"):
        save(edge(mira, "KNOWS", mira))
    assert not GraphEdge.objects.exists()


def test_the_same_fact_is_believed_once(mira, ferrymark):
    save(edge(mira, "LOCATED_IN", ferrymark))
    with assert_refused("edge_believed_once"):
        save(edge(mira, "LOCATED_IN", ferrymark))
    assert GraphEdge.objects.count() == 1


def test_without_a_mirror_no_outbox_row_is_written(mira, ferrymark):
    save(edge(mira, "LOCATED_IN", ferrymark))
    assert not GraphOutbox.objects.exists()
