"""The processes of a test run share files between them, not the tests of one file."""

import subprocess
import sys
from pathlib import Path

from tests.distribution import LONGEST_FIRST

ROOT = Path(__file__).parent.parent
CONFTEST = "from tests.distribution import pytest_xdist_make_scheduler\n"
MODULE = """
import os, pathlib, time, pytest
@pytest.mark.parametrize("n", range(4))
def test_one(n):
    with open("processes", "a") as seen:
        seen.write(f"{pathlib.Path(__file__).parent.name}/{pathlib.Path(__file__).name} "
                   f"{os.environ['PYTEST_XDIST_WORKER']}\\n")
    time.sleep(0.05)
"""


def test_a_file_and_a_folder_with_one_server_run_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("a/test_one.py", "b/test_two.py", "graph/test_three.py", "graph/test_four.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(MODULE)
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", "2", "-c", "/dev/null", "."]
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [line.split() for line in (tmp_path / "processes").read_text().splitlines()]
    seen = {
        place: {process for where, process in lines if where.startswith(place)}
        for place in ("a/", "b/", "graph/")
    }
    assert len(lines) == 16
    assert [len(processes) for processes in seen.values()] == [1, 1, 1]
    assert len(set.union(*seen.values())) == 2


def test_every_file_that_begins_early_exists() -> None:
    files = [str(path) for path in (ROOT / "tests").rglob("test_*.py")]
    assert [part for part in LONGEST_FIRST if not any(part in file for file in files)] == []
