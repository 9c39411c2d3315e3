"""The plots at the end of `make bench`."""

import os
import subprocess
import sys
from pathlib import Path

from memory_site.env import BASE_DIR


def test_the_report_runs_by_itself(tmp_path: Path) -> None:
    """In a process of its own, as `make bench` runs it: nothing has set Django up there."""
    variables = {**os.environ, "MEMORY37_VAR": str(tmp_path)}
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    process = subprocess.run(
        [sys.executable, "-m", "bench.report"],
        cwd=BASE_DIR,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "has no results" in process.stdout
