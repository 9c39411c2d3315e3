"""The secret of an installation is whole or not there, whatever happens while it is made."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memory_site.secret import installation_secret


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    secret = installation_secret(tmp_path / "var")
    assert len(secret) > 50
    assert installation_secret(tmp_path / "var") == secret
    assert [path.name for path in (tmp_path / "var").iterdir()] == ["secret_key"]
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600


def test_a_full_disk_leaves_no_empty_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any) -> str:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memory_site.secret.secrets.token_urlsafe", fail)
        with pytest.raises(OSError, match="No space"):
            installation_secret(tmp_path)
    assert not os.listdir(tmp_path)
    assert installation_secret(tmp_path)


def test_processes_that_start_at_once_have_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _number: installation_secret(tmp_path), range(40)))
    assert len(found) == 1
    assert "" not in found
