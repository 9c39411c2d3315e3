"""`manage.py doctor` finds what is broken and says what to do."""

import io
import json
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from knowledge.entry_store import save_entry
from knowledge.models import Lore, LorePassage
from memory_site import checks
from memory_site.management.commands import doctor
from npcs.dispositions import correct
from npcs.models import NPC, Disposition
from retrieval.indexing import PARKED_AFTER, count_words, embed_pending
from retrieval.models import ServingModel
from worlds.models import Party, World

pytestmark = pytest.mark.django_db(transaction=True)


def examine(*options: str) -> tuple[int, list[dict[str, str]]]:
    """Return the exit code and the findings."""
    out, code = io.StringIO(), 0
    try:
        call_command("doctor", "--json", *options, stdout=out)
    except SystemExit as end:
        code = int(end.code or 0)
    return code, json.loads(out.getvalue())


def remedy(findings: list[dict[str, str]], part: str) -> str:
    """Return what to do about the one finding whose text has `part`."""
    found = [each for each in findings if part in each["text"] and each["level"] != "ok"]
    assert len(found) == 1, (part, findings)
    return found[0]["remedy"]


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def test_passages_that_were_given_up_and_foreign_vectors_are_found(world: World) -> None:
    for slug in ("pier", "ferry", "lantern"):
        save_entry(Lore(world=world, slug=slug, title=slug, body="By the water."))
    embed_pending(LorePassage)
    first, second, *_rest = LorePassage.objects.order_by("pk")
    LorePassage.objects.filter(pk=first.pk).update(embedding_model="a former model")
    LorePassage.objects.filter(pk=second.pk).update(text="Changed.")
    LorePassage.objects.filter(pk=second.pk).update(embed_tries=PARKED_AFTER, embed_error="refused")
    code, findings = examine()
    assert code == 1, findings
    assert "reindex --domain lore" in remedy(findings, "1 passages have a vector of another model")
    assert "reindex --domain lore" in remedy(findings, "lore: 1 passages are not embedded: refused")


def test_settings_of_a_model_that_was_not_switched_to_are_found() -> None:
    ServingModel.objects.create(domain="lore", model="a former model")
    said = remedy(examine()[1], "lore: the settings name hashing")
    assert "switch_model" in said


def test_word_counts_and_indexes_that_do_not_fit_are_found(world: World) -> None:
    save_entry(Lore(world=world, slug="pier", title="Pier", body="By the water."))
    count_words(LorePassage)
    LorePassage.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX knowledge_lorepassage_words")
    try:
        _code, findings = examine()
    finally:
        call_command("migrate", verbosity=0)
    assert "--words-only" in remedy(findings, "lore: word counts of")
    assert "migrate" in remedy(findings, "knowledge_lorepassage_words")


def test_a_new_installation_without_https_is_told_one_setting_and_nothing_of_empty_tables(
    settings: Any,
) -> None:
    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = False
    settings.CSRF_COOKIE_SECURE, settings.SECURE_HSTS_SECONDS = False, 0
    findings = examine()[1]
    assert "HTTPS=true" in remedy(findings, "security.W004, security.W008")
    assert not [each for each in findings if "words were computed" in each["text"]]


def test_without_a_database_nothing_else_is_called_broken(monkeypatch: Any) -> None:
    def fail() -> None:
        raise psycopg.OperationalError("password authentication failed")

    for module in (doctor, checks):
        monkeypatch.setattr(module, "probe_database", fail)
    code, findings = examine()
    assert code == 2
    assert {each["area"] for each in findings} == {"database", "configuration", "disk"}
    assert "run doctor again" in remedy(findings, "does not answer: processes")
    assert "DATABASE_URL" in remedy(findings, "cannot be reached: password authentication failed")


def test_a_disposition_past_its_ledger_is_found(mira: NPC, lanternbearers: Party) -> None:
    correct(mira, lanternbearers, by=12, reason="She likes them.", made_by="Anna")
    assert not [each for each in examine()[1] if each["area"] == "dispositions" and each["remedy"]]
    Disposition.objects.filter(npc=mira, party=lanternbearers).update(score=50)
    assert "folds its ledger" in remedy(examine()[1], "1 dispositions are not what the ledger says")


def test_files_without_a_row_are_found(world: World, settings: Any) -> None:
    lost = settings.MEDIA_ROOT / "pictures" / "lost.png"
    lost.parent.mkdir(parents=True)
    lost.write_bytes(b"x")
    assert "delete them" in remedy(examine()[1], "pictures/lost.png")


def test_a_full_disk_and_missing_processes_are_found(settings: Any, monkeypatch: Any) -> None:
    usage = type("usage", (), {"free": 10**8, "total": 10**11})
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: usage)
    code, findings = examine("--quick")
    assert code >= 1
    assert "Make room" in remedy(findings, "0.1 of 100.0 GB are free")
    assert "make up" in remedy(findings, "no worker holds its lock")


def test_waiting_migrations_are_an_error(monkeypatch: Any) -> None:
    from memory_site.doctor import installation
    from memory_site.migration_state import MigrationState

    state = MigrationState(waiting=("knowledge.0099_future",), newer=())
    for module in (installation, doctor):
        monkeypatch.setattr(module, "migration_state", lambda: state)
    code, findings = examine("--quick")
    assert code == 2
    assert "then doctor again" in remedy(findings, "1 migrations are waiting")
    assert "worker" not in {each["area"] for each in findings}, "tables may be missing"


def test_what_the_settings_silence_is_not_found(settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = 3600  # else Django does not look at what follows from it
    silenced = {"security.W005", "security.W021"}
    assert silenced <= set(settings.SILENCED_SYSTEM_CHECKS)
    _code, findings = examine("--quick")
    assert not [each for each in findings if each["text"].split(":")[0] in silenced]


@pytest.mark.parametrize(
    ("embedder", "why"), [("onnx", "is no folder"), ("foo", "foo doesn't look like a module path")]
)
def test_an_embedder_that_is_not_there_ends_no_examination(
    settings: Any, embedder: str, why: str, world: World
) -> None:
    ServingModel.objects.update_or_create(domain="lore", defaults={"model": "hashing@256"})
    settings.EMBEDDER, settings.EMBEDDING_MODEL = embedder, "/nowhere"
    code, findings = examine()
    assert code == 2
    models = next(each for each in findings if each["area"] == "models")
    assert why in models["text"]
    assert any("retrieval.E0" in each["text"] for each in findings)


def test_a_folder_of_files_that_takes_no_upload_is_found(settings: Any, monkeypatch: Any) -> None:
    theirs = settings.MEDIA_ROOT / "imports"
    theirs.mkdir(parents=True)
    assert not [each for each in examine("--quick")[1] if "may not write" in each["text"]]
    # Root, who may run the tests, may write everywhere.
    monkeypatch.setattr("os.access", lambda folder, _mode: folder != theirs.resolve())
    code, findings = examine("--quick")
    assert code == 2
    assert "chown" in remedy(findings, f"may not write to {theirs.resolve()}")
