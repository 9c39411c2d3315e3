"""What the answers to mistakes say: which names would do, and what a change may be."""

from typing import Any

import pytest

from npcs.models import NPC, DispositionChange
from retrieval.errors import NotFound
from tests.cast import create_npc
from tests.conftest import ApiClient
from worlds.callers import world_of
from worlds.keys import create_key
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


def record(engine: ApiClient, npc: str) -> Any:
    return engine.post(
        "world/episodes",
        {
            "summary_id": "ep-1",
            "party_id": "lanternbearers",
            "when": {"in_world_at": 1.0},
            "what": "They quarrelled.",
            "version": 1,
            "relations_delta": [{"npc": npc, "delta": -5}],
        },
    )


def test_of_two_npcs_of_one_name_the_ids_are_given(
    engine: ApiClient, world: World, lanternbearers: Party
) -> None:
    for slug in ("tam-reed", "tam-reed-2"):
        create_npc(world, slug=slug, name="Tam Reed")
    status, problem = record(engine, "Tam Reed")
    assert (status, problem["candidates"]) == (422, ["tam-reed", "tam-reed-2"])
    assert "Did you mean tam-reed, tam-reed-2?" in problem["detail"]


def test_an_unknown_faction_has_candidates(
    engine: ApiClient, world: World, lanternbearers: Party
) -> None:
    nodes = [{"node": {"kind": "Faction", "name": name}} for name in ("Ash Riders", "Reed Court")]
    assert engine.post("world/graph/facts", {"facts": nodes})[0] == 200
    body = {"party_id": "lanternbearers", "faction": "Ash Rider", "delta": 5, "reason": "Help."}
    status, problem = engine.post("world/standings", body)
    assert (status, problem["candidates"]) == (404, ["Ash Riders"])


def test_a_change_of_nothing_is_refused_in_words(
    engine: ApiClient, mira: NPC, lanternbearers: Party
) -> None:
    body = {"party_id": "lanternbearers", "delta": 0, "reason": "Nothing."}
    status, problem = engine.post("world/npcs/mira-voss/changes", body)
    assert status == 422
    assert problem["detail"] == "A change is from -200 to 200 and never 0; this one is 0."


def test_a_second_ruling_is_refused_in_words(
    engine: ApiClient, mira: NPC, lanternbearers: Party
) -> None:
    change = DispositionChange.objects.create(
        npc=mira, party=lanternbearers, kind="correction", delta=-90, reason="Fire.", held=True
    )
    path = f"world/changes/{change.pk}/rulings"
    ruling = {"verdict": "approve", "reason": "Yes."}
    assert engine.post(path, ruling)[0] == 200
    status, problem = engine.post(path, ruling)
    assert status == 409
    assert "; for this (approval) it must be “pending”" in problem["detail"]


def test_an_unknown_world_is_in_no_world(world: World) -> None:
    key, _text = create_key(None, name="engine", audience="gm", scopes=["admin"])
    with pytest.raises(NotFound) as problem:
        world_of(key, "memory37")
    assert problem.value.detail == "There is no world 'memory37'."
