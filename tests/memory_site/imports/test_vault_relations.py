"""A vault becomes a map of relations without typing one: what its notes state in a form."""

from pathlib import Path

import pytest

from bench.vault_relations import DATA, in_one_form, read_labels
from knowledge.entry_store import save_entry
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import View
from knowledge.models import Lore
from knowledge.relation_words import KINSHIP_FIELDS
from knowledge.schemas import LoreIn
from knowledge.text_relations import relations_in_text
from knowledge.upsert import upsert_lore
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from memory_site.imports.undo import undo
from npcs.kinship import KINSHIP_OF_LABEL
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.tools import ProfileAsk, npc_profile
from npcs.upsert import upsert_npc
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import ImportRun, Party, World

pytestmark = pytest.mark.django_db
VAULT, LABELS = DATA / "tidewater_vault", DATA / "tidewater_relations.txt"


def import_notes(world: World, folder: Path, notes: dict[str, str], **options: str) -> list[str]:
    """Import notes by path; return what the report says about them."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = import_path(world, folder, ImportOptions.model_validate(options))
    return [str(problem) for problem in report.problems]


def facts_of(world: World) -> set[tuple[str, str, str]]:
    rows = GraphEdge.objects.believed_now().filter(world=world)
    return {in_one_form(row) for row in rows.values_list("src__name", "relation", "dst__name")}


def test_twenty_notes_give_their_relations(world: World) -> None:
    import_path(world, VAULT, ImportOptions())
    found, wanted = facts_of(world), read_labels(LABELS)
    assert len(wanted) == 50
    assert len(found & wanted) / len(found) >= 0.95, found - wanted
    assert len(found & wanted) / len(wanted) >= 0.80, wanted - found


def test_a_fact_quotes_the_line_that_states_it(world: World) -> None:
    import_path(world, VAULT, ImportOptions())
    facts = GraphEdge.objects.filter(src__name="Quill", relation="PART_OF")
    notes = {(fact.source_ref, fact.source_note) for fact in facts}
    assert ("lore:quill", "Faction: [[The Lamplighters]]") in notes
    table = ("lore:the-lamplighters", "| [[Quill]] | ears, reports on [[Magistrate Orrin]] |")
    assert table in notes, "two sources that say the same are two facts"


def test_a_fact_of_a_field_quotes_its_line(world: World, tmp_path: Path) -> None:
    note = "---\nregion: '[[Kestrel Reach]]'\nallies: ['[[Mira]]', '[[Jory]]']\n---\nA town."
    notes = {"Places/Quay.md": note, "Places/Kestrel Reach.md": "Wide."}
    people = {"People/Mira.md": "A clerk.", "People/Jory.md": "A clerk."}
    import_notes(world, tmp_path, {**notes, **people})
    lines = set(GraphEdge.objects.values_list("source_note", flat=True))
    assert lines == {"region: Kestrel Reach", "allies: Mira", "allies: Jory"}


def test_what_a_secret_states_is_for_game_masters(world: World) -> None:
    import_path(world, VAULT, ImportOptions(visibility="public", status="published"))
    loves = GraphEdge.objects.get(src__name="Vess Marlow", label__iexact="lover")
    owns = GraphEdge.objects.get(dst__name="Vess Marlow", source_note__contains="**Owns:**")
    shown = set(View(world, PUBLIC).facts().values_list("pk", flat=True))
    assert (loves.visibility, loves.pk in shown) == ("gm", False)
    assert owns.pk in shown


def test_importing_again_changes_nothing_and_undoing_takes_all_away(world: World) -> None:
    import_path(world, VAULT, ImportOptions())
    before = set(GraphEdge.objects.values_list("pk", flat=True))
    again = import_path(world, VAULT, ImportOptions())
    assert set(GraphEdge.objects.values_list("pk", flat=True)) == before
    assert not [row for row in again.rows if row.kind == "relation" and row.outcome != "unchanged"]
    for run in ImportRun.objects.order_by("-created_at", "-pk"):
        undo(run)
    assert facts_of(world) == set()
    assert not GraphNode.objects.believed_now().filter(world=world).exists()


def test_a_faction_that_contains_itself_or_its_whole_is_told_of(
    world: World, tmp_path: Path
) -> None:
    notes = {
        "Factions/Ring.md": "Part of: [[Ring]]\n\nPart of: [[Circle]]",
        "Factions/Circle.md": "Part of: [[Ring]]",
        "Places/Quay.md": "Two folders, or they would name no kinds.",
    }
    problems = import_notes(world, tmp_path, notes)
    assert len(facts_of(world)) == 1
    assert [text for text in problems if "would make a cycle" in text]


def test_two_people_of_one_name_get_no_relation_by_it(world: World, tmp_path: Path) -> None:
    notes = {
        "People/Old/Mira.md": "The elder.",
        "People/New/Mira.md": "The younger.",
        "People/Jory.md": "Friend: [[Mira]]",
    }
    import_notes(world, tmp_path, notes)
    assert facts_of(world) == set()


def test_notes_that_contradict_each_other_open_a_contradiction(
    world: World, tmp_path: Path
) -> None:
    notes = {
        "People/Mira.md": "Allies: [[Jory]]",
        "People/Jory.md": "Enemies: [[Mira]]",
        "Places/Quay.md": "Two folders, or they would name no kinds.",
    }
    import_notes(world, tmp_path, notes)
    assert facts_of(world) == {("Jory", "ALLY_WITH", "Mira"), ("Jory", "ENEMY_OF", "Mira")}
    assert [row.rule_id for row in open_contradictions(world)] == ["friend-or-foe"]


def test_a_name_that_is_a_common_word_is_a_target_only_where_it_is_linked(
    world: World, tmp_path: Path
) -> None:
    notes = {
        "People/Will.md": "He will do as he must.",
        "Places/Home.md": "Location: at home, as ever.",
        "People/Jory.md": "Friends: whoever will drink.\n\nHome: [[Home]]",
    }
    import_notes(world, tmp_path, notes)
    assert facts_of(world) == {("Jory", "LOCATED_IN", "Home")}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("**Allies:** [[A]], [[B]] and [[C]]", [("allies", "A"), ("allies", "B"), ("allies", "C")]),
        ("Enemy: [[A]], whom [[B]] fears", [("enemy", "A")]),
        ("Enemy: he fears [[A]]", []),
        ("Notes: [[A]]", []),
        ("Blood debt to:: [[A]]", [("Blood debt to", "A")]),
        ("Allies: [[A]] (not [[B]])", [("allies", "A")]),
        ("## Members\n- **[[A]]**, with [[B]]\n- someone like [[C]]", [("members", "A")]),
        ("## Members\nThey met [[A]].\n## Story\n- [[B]]", []),
        ("| Ally | Since |\n|---|---|\n| [[A\\|the A]] | [[B]] |", [("ally", "A")]),
        ("```\nAllies: [[A]]\n```", []),
        ("Фракция: [[А]]\n- 소속: [[가]]", [("фракция", "А"), ("소속", "가")]),
        ("> **Leader**: [[A]]", [("leader", "A")]),
        ("## Apprentices\n- [[A]]\n## Ученики\n- [[Б]]", [("apprentices", "A"), ("ученики", "Б")]),
        ("Родители: [[А]] и [[Б]]", [("родители", "А"), ("родители", "Б")]),
        ("**Place of residence:** [[A]]", [("place of residence", "A")]),
    ],
)
def test_forms_that_state_a_relation(body: str, found: list[tuple[str, str]]) -> None:
    assert [(each.words, each.target) for each in relations_in_text(body)] == found


def test_what_is_stated_outside_a_secret_as_well_is_open() -> None:
    body = "Ally: [[A]]\n\n:::secret\nAlly: [[A]]\n\nEnemy: [[B]]\n:::\n"
    drafts = {each.target: each.private for each in relations_in_text(body)}
    assert drafts == {"A": False, "B": True}


# --- imports that are edited, published and imported again

QUAY = {"Places/Quay.md": "Wet."}
MIRA = "---\nhome: '[[Quay]]'\n---\n**Allies:** [[Jory]]\n\n%%Enemies: [[Vess]]%%"
PEOPLE = {"People/Mira.md": MIRA, "People/Jory.md": "A clerk.", "People/Vess.md": "A smuggler."}


def known_to(world: World, audience: Audience) -> set[str]:
    return set(View(world, audience).facts().values_list("relation", flat=True))


def test_published_entries_publish_what_they_state_but_for_their_secrets(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, {**QUAY, **PEOPLE})
    assert known_to(world, PUBLIC) == set()
    for entry in Lore.objects.filter(world=world):
        entry.status, entry.visibility = "published", "public"
        save_entry(entry)
    NPC.objects.filter(world=world).update(visibility="public")
    GraphNode.objects.filter(world=world).update(visibility="public")
    assert known_to(world, PUBLIC) == {"ALLY_WITH", "LOCATED_IN"}
    assert known_to(world, GM) == {"ALLY_WITH", "LOCATED_IN", "ENEMY_OF"}
    mira = Lore.objects.get(title="Mira")
    mira.visibility = "gm"
    save_entry(mira)
    assert known_to(world, PUBLIC) == set()


LABELLED = {
    "Places/Quay.md": "---\nlocation: '[[Reach]]'\n---\nWet.",
    "Places/Reach.md": "Located in: [[Realm]]",
    "Places/Realm.md": "Wide.",
    "Factions/Ring.md": "**Commander:** [[Mira]]\n\nКомандир: [[Jory]]",
    "Items/Oar.md": "It floats.",
    "People/Mira.md": "---\nпсевдонимы: [Старуха, Игла]\n---\nOwner of: [[Oar]]\n\n"
    "Место жительства: [[Quay]]\n\n## Apprentices\n- [[Jory]]",
    "People/Jory.md": "Cousin: [[Mira]]\n\nРодители: [[Ada]]\n\nСупруг: [[Ben]]\n\n"
    "Sworn to: [[Ada]]",
    "People/Ada.md": "Ученики: [[Ben]]",
    "People/Ben.md": "A clerk.",
}


def test_labels_of_three_languages_are_read(world: World, tmp_path: Path) -> None:
    import_notes(world, tmp_path, LABELLED)
    rows = GraphEdge.objects.values_list("src__name", "relation", "dst__name", "label")
    assert set(rows) == {
        ("Quay", "PART_OF", "Reach", ""),
        ("Reach", "PART_OF", "Realm", ""),
        ("Mira", "PART_OF", "Ring", "leads"),
        ("Jory", "PART_OF", "Ring", "leads"),
        ("Oar", "OWNED_BY", "Mira", ""),
        ("Mira", "LOCATED_IN", "Quay", ""),
        ("Jory", "RELATES_TO", "Mira", "apprentice of"),
        ("Mira", "RELATES_TO", "Jory", "cousin of"),
        ("Ada", "RELATES_TO", "Jory", "parent of"),
        ("Ben", "RELATES_TO", "Jory", "husband of"),
        ("Jory", "RELATES_TO", "Ada", "sworn to"),
        ("Ben", "RELATES_TO", "Ada", "apprentice of"),
    }
    assert Lore.objects.get(title="Mira").aliases == ["Старуха", "Игла"]


def test_an_edited_note_drops_what_it_stated_and_keeps_its_fields(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, {**QUAY, **PEOPLE})
    mira = Lore.objects.get(title="Mira")
    mira.body = "Friends: [[Vess]]"
    save_entry(mira)
    assert facts_of(world) == {("Mira", "LOCATED_IN", "Quay"), ("Mira", "ALLY_WITH", "Vess")}


def test_importing_a_note_without_a_line_retracts_its_fact_and_undoing_brings_it_back(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, {**QUAY, **PEOPLE})
    before = facts_of(world)
    import_notes(world, tmp_path, {"People/Mira.md": "Nothing more."})
    assert facts_of(world) == set()
    undo(ImportRun.objects.order_by("-created_at", "-pk")[0])
    assert facts_of(world) == before
    assert Lore.objects.get(title="Mira").body.startswith("**Allies:**")


def test_importing_an_edited_note_again_states_everything_once(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, {**QUAY, **PEOPLE})
    mira = Lore.objects.get(title="Mira")
    mira.body += "\n\nMentor: [[Vess]]"
    save_entry(mira)
    assert len(facts_of(world)) == 4
    note = {"People/Mira.md": MIRA + "\n\nFriend: [[Vess]]"}
    import_notes(world, tmp_path, note, existing="overwrite")
    rows = GraphEdge.objects.believed_now().values_list("relation", "source_kind")
    assert sorted(rows) == [
        ("ALLY_WITH", "import"),
        ("ALLY_WITH", "import"),
        ("ENEMY_OF", "import"),
        ("LOCATED_IN", "import"),
    ]


def test_a_fact_that_a_person_corrected_outlives_the_line(world: World, tmp_path: Path) -> None:
    import_notes(world, tmp_path, {**QUAY, **PEOPLE})
    fact = GraphEdge.objects.get(relation="ALLY_WITH")
    fact.label = "sworn to"
    save_manual_fact(fact, by="anna")
    import_notes(world, tmp_path, {"People/Mira.md": "Nothing more."})
    assert facts_of(world) == {("Jory", "ALLY_WITH", "Mira")}


TRIO = {
    "People/Wim.md": '---\nbrother: "[[Rosa]]"\n---\n**Enemies:** [[Rosa]]',
    "People/Rosa.md": "Owns:: [[Clock]]",
    "Items/Clock.md": "It ticks.",
}


def test_what_a_person_retracted_stays_so_when_the_vault_is_imported_again(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, TRIO)
    facts = list(GraphEdge.objects.believed_now().filter(world=world))
    assert len(facts) == 3
    retract_facts(facts, because="they were wrong")
    import_notes(world, tmp_path, TRIO)
    assert facts_of(world) == set()
    # A note that has changed elsewhere states its old lines no louder than before.
    import_notes(world, tmp_path, {"People/Rosa.md": "Owns:: [[Clock]]\n\nShe is tall."})
    assert facts_of(world) == set()


def test_what_a_person_corrected_stays_so_when_the_vault_is_imported_again(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, TRIO)
    brother = GraphEdge.objects.get(label="brother of")
    brother.label = "sister of"
    save_manual_fact(brother, by="anna")
    enemy = GraphEdge.objects.get(relation="ENEMY_OF")
    enemy.since = 4.0
    save_manual_fact(enemy, by="anna")
    before = set(GraphEdge.objects.believed_now().values_list("pk", "label", "since"))
    import_notes(world, tmp_path, TRIO)
    assert set(GraphEdge.objects.believed_now().values_list("pk", "label", "since")) == before


def test_a_line_or_a_field_that_comes_back_states_its_fact_again(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, TRIO)
    before = facts_of(world)
    import_notes(world, tmp_path, {"People/Wim.md": "Nobody.", "People/Rosa.md": "Nobody."})
    assert facts_of(world) == set()
    import_notes(world, tmp_path, TRIO)
    assert facts_of(world) == before


def test_a_retracted_fact_of_an_undone_import_is_written_by_the_next_one(
    world: World, tmp_path: Path
) -> None:
    import_notes(world, tmp_path, TRIO)
    before = facts_of(world)
    undo(ImportRun.objects.get())
    import_notes(world, tmp_path, TRIO)
    assert facts_of(world) == before


def test_family_of_a_vault_stands_in_the_profiles(
    world: World, tmp_path: Path, lanternbearers: Party
) -> None:
    lines = {
        "Ada Crane": 'mother: "[[Selka Crane]]"\nспутник: "[[Bo Crane]]"\nбрат: "[[Bo Crane]]"',
        "Selka Crane": 'son: "[[Bo Crane]]"\nspouse: "[[Old Wick]]"',
        "Bo Crane": '사촌: "[[Old Wick]]"',
        "Old Wick": 'parent: "[[Nobody Known]]"',
        "Harbour": 'parent: "[[Coast]]"',
        "Coast": "",
    }
    places = ("Harbour", "Coast")
    notes = {
        f"{name}.md": f"---\ntype: {'location' if name in places else 'character'}\n{text}\n---\nA."
        for name, text in lines.items()
    }
    import_notes(world, tmp_path, notes, visibility="public", status="published")
    gm = Caller(world, GM)

    def family(slug: str) -> set[tuple[str, str]]:
        profile = npc_profile(ProfileAsk(npc_id=slug), gm)
        return {(each.relation, each.npc_id) for each in profile.static.family}

    assert family("ada-crane") == {("mother", "selka-crane"), ("brother", "bo-crane")}
    assert family("selka-crane") == {
        ("child", "ada-crane"),
        ("son", "bo-crane"),
        ("spouse", "old-wick"),
    }
    assert family("bo-crane") == {
        ("parent", "selka-crane"),
        ("sibling", "ada-crane"),
        ("cousin", "old-wick"),
    }
    part = GraphEdge.objects.get(src__name="Harbour", relation="PART_OF")
    assert part.dst.name == "Coast"


def test_the_labels_of_families_are_those_of_npcs() -> None:
    assert {*KINSHIP_FIELDS} == KINSHIP_OF_LABEL.keys() - {"aunt or uncle of"}


def write_npc(world: World, name: str, **fields: str) -> NPC:
    values = {"npc_id": name.lower().replace(" ", "-"), "name": name, **fields}
    return upsert_npc(world, NPCIn.model_validate(values))[0]


def test_npcs_without_a_biography_are_targets(world: World, tmp_path: Path) -> None:
    write_npc(world, "Mira Voss")
    notes = {
        "Factions/Ring.md": '---\nleader: "[[Mira Voss]]"\n---\n## Members\n\n- [[mira voss]]',
        "Places/Quay.md": "Two folders, or they would name no kinds.",
    }
    import_notes(world, tmp_path, notes)
    facts = GraphEdge.objects.believed_now().values_list("src__name", "label", "dst__name")
    assert set(facts) == {("Mira Voss", "leads", "Ring"), ("Mira Voss", "", "Ring")}
    assert Lore.objects.get(title="Ring").extra == {}


def test_an_import_completes_npcs_and_texts_from_before_and_undoing_takes_it_back(
    world: World, tmp_path: Path
) -> None:
    mira = write_npc(world, "Mira Voss", faction="Ring", home="quay")
    upsert_lore(world, LoreIn(title="Oar", kind="item", body="Location: [[Quay]]"))
    notes = {"Factions/Ring.md": "A gang.", "Places/Quay.md": "Wet."}
    import_notes(world, tmp_path, notes)
    assert facts_of(world) == {
        ("Mira Voss", "PART_OF", "Ring"),
        ("Mira Voss", "RELATES_TO", "Quay"),
        ("Oar", "LOCATED_IN", "Quay"),
    }
    undo(ImportRun.objects.get())
    assert facts_of(world) == set()
    mira.refresh_from_db()
    assert (mira.faction_lore, mira.home_lore, mira.faction) == (None, None, "Ring")
    assert not Lore.objects.filter(title__in=["Ring", "Quay"]).exists()


def test_two_fields_that_state_one_fact_state_it_once(world: World, tmp_path: Path) -> None:
    notes = {
        "Guild.md": "---\ntype: faction\n---\nOars.",
        "Mira.md": "---\ntype: character\nis part of: '[[Guild]]'\nleads: '[[Guild]]'\n---\n",
    }
    import_notes(world, tmp_path, notes)
    facts = GraphEdge.objects.filter(world=world, source_kind="import")
    first = set(facts.values_list("pk", flat=True))
    import_notes(world, tmp_path, notes)
    assert set(facts.values_list("pk", flat=True)) == first
