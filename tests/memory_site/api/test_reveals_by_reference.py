"""A reveal names what is revealed as other operations do, and one secret by its number."""

from typing import Any

import pytest

from knowledge.models import Lore, LorePassage
from npcs.models import Secret
from tests.conftest import ApiClient
from worlds.audiences import Guarded
from worlds.models import Party

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lanternbearers")]
PARTY = "party:lanternbearers"
BODY = """An old quay.

:::secret
The first one.
:::

Ropes.

:::secret
The second one.
:::
"""
QUAY = {"title": "Old Quay", "status": "published", "visibility": "public", "body": BODY}


def reveal(engine: ApiClient, kind: str, reference: str, **more: Any) -> tuple[int, Any]:
    return engine.post("world/reveals", {"kind": kind, "id": reference, "audience": PARTY, **more})


def is_known(row: Guarded) -> bool:
    row.refresh_from_db()
    return PARTY in row.known_to


def test_a_slug_names_the_row_as_its_id_does(engine: ApiClient, lanternbearers: Party) -> None:
    engine.put("world/lore", {**QUAY, "visibility": "gm"})
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    engine.put("world/scenes", {"scene_id": "dusk", "party_id": "lanternbearers"})
    for kind, slug in (("lore", "old-quay"), ("npc", "ada"), ("scene", "dusk")):
        status, entry = reveal(engine, kind, slug)
        assert status == 201, entry
        assert reveal(engine, kind, entry["subject_id"])[1]["id"] == entry["id"]
    assert is_known(Lore.objects.get())


def test_one_secret_of_an_entry_is_revealed_by_its_number(engine: ApiClient) -> None:
    engine.put("world/lore", QUAY)
    status, entry = reveal(engine, "lore", "old-quay", secret=2)
    assert (status, entry["subject_kind"]) == (201, "lorepassage")
    first, second = LorePassage.objects.filter(secret=True).order_by("position")
    assert (is_known(first), is_known(second)) == (False, True)
    status, problem = reveal(engine, "lore", "old-quay", secret=3)
    assert (status, problem["code"]) == (404, "not_found")
    assert "2 secrets" in problem["detail"]


def test_one_secret_is_revealed_by_the_passage_of_a_hit(engine: ApiClient) -> None:
    engine.put("world/lore", QUAY)
    hits = engine.tool("lore_search", query="the second one")[1]["hits"]
    passage = next(hit["passage"] for hit in hits if "second" in hit["text"])
    assert reveal(engine, "lorepassage", passage)[0] == 201
    assert "second" in LorePassage.objects.get(known_to__contains=[PARTY]).text


def test_one_secret_of_an_npc_is_revealed_by_its_number(engine: ApiClient) -> None:
    npc = {"npc_id": "ada", "name": "Ada", "secrets": ["She sold the charts.", "She cannot swim."]}
    engine.put("world/npcs", {**npc, "visibility": "public"})
    assert reveal(engine, "npc", "ada", secret=2)[1]["subject_kind"] == "secret"
    assert Secret.objects.get(known_to__contains=[PARTY]).text == "She cannot swim."
    profile = engine.tool("npc_profile", npc_id="ada", **{"as": PARTY})[1]
    assert profile["static"]["secrets"] == ["She cannot swim."]


def test_an_unknown_kind_is_answered_with_all_kinds(engine: ApiClient) -> None:
    status, problem = reveal(engine, "hill", "old-quay")
    assert status == 404
    assert {"lore", "lorepassage", "npc", "secret", "scene"} <= set(problem["candidates"])
    assert reveal(engine, "lore", "nowhere")[0] == 404
    assert reveal(engine, "scene", "nowhere", secret=1)[0] == 404


def test_an_entry_of_the_canon_goes_before_its_variants(
    engine: ApiClient, lanternbearers: Party
) -> None:
    engine.put("world/lore", {**QUAY, "campaign": lanternbearers.campaign.slug})
    variant = reveal(engine, "lore", "old-quay")[1]["subject_id"]
    engine.put("world/lore", QUAY)
    assert reveal(engine, "lore", "old-quay")[1]["subject_id"] != variant
