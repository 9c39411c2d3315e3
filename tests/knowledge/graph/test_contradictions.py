"""Contradicting facts both stay until a person decides; facts that rest on a retracted one are
flagged."""

import pytest
from django.utils.translation import override

from knowledge.graph.contradiction_models import ConflictRule, Contradiction
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.decisions import resolve_contradiction, undo_decision
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import Provenance
from knowledge.graph.upsert import replace_source_facts, upsert_facts
from retrieval.errors import Conflict, Invalid
from tests.knowledge.graph.conftest import edge, node
from worlds.audiences import GM, PUBLIC

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(world):
    result = upsert_facts(
        world,
        [
            node("Mira Voss"),
            node("Joss Vale"),
            node("Ferrymen's Guild", "Faction"),
            node("Ferrymark", "Location"),
            node("Harrow", "Location"),
            node("Docks", "Location"),
            node("Salt Key", "Item"),
            edge("Docks", "PART_OF", "Ferrymark"),
        ],
    )
    return [fact.id for fact in result.nodes]


def write(world, *facts):
    return upsert_facts(world, facts)


def clash(world):
    """Mira in two places from day 9 on."""
    write(world, edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5))
    write(world, edge("Mira Voss", "LOCATED_IN", "Harrow", since=9))
    (found,) = open_contradictions(world)
    return found


def where(world, at=None):
    facts = (
        GraphEdge.objects.believed_now()
        .filter(src__name="Mira Voss", relation="LOCATED_IN")
        .select_related("dst")
    )
    held = [
        f
        for f in facts
        if (f.since or 0) <= (at or 1e9) and (f.until is None or f.until > (at or 1e9))
    ]
    return {fact.dst.name for fact in held}


def test_a_contradicting_write_is_stored_and_reported(world, cast):
    write(world, edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5))
    result = write(world, edge("Mira Voss", "LOCATED_IN", "Harrow", since=9))
    assert [conflict.rule for conflict in result.conflicts] == ["one-place"]
    assert [conflict.second for conflict in result.conflicts] == [result.edges[0].id]
    assert where(world) == {"Ferrymark", "Harrow"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (edge("Mira Voss", "ALLY_WITH", "Joss Vale"), edge("Joss Vale", "ENEMY_OF", "Mira Voss")),
        (edge("Salt Key", "OWNED_BY", "Mira Voss"), edge("Joss Vale", "OWNS", "Salt Key")),
    ],
)
def test_declared_rules_find_it_in_any_direction(world, cast, first, second):
    write(world, first)
    assert len(write(world, second).conflicts) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            edge("Mira Voss", "LOCATED_IN", "Harrow", until=9),
            edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=9),
        ),
        (edge("Mira Voss", "LOCATED_IN", "Docks"), edge("Mira Voss", "LOCATED_IN", "Ferrymark")),
        (
            edge("Mira Voss", "ALLY_WITH", "Joss Vale", until=3),
            edge("Mira Voss", "ENEMY_OF", "Joss Vale", since=3),
        ),
        (edge("Mira Voss", "KNOWS", "Joss Vale"), edge("Mira Voss", "ENEMY_OF", "Joss Vale")),
    ],
)
def test_compatible_facts_are_no_contradiction(world, cast, first, second):
    write(world, first)
    assert write(world, second).conflicts == []


def test_the_dead_begin_nothing_new(world, cast):
    write(world, node("Joss Vale", until=20))
    assert (
        write(world, edge("Joss Vale", "ALLY_WITH", "Ferrymen's Guild", since=10)).conflicts == []
    )
    (found,) = write(world, edge("Joss Vale", "LOCATED_IN", "Harrow", since=25)).conflicts
    assert (found.rule, found.ended) == ("dead-located", cast[1])


def test_a_death_recorded_later_finds_the_deeds_after_it(world, cast):
    write(world, edge("Joss Vale", "LOCATED_IN", "Harrow", since=25))
    assert [c.rule for c in write(world, node("Joss Vale", until=20)).conflicts] == ["dead-located"]


def test_a_succeeding_fact_is_no_contradiction(world, cast):
    write(world, edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5))
    assert (
        write(world, edge("Mira Voss", "LOCATED_IN", "Harrow", since=9, succeeds=True)).conflicts
        == []
    )
    assert (where(world, 7), where(world, 9)) == ({"Ferrymark"}, {"Harrow"})


def test_keeping_the_second_from_its_day_on(world, cast):
    resolve_contradiction(
        clash(world), how="keep_second", reason="She moved in session 2.", by="gm"
    )
    assert (where(world, 7), where(world, 9)) == ({"Ferrymark"}, {"Harrow"})
    assert not open_contradictions(world).exists()


def test_keeping_the_first_retracts_a_fact_that_began_later(world, cast):
    resolve_contradiction(clash(world), how="keep_first", reason="A rumour.", by="gm")
    assert where(world) == {"Ferrymark"}


def test_keeping_both_is_final(world, cast):
    contradiction = clash(world)
    resolve_contradiction(contradiction, how="keep_both", reason="She has a double.", by="gm")
    assert write(world, edge("Mira Voss", "LOCATED_IN", "Harrow", since=9)).conflicts == []
    contradiction.refresh_from_db()
    assert (contradiction.how, contradiction.reason, contradiction.resolved_by) == (
        "keep_both",
        "She has a double.",
        "gm",
    )
    with pytest.raises(Conflict):
        resolve_contradiction(
            contradiction, how="retract_first", reason="Changed my mind.", by="gm"
        )


def test_what_rested_on_a_retracted_fact_is_listed_and_flagged(world, cast):
    contradiction = clash(world)
    knows = (
        write(world, edge("Mira Voss", "KNOWS", "Joss Vale", rests_on=[contradiction.second_id]))
        .edges[0]
        .id
    )
    allied = (
        write(world, edge("Joss Vale", "ALLY_WITH", "Ferrymen's Guild", rests_on=[knows]))
        .edges[0]
        .id
    )
    resolution = resolve_contradiction(
        contradiction, how="retract_second", reason="A mistake in the notes.", by="gm"
    )
    assert {fact.pk for fact in resolution.flagged_facts} == {knows, allied}
    assert all(
        "mistake" in flag
        for flag in GraphEdge.objects.exclude(flag="").values_list("flag", flat=True)
    )


def test_a_decision_covers_every_source_that_said_the_same(world, cast):
    clash(world)
    write(
        world,
        edge(
            "Mira Voss", "LOCATED_IN", "Harrow", since=9, source_kind="episode", source_ref="ep-1"
        ),
    )
    assert open_contradictions(world).count() == 2
    resolve_contradiction(
        open_contradictions(world)[0], how="retract_second", reason="No.", by="gm"
    )
    assert not open_contradictions(world).exists()
    assert where(world) == {"Ferrymark"}


@pytest.mark.parametrize(("how", "reason"), [("keep_second", " "), ("burn_both", "why not")])
def test_a_decision_needs_a_known_kind_and_a_reason(world, cast, how, reason):
    with pytest.raises(Invalid):
        resolve_contradiction(clash(world), how=how, reason=reason, by="gm")


def test_replacing_a_fact_closes_its_contradiction(world, cast):
    contradiction = clash(world)
    write(world, edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5, until=9))
    contradiction.refresh_from_db()
    assert (contradiction.state, contradiction.how) == ("resolved", "gone")
    assert not open_contradictions(world).exists()


def test_a_contradiction_with_a_hidden_fact_is_shown_to_game_masters_only(world, cast):
    write(world, edge("Salt Key", "OWNED_BY", "Mira Voss"))
    write(world, edge("Salt Key", "OWNED_BY", "Joss Vale", visibility="gm"))
    assert open_contradictions(world, GM).count() == 1
    assert open_contradictions(world, PUBLIC).count() == 0


def test_a_new_version_of_a_source_retracts_what_it_no_longer_says(world, cast):
    source = Provenance(source_kind="episode", source_ref="ep-7")
    said = {"source_kind": "episode", "source_ref": "ep-7"}
    replace_source_facts(world, [edge("Mira Voss", "LOCATED_IN", "Harrow", **said)], source=source)
    write(world, edge("Mira Voss", "KNOWS", "Joss Vale"))
    replace_source_facts(
        world, [edge("Mira Voss", "ALLY_WITH", "Joss Vale", **said)], source=source
    )
    believed = set(
        GraphEdge.objects.believed_now()
        .filter(src__name="Mira Voss")
        .values_list("relation", flat=True)
    )
    assert believed == {"KNOWS", "ALLY_WITH"}


def test_a_rule_switched_off_finds_nothing(world, cast):
    rule = clash(world).rule
    Contradiction.objects.all().delete()
    type(rule).objects.filter(pk=rule.pk).update(active=False)
    assert write(world, edge("Mira Voss", "LOCATED_IN", "Docks", since=12)).conflicts == []


@pytest.mark.parametrize("how", ["keep_first", "keep_second", "keep_both", "retract_first"])
def test_a_decision_can_be_undone(world, cast, how):
    found = clash(world)
    rests = edge("Docks", "RELATES_TO", "Salt Key", label="hides", rests_on=[found.first.pk])
    write(world, rests)
    resolve_contradiction(found, how=how, reason="The log says so.", by="anna", at=8)

    undo_decision(found)

    assert where(world, at=20) == {"Ferrymark", "Harrow"}
    facts = GraphEdge.objects.believed_now().filter(relation="LOCATED_IN", src__name="Mira Voss")
    assert {fact.until for fact in facts} == {None}
    assert not GraphEdge.objects.believed_now().exclude(flag="").exists()
    (again,) = open_contradictions(world)
    assert {again.first_id, again.second_id} == {fact.pk for fact in facts}
    assert (again.how, again.reason, again.resolved_at) == ("", "", None)

    resolve_contradiction(again, how="retract_second", reason="A mix-up.", by="anna")
    assert where(world, at=20) == {"Ferrymark"}


def test_undoing_opens_what_the_decision_closed(world, cast):
    clash(world)
    write(world, edge("Mira Voss", "LOCATED_IN", "Docks", since=9))  # within Ferrymark
    first, second = open_contradictions(world)
    harrow = first.second if first.second.dst.name == "Harrow" else first.first
    side = "retract_second" if harrow == first.second else "retract_first"
    resolve_contradiction(first, how=side, reason="She never left.", by="anna")
    assert not open_contradictions(world)
    undo_decision(first)
    assert open_contradictions(world).count() == 2
    assert second.rule == first.rule


def test_an_end_that_was_removed_comes_back(world, cast):
    write(world, node("Mira Voss", until=10), edge("Mira Voss", "KNOWS", "Joss Vale", since=12))
    (found,) = open_contradictions(world)
    resolve_contradiction(found, how="retract_second", reason="She lives.", by="anna")
    assert GraphNode.objects.get(name="Mira Voss").until is None
    undo_decision(found)
    assert GraphNode.objects.get(name="Mira Voss").until == 10
    assert open_contradictions(world).count() == 1


def test_a_decision_is_undone_once_and_not_over_later_changes(world, cast):
    found = clash(world)
    with pytest.raises(Conflict, match="no decision"):
        undo_decision(found)
    resolve_contradiction(found, how="keep_second", reason="She moved.", by="anna")
    ended = GraphEdge.objects.believed_now().get(dst__name="Ferrymark", src__name="Mira Voss")
    write(world, edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5, until=7))
    assert not GraphEdge.objects.believed_now().filter(pk=ended.pk).exists()
    with pytest.raises(Conflict, match="by hand"):
        undo_decision(found)
    assert not open_contradictions(world)


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_the_rules_of_the_program_speak_the_language_of_the_page(language: str) -> None:
    rules = list(ConflictRule.objects.all())
    assert len(rules) >= 8
    with override(language):
        for rule in rules:
            assert not rule.in_words.isascii(), rule.says
    own = ConflictRule(says="Nobody leaves the island.")
    assert str(own) == "Nobody leaves the island."
