"""What was believed at a real time of the past: over REST, in the tool, on the pages, and for game
masters alone. And the counter of all reads."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import GraphEdge
from knowledge.graph.upsert import upsert_facts
from tests.conftest import ApiClient
from tests.knowledge.graph.conftest import edge, node
from tests.worlds.test_people_pages import signed_in
from worlds.models import World
from worlds.roles import Role

pytestmark = pytest.mark.django_db
ASSERT = {"fact": {"subject": "Mira Voss", "relation": "LOCATED_IN", "object": "Harrow"}}


@pytest.fixture
def then(world: World) -> str:
    """A moment at which Mira was believed to be in Harrow; now nothing says so."""
    cast = [
        node("Mira Voss"),
        node("Harrow", "Location"),
        edge("Mira Voss", "LOCATED_IN", "Harrow"),
    ]
    fact = GraphEdge.objects.get(pk=upsert_facts(world, cast).edges[0].id)
    moment = timezone.now()
    retract_facts([fact], because="She lied.")
    return moment.isoformat()


READS = {
    "world/graph/neighbors": {"entity": "Mira Voss"},
    "world/graph/path": {"src": "Mira Voss", "dst": "Harrow"},
    "world/graph/facts": {"entity": "Mira Voss"},
}


@pytest.mark.parametrize("path", READS)
def test_a_retracted_fact_is_read_as_of_the_time_when_it_was_believed(
    engine: ApiClient, then: str, path: str
) -> None:
    def found(**more: str) -> list[Any]:
        status, answer = engine.get(f"{path}?{urlencode({**READS[path], **more})}")
        assert status == 200, answer
        return answer.get("edges") or answer.get("facts") or []

    assert (found(), len(found(believed_at=then))) == ([], 1)


def test_an_entity_of_which_nobody_had_heard_is_not_found(engine: ApiClient, then: str) -> None:
    query = urlencode({"entity": "Mira Voss", "believed_at": "2001-01-01"})
    assert engine.get(f"world/graph/neighbors?{query}")[0] == 404
    query = urlencode({"entity": "Mira Voss", "believed_at": "yesterday"})
    assert engine.get(f"world/graph/neighbors?{query}")[0] == 422


def test_a_statement_is_checked_by_what_was_believed_then(engine: ApiClient, then: str) -> None:
    assert engine.post("tools/lore_assert", ASSERT)[1]["result"] == "unknown"
    past = engine.post("tools/lore_assert", {**ASSERT, "believed_at": then})[1]
    assert past["result"] == "true"


def test_players_are_not_told_what_was_believed_before(world: World, then: str) -> None:
    for audience in ("public", "party:lanternbearers"):
        player = ApiClient(world, audience=audience, scopes=["tools:read"])
        query = urlencode({"entity": "Mira Voss", "believed_at": then})
        assert player.get(f"world/graph/neighbors?{query}")[0] == 403
        assert player.post("tools/lore_assert", {**ASSERT, "believed_at": then})[0] == 403


def test_the_pages_show_it_to_game_masters_alone(world: World, mira: Any, then: str) -> None:
    later = timezone.localtime(timezone.now()) + timedelta(minutes=1)
    gm = signed_in("gil", world, Role.GM)
    for page, relations in (("graph/", "<tbody>"), ("npcs/mira-voss/", 'id="relations-list"')):

        def shown(moment: str) -> str:
            return gm.get(f"/w/ferrymark/{page}", {"believed_at": moment}).content.decode()  # noqa: B023

        past = shown(then)
        assert "Harrow" in past.partition(relations)[2]
        assert "This is what was believed on" in past
        assert "Harrow" not in shown(f"{later:%Y-%m-%dT%H:%M}").partition(relations)[2]
        assert "Write a date and a time" in shown("soon")


def test_players_are_not_shown_it(world: World, then: str) -> None:
    player = signed_in("pia", world, Role.PLAYER)
    page = player.get("/w/ferrymark/graph/", {"believed_at": then}).content.decode()
    assert "Harrow" not in page.partition("<tbody>")[2]
    assert "As believed on" not in page


def test_a_contradiction_tells_both_facts_in_full(engine: ApiClient, world: World) -> None:
    cast = [
        node("Mira Voss"),
        node("Harrow", "Location"),
        node("Ferrymark", "Location"),
        edge("Mira Voss", "LOCATED_IN", "Harrow", since=3, source_kind="lore", source_ref="harrow"),
    ]
    upsert_facts(world, cast)
    upsert_facts(world, [edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=5, source_note="p. 2")])
    _status, page = engine.get("world/graph/contradictions")
    (row,) = page["contradictions"]
    first, second = row["first_fact"], row["second_fact"]
    assert (first["id"], second["id"]) == (row["first"], row["second"])
    assert [(f["src_name"], f["relation"], f["dst_name"], f["since"]) for f in (first, second)] == [
        ("Mira Voss", "LOCATED_IN", "Harrow", 3),
        ("Mira Voss", "LOCATED_IN", "Ferrymark", 5),
    ]
    assert first["source"] == {"kind": "lore", "ref": "harrow", "note": ""}
    assert second["source"]["note"] == "p. 2"
    player = ApiClient(world, audience="public", scopes=["tools:read", "world:write"])
    assert player.get("world/graph/contradictions")[0] == 403


def test_a_contradiction_with_an_end_tells_the_entity(engine: ApiClient, world: World) -> None:
    cast = [
        node("Mira Voss", until=4),
        node("Harrow", "Location"),
        edge("Mira Voss", "LOCATED_IN", "Harrow", since=5),
    ]
    upsert_facts(world, cast)
    (row,) = engine.get("world/graph/contradictions")[1]["contradictions"]
    assert row["second_fact"] is None
    assert (row["ended_entity"]["name"], row["ended_entity"]["until"]) == ("Mira Voss", 4)


def test_every_read_of_the_graph_is_counted(
    engine: ApiClient,
    then: str,
    _metric_reader: InMemoryMetricReader,  # noqa: PT019
) -> None:
    def reads() -> dict[tuple[str, str, str], int]:
        data = _metric_reader.get_metrics_data()
        return {
            (str(a["store"]), str(a["operation"]), str(a["outcome"])): int(point.value)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == "memory37.graph.requests"
            for point in metric.data.data_points
            if (a := point.attributes)
        }

    before = reads()
    for path in ("world/graph/neighbors", "world/graph/path"):
        engine.get(f"{path}?{urlencode(READS[path])}")
    engine.post("tools/lore_search", {"query": "Mira Voss", "expand": True})
    engine.post("tools/lore_assert", ASSERT)
    after = reads()
    new = {key for key, count in after.items() if count > before.get(key, 0)}
    assert new == {
        ("postgres", operation, outcome)
        for operation, outcome in (
            ("neighbors", "ok"),
            ("shortest_path", "ok"),
            ("adjacent", "ok"),
            ("assert", "unknown"),
        )
    }
