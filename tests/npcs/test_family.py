"""The family on the page of an NPC is facts of the relation graph, in both directions."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.labels import relation_label, stored_label
from knowledge.graph.models import FREE_RELATION, GraphEdge
from knowledge.graph.protocol import View
from knowledge.relation_words import KINSHIP_FIELDS, READ_FROM_TARGET
from npcs.family import family_lines, parse_family
from npcs.kinship import KINSHIP_OF_LABEL
from npcs.models import HOME_LABEL, NPC
from npcs.scene_facts import MET, WAS_AT
from npcs.schemas import NPCIn
from npcs.tools import ProfileAsk, npc_profile
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import restore_npc, upsert_npc, upsert_npcs
from tests.conftest import ApiClient
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import Party, World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")
BROTHER = ("Corin Voss", "brother of", "Mira Voss")


def write(world: World, slug: str, name: str, **fields: Any) -> NPC:
    values = {"npc_id": slug, "name": name, "visibility": "public", **fields}
    return upsert_npc(world, NPCIn.model_validate(values))[0]


def write_mira(world: World, *family: tuple[str, str], **fields: Any) -> NPC:
    lines = [{"relation": word, "npc": name} for word, name in family]
    return write(world, "mira-voss", "Mira Voss", family=lines, **fields)


@pytest.fixture
def corin(world: World) -> NPC:
    return write(world, "corin-voss", "Corin Voss", aliases=["Корин Восс"])


def facts(world: World, audience: Audience = GM) -> list[tuple[str, str, str]]:
    rows = View(world, audience).facts().values_list("src__name", "label", "dst__name")
    return sorted(rows)


def family(world: World, npc: str, audience: Audience = GM) -> list[tuple[str, str]]:
    caller = Caller.gm(world)
    if not audience.is_gm:
        caller = Caller(world=world, audience=audience)
    known = npc_profile(ProfileAsk(npc_id=npc), caller).static.family
    return [(each.relation.value, each.npc_id) for each in known]


def test_a_relative_is_a_fact_and_stands_in_both_profiles(world: World, corin: NPC) -> None:
    mira = write_mira(world, ("brother", "Корин Восс"))
    assert mira.family == [{"relation": "brother", "npc": "corin-voss"}], "the id stays"
    assert facts(world) == facts(world, PUBLIC) == [BROTHER]
    source = GraphEdge.objects.values_list("source_ref", "source_note").get()
    assert source == ("npc:mira-voss", "brother: Corin Voss")
    assert family(world, "mira-voss") == [("brother", "corin-voss")]
    assert family(world, "corin-voss") == [("sibling", "mira-voss")]
    write(world, "corin-voss", "Corin Voss", family=[{"relation": "sister", "npc": "mira-voss"}])
    assert family(world, "corin-voss") == [("sister", "mira-voss")]


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Corin Voss is the brother of Mira Voss", "true"),
        ("Mira Voss is a sibling of Corin Voss", "true"),
        ("Mira Voss is married to Corin Voss", "false"),
    ],
)
def test_lore_assert_reads_it(world: World, corin: NPC, statement: str, result: str) -> None:
    write_mira(world, ("brother", "corin-voss"))
    assert lore_assert(Assertion(fact=statement), Caller.gm(world)).result == result


def test_it_changes_and_goes_with_the_field(world: World, corin: NPC) -> None:
    mira = write_mira(world, ("brother", "corin-voss"))
    first = mira.history.latest()
    write_mira(world, ("cousin", "corin-voss"))
    assert facts(world) == [("Corin Voss", "cousin of", "Mira Voss")]
    write(world, "mira-voss", "Mira Voss", role="harbour master")
    assert len(facts(world)) == 1, "a field that is not sent stays"
    restore_npc(NPC.objects.get(pk=mira.pk), first.instance, reason="a slip")
    assert facts(world) == [BROTHER]
    write_mira(world)
    assert facts(world) == []


def test_a_relative_who_is_written_later_completes_it(world: World) -> None:
    write_mira(world, ("brother", "Corin Voss"), ("mother", "Selka"))
    assert facts(world) == []
    write(world, "corin-voss", "Corin Voss")
    assert facts(world) == [BROTHER]
    oda = write(world, "oda", "Oda")
    assert facts(world) == [BROTHER]
    write(world, oda.slug, "Oda", aliases=["Selka"])
    assert facts(world) == [BROTHER, ("Oda", "mother of", "Mira Voss")]


def test_relatives_of_one_request_name_each_other(world: World) -> None:
    values = [
        {"npc_id": "mira-voss", "name": "Mira Voss"},
        {"npc_id": "corin-voss", "name": "Corin Voss"},
    ]
    values[0] |= {"family": [{"relation": "brother", "npc": "Corin Voss"}]}  # type: ignore[dict-item]
    upsert_npcs(world, [NPCIn.model_validate(each) for each in values])
    assert facts(world) == [BROTHER]


def test_it_is_hidden_as_either_of_them(world: World, corin: NPC) -> None:
    mira = write_mira(world, ("brother", "corin-voss"), visibility="gm")
    assert facts(world, PARTY) == []
    assert family(world, "corin-voss", PARTY) == []
    entry = reveal(mira, PARTY)
    assert facts(world, PARTY) == [BROTHER]
    assert family(world, "corin-voss", PARTY) == [("sibling", "mira-voss")]
    assert family(world, "corin-voss", PUBLIC) == []
    undo_reveal(entry)
    assert facts(world, PARTY) == []
    NPC.objects.filter(pk=mira.pk).update(visibility="public")
    write(world, "corin-voss", "Corin Voss", visibility="gm")
    assert facts(world, PUBLIC) == []


def test_it_goes_to_the_trash_and_comes_back(world: World, corin: NPC) -> None:
    write_mira(world, ("brother", "corin-voss"))
    trash_npcs([corin], by="gm")
    assert facts(world) == []
    assert family(world, "mira-voss") == []
    restore_npcs([corin], by="gm")
    assert facts(world) == [BROTHER]


def test_nobody_is_of_their_own_family(world: World) -> None:
    write_mira(world, ("sister", "mira-voss"))
    assert facts(world) == []


def test_rest_refuses_unknown_words(engine: ApiClient, lanternbearers: Party) -> None:
    body = {"npc_id": "mira-voss", "name": "Mira Voss"}
    wrong = {**body, "family": [{"relation": "nemesis", "npc": "Corin"}]}
    assert engine.put("world/npcs", wrong)[0] == 422
    status, _answer = engine.put(
        "world/npcs", {**body, "family": [{"relation": "mother", "npc": "Selka"}]}
    )
    assert status == 200
    (row,) = engine.get("world/npcs")[1]["npcs"]
    assert row["family"] == [{"relation": "mother", "npc": "Selka"}]


def test_the_form_has_a_line_for_each_in_the_language_of_the_page(world: World, corin: NPC) -> None:
    mira = write_mira(world, ("brother", "corin-voss"), ("mother", "Selka"))
    assert family_lines(mira) == ["brother: Corin Voss", "mother: Selka"]
    with override("ru"):
        lines = family_lines(mira)
        assert lines == ["брат: Corin Voss", "мать: Selka"]
        assert parse_family(lines) == [
            {"relation": "brother", "npc": "Corin Voss"},
            {"relation": "mother", "npc": "Selka"},
        ]
    for line in ("Corin", "nemesis: Corin", "brother:"):
        with pytest.raises(ValidationError):
            parse_family([line])


@pytest.mark.parametrize(
    "label", [*KINSHIP_OF_LABEL, MET, WAS_AT, HOME_LABEL, *READ_FROM_TARGET, *KINSHIP_FIELDS]
)
@pytest.mark.parametrize("language", ["ru", "ko"])
def test_the_facts_that_the_program_writes_are_shown_in_the_language_of_the_page(
    label: str, language: str
) -> None:
    with override(language):
        shown = relation_label(FREE_RELATION, label)
        assert not shown.isascii()
        assert stored_label(shown.upper()) == label, "nothing else is shown in these words"
    assert relation_label(FREE_RELATION, label) == label
