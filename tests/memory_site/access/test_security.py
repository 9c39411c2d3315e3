"""The configuration of a site that others reach, and the change of its key."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from memory_site.checks import metrics_have_a_token
from worlds.webhooks import secret

ROOT = Path(__file__).resolve().parents[3]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_metrics_that_anybody_may_read_are_named_by_the_check(settings: Any) -> None:
    settings.METRICS, settings.METRICS_TOKEN = True, ""
    assert [each.id for each in metrics_have_a_token()] == ["memory37.W002"]
    settings.METRICS_TOKEN = "sesame"
    assert metrics_have_a_token() == []


def test_the_checks_of_a_deployed_site_have_nothing_to_say() -> None:
    done = run(
        *(sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"),
        HTTPS="true",
        DEBUG="false",
        ALLOWED_HOSTS="memory.example.org",
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_without_tls_the_checks_say_so() -> None:
    done = run(*(sys.executable, "manage.py", "check", "--deploy"), HTTPS="false", DEBUG="false")
    assert "security.W008" in done.stderr


def test_the_list_of_packages_has_every_requirement(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    done = run(str(tool), "requirements", "requirements.txt", "-o", str(file))
    assert done.returncode == 0, done.stderr
    listed: dict[str, Any] = json.loads(file.read_text())
    assert listed["bomFormat"] == "CycloneDX"
    names = {component["name"].lower() for component in listed["components"]}
    assert {"django", "cryptography", "psycopg"} <= names


@pytest.fixture
def _former_key() -> Any:
    before = settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS
    yield
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = before


@pytest.mark.usefixtures("_former_key")
def test_after_a_change_of_the_key_secrets_of_the_former_one_are_read() -> None:
    stored = secret.encrypt("whsec_one")
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-of-the-installation"
    with pytest.raises(secret.SecretUnreadable):
        secret.decrypt(stored)
    settings.SECRET_KEY_FALLBACKS = [former]
    assert secret.decrypt(stored) == "whsec_one"


def test_no_export_writes_a_table() -> None:
    """A cell that begins with `=` is a formula to a spreadsheet: the first export of tables has to
    write such cells as text."""
    packages = ["retrieval", "worlds", "knowledge", "episodes", "npcs", "art", "memories"]
    files = [file for each in (*packages, "memory_site") for file in (ROOT / each).rglob("*.py")]
    writers = re.compile(
        r"csv\.(?:Dict)?[wW]riter|text/csv|import_export|xlsxwriter|tablib|Workbook\("
    )
    assert len(files) > 300
    assert [str(file) for file in files if writers.search(file.read_text("utf-8"))] == []
