"""Rules of any game: by the command for all worlds, by the import page for one; each world is
answered from the system that it plays."""

import io
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_entry
from knowledge.models import Document, Rule, RulePassage
from knowledge.schemas import RuleIn, RulesQuestion
from knowledge.tools import rules_lookup
from knowledge.upsert import upsert_rule
from memory_site import tasks
from retrieval.indexing import embed_pending
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.forms import WorldForm
from worlds.keys import create_key
from worlds.models import GameSystem, ImportRun, Membership, World

pytestmark = pytest.mark.django_db

FILLING = "The tide decides, and nobody else does. " * 40
BOOK = f"""---
title: Rules
---
# Salt and Oars
{{: .no_toc }}

<p>A game of [ferries](#ferries) and debts.</p>

## Hazards

### Undertow

Roll a d6; on a 1 you are pulled under. See [[hazards/Cold|the cold]]. {FILLING}

### Cold

You shiver. {FILLING}

## Debts

Every debt has a bell. {FILLING}
"""
VAULT = {
    "Conditions/Sea-Struck.md": "---\naliases: [Sea Struck]\n---\n## Sea Struck\n\n"
    "You cannot row. See [[Oars/Rowing|rowing]].\n",
    "Spells/Lantern-Call.md": "> [!spell] Lantern Call\n> 1st level\n> Every lantern answers.\n",
}
RULESET = {
    "datasworn_version": "0.1.0",
    "type": "ruleset",
    "_id": "oarsworn",
    "title": "The Oarsworn Rulebook",
    "authors": [{"name": "Mira Ansdottir"}],
    "url": "https://oarsworn.example",
    "license": "https://creativecommons.org/licenses/by/4.0",
    "moves": {
        "ferry": {
            "_id": "move_category:oarsworn/ferry",
            "type": "move_category",
            "name": "Ferry moves",
            "contents": {
                "cross": {
                    "_id": "move:oarsworn/ferry/cross_the_water",
                    "type": "move",
                    "name": "Cross the Water",
                    "roll_type": "action_roll",
                    "text": "When you cross the water by night, roll +iron.",
                }
            },
        }
    },
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "salt.md"
    path.write_text(BOOK)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in VAULT.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "vault"


def import_rules(path: Path, system: str, **options: object) -> str:
    out = io.StringIO()
    call_command("import_rules", path, system=system, stdout=out, **options)
    return out.getvalue()


def world_of(system: str) -> World:
    row = GameSystem.objects.get(slug=system)
    return World.objects.create(slug=f"of-{system}", name=system, system=row)


def found(world: World, term: str) -> list[str]:
    answer = rules_lookup(RulesQuestion(term=term, k=20), Caller(world, GM))
    return [hit.title for hit in answer.hits]


def state() -> list[object]:
    rows = Rule.objects.order_by("key").values_list("key", "version", "updated_at")
    return [*rows, *Document.objects.values_list("slug"), *GameSystem.objects.values_list("slug")]


class TestTheCommand:
    def test_a_book_in_one_file_is_cut_by_its_headings(self, book: Path) -> None:
        import_rules(book, "Salt", edition="2e")
        rows = dict(Rule.objects.values_list("key", "breadcrumb"))
        assert rows["salt-2e-salt/undertow"] == ["Salt and Oars", "Hazards"]
        undertow = Rule.objects.get(key="salt-2e-salt/undertow")
        assert undertow.title == "Undertow"
        assert "See the cold." in undertow.body
        assert str(GameSystem.objects.get()) == "Salt (2e)"
        everything = " ".join(Rule.objects.values_list("body", flat=True))
        assert not any(mark in everything for mark in ("<p>", "[[", "no_toc", "(#"))

    def test_notes_of_a_vault_have_kinds_and_the_names_people_write(self, vault: Path) -> None:
        import_rules(vault, "Salt")
        rows = {row.title: row for row in Rule.objects.all()}
        assert rows["Sea Struck"].kind == "condition"
        assert rows["Sea Struck"].body == "You cannot row. See rowing."
        assert rows["Lantern-Call"].kind == "spell"
        assert "Every lantern answers." in rows["Lantern-Call"].body
        assert "[!" not in rows["Lantern-Call"].body

    def test_the_package_of_the_srd_is_a_system_like_any_other(self, tmp_path: Path) -> None:
        path = tmp_path / "srd-5.2.sqlite3"
        with closing(sqlite3.connect(path)) as tables:
            tables.execute("CREATE TABLE metadata (key, value)")
            for name in ("conditions", "monsters"):
                tables.execute(f'CREATE TABLE {name} ("index", data)')
            row = {"index": "wet", "name": "Wet", "desc": ["You drip on everything."]}
            tables.execute("INSERT INTO conditions VALUES ('wet', ?)", [json.dumps(row)])
            tables.commit()
        import_rules(path, "Dripping", edition="2024")
        rule = Rule.objects.get()
        assert (rule.title, rule.kind) == ("Wet", "condition")
        assert "You drip on everything." in rule.body
        with zipfile.ZipFile(tmp_path / "both.whl", "w") as package:
            package.write(path, "a.sqlite3")
            package.write(path, "b.sqlite3")
        with pytest.raises(CommandError, match="several editions"):
            import_rules(tmp_path / "both.whl", "Dripping")

    def test_each_world_is_answered_from_its_own_system_alone(
        self, book: Path, vault: Path, tmp_path: Path
    ) -> None:
        ruleset = tmp_path / "oarsworn.json"
        ruleset.write_text(json.dumps(RULESET))
        import_rules(book, "Salt", edition="2e")
        import_rules(vault, "Salt")
        import_rules(ruleset, "Oarsworn")
        second, first, oarsworn = map(world_of, ("salt-2e", "salt", "oarsworn"))
        assert found(oarsworn, "Cross the Water")[0] == "Cross the Water"
        assert found(second, "Undertow")[0] == "Undertow"
        own = [
            set(Rule.objects.filter(document__system=world.system).values_list("title", flat=True))
            for world in (second, first, oarsworn)
        ]
        for world, titles in zip((second, first, oarsworn), own, strict=True):
            for term in ("Undertow", "Sea Struck", "Cross the Water", "the tide and the lantern"):
                assert set(found(world, term)) <= titles

    def test_a_book_has_title_licence_and_authors_of_its_file(self, tmp_path: Path) -> None:
        ruleset = tmp_path / "oarsworn.json"
        ruleset.write_text(json.dumps(RULESET))
        import_rules(ruleset, "Oarsworn")
        hit = rules_lookup(
            RulesQuestion(term="Cross the Water"), Caller(world_of("oarsworn"), GM)
        ).hits[0]
        assert (hit.source.document, hit.source.licence, hit.source.attribution) == (
            "The Oarsworn Rulebook",
            "CC BY 4.0",
            "The Oarsworn Rulebook, Mira Ansdottir, https://oarsworn.example",
        )
        assert hit.id == "oarsworn-the-oarsworn-rulebook/cross-the-water"
        assert "unchanged" in import_rules(ruleset, "Oarsworn")
        import_rules(ruleset, "Oarsworn", undo=True, force=True)
        assert not Document.objects.exists()

    def test_what_the_command_says_of_a_book_goes_before_its_file(self, tmp_path: Path) -> None:
        ruleset = tmp_path / "oarsworn.json"
        ruleset.write_text(json.dumps(RULESET))
        import_rules(ruleset, "Oarsworn", book="Mine", licence="Own")
        book = Document.objects.get()
        assert (book.title, book.licence) == ("Mine", "Own")

    def test_a_book_that_was_named_by_its_file_keeps_its_ids(self, tmp_path: Path) -> None:
        ruleset = tmp_path / "oarsworn.json"
        ruleset.write_text(json.dumps(RULESET))
        import_rules(ruleset, "Salt", book="oarsworn")
        Document.objects.update(licence="", attribution="")
        assert "unchanged" in import_rules(ruleset, "Salt")
        book = Document.objects.get()
        assert (book.title, book.licence, book.version) == ("oarsworn", "CC BY 4.0", 2)

    def test_what_is_about_the_files_of_a_book_is_no_rule(self, vault: Path) -> None:
        notes = {
            "README.md": "Clone it.",
            "CONTRIBUTING.md": "Open a pull request.",
            "Rules/Salt-Revision-Log.md": f"# Revision History\n\n## 3.2\n\n{FILLING}\n## 3.1\nA.",
            "Salt-Index.md": "## Contents\n\n- **[[Sea-Struck]]**\n\t1. [[Lantern-Call|Call]]\n",
            "Spells/Contents.md": "Every spell of the sea. [[Lantern-Call]] is one.\n",
            "Debts.md": f"# Debts\n{FILLING}\n## Bells\n{FILLING}\n## Changelog\n{FILLING}",
        }
        for name, text in notes.items():
            (vault / name).parent.mkdir(exist_ok=True)
            (vault / name).write_text(text)
        told = import_rules(vault, "Salt")
        assert "README.md: This is about the files of the book" in told
        titles = set(Rule.objects.values_list("title", flat=True))
        assert titles == {"Sea Struck", "Lantern-Call", "Contents", "Debts", "Bells"}

    def test_a_book_that_is_a_readme_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "README.md"
        path.write_text(BOOK)
        import_rules(path, "Salt")
        assert Rule.objects.filter(title="Undertow").exists()

    def test_an_archive_that_is_no_zip_is_called_so(self, tmp_path: Path) -> None:
        path = tmp_path / "salt.tar.gz"
        path.write_bytes(b"\x1f\x8b\x08\x00")
        out = io.StringIO()
        with pytest.raises(CommandError, match="holds nothing"):
            call_command("import_rules", path, system="Salt", stdout=out)
        assert "only zip can be read" in out.getvalue()

    def test_importing_again_changes_nothing_and_embeds_nothing(self, book: Path) -> None:
        import_rules(book, "Salt")
        embed_pending(RulePassage)
        before = state()
        assert "unchanged" in import_rules(book, "salt")
        assert state() == before
        assert embed_pending(RulePassage) == 0

    def test_a_refused_import_names_file_and_line_and_changes_nothing(self, vault: Path) -> None:
        (vault / "Bad.md").write_text("One.\n\n:::secret\nNever closed.\n")
        before = state()
        with pytest.raises(CommandError, match=r"Bad\.md:3"):
            import_rules(vault, "Salt")
        assert state() == before

    def test_without_a_system_nothing_is_imported(self, book: Path) -> None:
        with pytest.raises(CommandError, match="Name the game system"):
            import_rules(book, "")
        assert not Rule.objects.exists()

    def test_a_dry_run_stores_nothing(self, book: Path) -> None:
        before = state()
        assert "Dry run" in import_rules(book, "Salt", dry_run=True)
        assert state() == before

    def test_a_book_can_be_taken_back(self, book: Path, vault: Path) -> None:
        import_rules(vault, "Salt")
        before = state()
        import_rules(book, "Salt")
        import_rules(book, "Salt", undo=True)
        assert state() == before

    def test_undo_gives_changed_rules_their_former_text(self, book: Path) -> None:
        import_rules(book, "Salt")
        book.write_text(
            BOOK.replace("You shiver.", "You freeze.") + f"\n## Bells\n\nThey ring. {FILLING}\n"
        )
        import_rules(book, "Salt")
        assert "You freeze." in Rule.objects.get(title="Cold").body
        told = import_rules(book, "Salt", undo=True)
        assert "1 rules were deleted, 1 have" in told
        assert "You shiver." in Rule.objects.get(title="Cold").body
        assert "You shiver." in RulePassage.objects.get(rule__title="Cold").text
        assert not Rule.objects.filter(title="Bells").exists()
        import_rules(book, "Salt", undo=True)  # the import before it
        assert not Document.objects.exists()

    def test_what_somebody_changed_since_stays_unless_it_is_forced(self, book: Path) -> None:
        import_rules(book, "Salt")
        cold = Rule.objects.get(title="Cold")
        cold.body = "Mittens help."
        save_entry(cold, reason="by hand")
        assert "It was changed since." in import_rules(book, "Salt", undo=True)
        assert list(Rule.objects.values_list("title", flat=True)) == ["Cold"]
        import_rules(book, "Salt", undo=True, force=True)
        assert not Rule.objects.exists()

    def test_a_book_that_worlds_play_by_is_not_deleted(self, book: Path) -> None:
        import_rules(book, "Salt")
        world_of("salt")
        with pytest.raises(CommandError, match=r"Worlds play by .*\(of-salt\)"):
            import_rules(book, "Salt", undo=True)
        assert Rule.objects.exists()
        import_rules(book, "Salt", undo=True, force=True)
        assert not Rule.objects.exists()

    def test_undo_for_one_world_is_that_of_its_page(self, book: Path, world: World) -> None:
        import_rules(book, "Salt")
        own = world_of("salt")
        shared = Rule.objects.count()
        import_rules(book, "Salt", world=own.slug, book="Ours")
        assert Rule.objects.filter(world=own).exists()
        assert "undone" in import_rules(book, "Salt", world=own.slug, book="Ours", undo=True)
        assert not Rule.objects.filter(world=own).exists()
        assert Rule.objects.count() == shared

    def test_the_ids_of_another_system_are_not_taken(self, book: Path) -> None:
        import_rules(book, "Salt", book="2e")
        with pytest.raises(CommandError, match="another title"):
            import_rules(book, "Salt 2e", book="salt-2e")


class TestAHouseRule:
    def test_it_answers_for_an_imported_rule(self, book: Path) -> None:
        import_rules(book, "Salt")
        world = world_of("salt")
        entry = RuleIn(
            rule_id="house/undertow",
            title="Undertow",
            body="Nobody is pulled under here.",
            overrides="salt/undertow",
        )
        upsert_rule(world, entry)
        hit = rules_lookup(RulesQuestion(term="Undertow"), Caller(world, GM)).hits[0]
        assert (hit.id, hit.overrides) == ("house/undertow", "salt/undertow")

    def test_it_stays_when_the_world_plays_another_system(self, world: World) -> None:
        entry = RuleIn(rule_id="house/tolls", title="Tolls", body="Two coins.")
        upsert_rule(world, entry)
        world.system = GameSystem.objects.create(slug="salt", name="Salt")
        world.save()
        assert found(world, "Tolls") == ["Tolls"]


class TestTheImportPage:
    @pytest.fixture
    def gm(self, world: World) -> Client:
        user = get_user_model().objects.create_user("gm")
        Membership.objects.create(user=user, world=world, role="gm")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    def upload(self, gm: Client, world: World, **options: str) -> ImportRun:
        file = SimpleUploadedFile("oarsworn.json", json.dumps(RULESET).encode())
        gm.post(reverse("imports", args=[world.slug]), {"files": file})
        run = ImportRun.objects.filter(world=world).first()
        assert run
        tasks.read_import(str(run.pk))
        page = gm.get(reverse("import-run", args=[world.slug, run.pk])).content.decode()
        assert '<option value="rules" selected>' in page
        fields = {"target": "rules", "system": "Oarsworn", "edition": "", "plays": "on"} | options
        gm.post(reverse("import-check", args=[world.slug, run.pk]), fields)
        tasks.check_import(str(run.pk))
        return run

    def write(self, gm: Client, world: World, **options: str) -> ImportRun:
        run = self.upload(gm, world, **options)
        gm.post(reverse("import-write", args=[world.slug, run.pk]))
        tasks.write_import(str(run.pk))
        run.refresh_from_db()
        world.refresh_from_db()
        return run

    def test_the_world_plays_by_the_rules_until_the_import_is_undone(
        self, gm: Client, world: World
    ) -> None:
        before = world.system
        run = self.write(gm, world)
        assert run.state == "done", run.report
        assert world.system
        assert world.system.name == "Oarsworn"
        assert found(world, "Cross the Water")[0] == "Cross the Water"
        page = gm.get(reverse("import-run", args=[world.slug, run.pk])).content.decode()
        assert "Cross the Water" in page
        gm.post(reverse("import-undo", args=[world.slug, run.pk]))
        tasks.undo_import(str(run.pk))
        world.refresh_from_db()
        assert world.system == before
        assert not Rule.objects.filter(world=world).exists()
        assert not GameSystem.objects.filter(name="Oarsworn").exists()

    def test_another_world_of_the_system_does_not_get_them(self, gm: Client, world: World) -> None:
        self.write(gm, world)
        assert world.system
        other = World.objects.create(slug="other", name="Other", system=world.system)
        assert found(other, "Cross the Water") == []

    def test_a_system_with_rules_of_one_world_is_offered_there_alone(
        self, gm: Client, world: World
    ) -> None:
        self.write(gm, world)
        GameSystem.objects.create(slug="unwritten", name="Unwritten")
        other = World.objects.create(slug="other", name="Other")
        Membership.objects.create(user=get_user_model().objects.get(), world=other, role="gm")
        own_page = gm.get(reverse("house-rules", args=[world.slug])).content.decode()
        other_page = gm.get(reverse("house-rules", args=[other.slug])).content.decode()
        assert "Oarsworn" in own_page
        assert "Oarsworn" not in other_page
        assert "Unwritten" in other_page
        url = reverse("choose-system", args=[other.slug])
        assert gm.post(url, {"system": "oarsworn"}).status_code == 404
        assert "Oarsworn" not in str(WorldForm()["system"])
        key = create_key(other, name="engine")[1]
        engine = Client(headers={"Authorization": f"Bearer {key}"})
        listed = engine.get("/api/v1/systems").json()["systems"]
        assert "oarsworn" not in {system["system_id"] for system in listed}

    def test_a_book_of_another_system_waits(self, gm: Client, world: World) -> None:
        self.write(gm, world)
        url = reverse("choose-system", args=[world.slug])
        gm.post(url, {"system": "dnd-5e"})
        world.refresh_from_db()
        assert found(world, "Cross the Water") == []
        gm.post(url, {"system": "oarsworn"})
        world.refresh_from_db()
        assert "Cross the Water" in found(world, "Cross the Water")

    def test_a_second_import_changes_nothing(self, gm: Client, world: World) -> None:
        self.write(gm, world)
        embed_pending(RulePassage)
        before = state()
        run = self.write(gm, world)
        assert set(run.rows.values_list("outcome", flat=True)) == {"unchanged"}
        assert state() == before
        assert embed_pending(RulePassage) == 0

    def test_what_house_rules_rest_on_stays(self, gm: Client, world: World) -> None:
        run = self.write(gm, world)
        key = Rule.objects.get(title="Cross the Water").key
        entry = RuleIn(rule_id="house/cross", title="Cross", body="Never.", overrides=key)
        upsert_rule(world, entry)
        gm.post(reverse("import-undo", args=[world.slug, run.pk]))
        tasks.undo_import(str(run.pk))
        assert Rule.objects.filter(key=key).exists()
        world.refresh_from_db()
        assert world.system
        assert world.system.name == "Oarsworn"

    def test_without_a_name_of_the_system_the_check_says_so(self, gm: Client, world: World) -> None:
        run = self.upload(gm, world, system="")
        run.refresh_from_db()
        assert run.state == "ready"
        assert "Name the game system" in run.report["failure"]

    def test_players_cannot_choose_the_system(self, world: World) -> None:
        user = get_user_model().objects.create_user("pat")
        Membership.objects.create(user=user, world=world, role="player")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        assert client.post(reverse("choose-system", args=[world.slug])).status_code in (403, 404)
