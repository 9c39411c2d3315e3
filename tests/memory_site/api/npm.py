"""Run what Node's packages bring: installed once for each lock file, required in CI, skipped
elsewhere with the reason."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest


def install(folder: Path) -> Path:
    """Install the packages of `folder`'s lock file, once; return the folder of their programs."""
    if not shutil.which("npm") or not shutil.which("node"):
        why = "Node 18 or newer with npm is not installed (Debian: apt-get install nodejs npm)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    with (folder / "node_modules.lock").open("w") as lock:  # test processes may come here at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = modules / f"installed-{wanted}"
        if not mark.exists():
            run("npm", "ci", "--no-audit", "--no-fund", "--silent", cwd=folder, timeout=240)
            mark.touch()
    return modules / ".bin"


def run(*command: str | Path, cwd: Path, timeout: int = 120, **environment: str) -> str:
    """Run a program; return what it printed, and fail with that."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    output = done.stdout[-6000:] + done.stderr[-3000:]
    assert done.returncode == 0, output
    return output
