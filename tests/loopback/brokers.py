"""Redis and RabbitMQ servers of the tests' own, on free loopback ports; required in CI, skipped
elsewhere with the reason where they are not installed."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
START_SECONDS = 90


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def require_program(program: str | Path, package: str) -> str:
    if found := shutil.which(program):
        return found
    why = f"{program} is not installed: apt-get install {package}"
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    raise AssertionError


@contextmanager
def redis_server(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Yield the address of a running server, and its process."""
    port = free_port()
    program = require_program("redis-server", "redis-server")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with running([program, *options], port, folder / "redis.log", {}) as process:
        yield f"redis://127.0.0.1:{port}/0", process


@contextmanager
def rabbitmq_server(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Yield the address of a running server, and its process."""
    port, node_port, names_port = free_port(), free_port(), free_port()
    program = require_program(RABBITMQ, "rabbitmq-server")
    plugins = folder / "plugins"
    plugins.write_text("[].\n")
    own = {
        "HOME": str(folder),  # of the secret that node and tools share
        "RABBITMQ_NODENAME": f"memory37-{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(node_port),
        "ERL_EPMD_PORT": str(names_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +S 1",
    }
    try:
        with running([program], port, folder / "rabbitmq.log", own) as process:
            yield f"amqp://guest:guest@127.0.0.1:{port}//", process
    finally:
        names = ["epmd", "-port", str(names_port), "-kill"]
        subprocess.run(names, capture_output=True, check=False)


@contextmanager
def running(
    command: list[str], port: int, log: Path, own: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `command` until the end of the block; yield when `port` accepts connections."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **own},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for_port(port, process, log)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_port(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text())
