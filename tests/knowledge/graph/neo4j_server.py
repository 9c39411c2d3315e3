"""A real Neo4j 5.26 LTS Community server for tests and benchmarks, fetched by Maven, run by its own
entry point.

    python -m tests.knowledge.graph.neo4j_server          # fetch, start, print the address, stop on
    Ctrl-C

Neo4j is GPLv3: it is fetched to `var/neo4j` when tests want it and is no part of the product.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

HERE = Path(__file__).parent
POM = HERE / "neo4j.pom.xml"
STORE = Path(os.environ.get("MEMORY37_VAR", HERE.parent.parent.parent / "var")) / "neo4j"
USER, PASSWORD = "neo4j", "a-password-for-tests"
ENTRY_POINT = "org.neo4j.server.CommunityEntryPoint"
OPEN_PACKAGES = [
    "java.base/java.lang=ALL-UNNAMED",
    "java.base/java.nio=ALL-UNNAMED",
    "java.base/sun.nio.ch=ALL-UNNAMED",
]
CONF = """\
server.default_listen_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size={page_cache}
dbms.usage_report.enabled=false
"""


def what_is_missing() -> str:
    """Return why no Neo4j can run here, or nothing."""
    missing = [program for program in ("java", "mvn") if not shutil.which(program)]
    return f"Neo4j needs {' and '.join(missing)} (Java 17 or later, Maven)" if missing else ""


def fetch(store: Path = STORE) -> Path:
    """Return the folder with Neo4j's jars; Maven fills it once, however many processes ask."""
    jars = store / "jars"
    store.mkdir(parents=True, exist_ok=True)
    with file_lock(store / "fetch.lock"):
        if not jars.exists():
            fresh = Path(tempfile.mkdtemp(dir=store))
            goal = [
                "dependency:copy-dependencies",
                f"-DoutputDirectory={fresh}",
                "-DincludeScope=runtime",
            ]
            subprocess.run(["mvn", "-q", "-B", "-f", str(POM), *goal], check=True, timeout=900)
            fresh.rename(jars)
    return jars


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@dataclass
class Neo4jServer:
    """One server with a home folder of its own. It keeps its data and port over `kill()` and
    `start()`.
    """

    home: Path
    port: int = field(default_factory=free_port)
    heap: str = "384m"
    page_cache: str = "64m"
    quick: bool = False  # starts faster, computes slower: for tests, not for benchmarks
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def auth(self) -> tuple[str, str]:
        return USER, PASSWORD

    def start(self) -> "Neo4jServer":
        first = not (self.home / "data").exists()
        self._write_config()
        log = (self.home / "console.log").open("ab")
        self.process = subprocess.Popen(
            self._command(), stdout=log, stderr=log, start_new_session=True
        )
        self._wait("neo4j" if first else PASSWORD)
        if first:
            self._set_password()
        return self

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=60)
        self.process = None

    def _write_config(self) -> None:
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        conf = CONF.format(port=self.port, page_cache=self.page_cache)
        (self.home / "conf" / "neo4j.conf").write_text(conf)

    def _command(self) -> list[str]:
        opened = [f"--add-opens={package}" for package in OPEN_PACKAGES]
        memory = [f"-Xms{self.heap}", f"-Xmx{self.heap}", "-XX:+UseSerialGC"]
        memory += ["-XX:TieredStopAtLevel=1"] if self.quick else []
        places = [f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"]
        return ["java", *memory, *opened, "-cp", f"{fetch()}/*", ENTRY_POINT, *places]

    def _wait(self, password: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not self._is_ready(password):
            if time.monotonic() > deadline or (self.process and self.process.poll() is not None):
                raise RuntimeError(
                    f"Neo4j did not start; see {self.home}/console.log and {self.home}/logs"
                )
            time.sleep(0.25)

    def _is_ready(self, password: str) -> bool:
        with contextlib.closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", self.port)):
                return False
        try:
            with neo4j.GraphDatabase.driver(self.uri, auth=(USER, password)) as driver:
                driver.verify_authentication()
                with driver.session(database="system") as session:
                    up = session.run("SHOW DATABASE neo4j YIELD currentStatus").single()
                return up is not None and up["currentStatus"] == "online"
        except (DriverError, Neo4jError) as error:
            return "CredentialsExpired" in str(getattr(error, "code", ""))

    def _set_password(self) -> None:
        with (
            neo4j.GraphDatabase.driver(self.uri, auth=(USER, "neo4j")) as driver,
            driver.session(database="system") as session,
        ):
            session.run(
                "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new", new=PASSWORD
            ).consume()


@contextlib.contextmanager
def running(**options: Any) -> Iterator[Neo4jServer]:
    """Run a server in a folder that goes when it stops."""
    home = Path(tempfile.mkdtemp(prefix="neo4j-"))
    server = Neo4jServer(home, **options)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    with running() as server, contextlib.suppress(KeyboardInterrupt):
        print(
            f"NEO4J_URL={server.uri}  user {USER}  password {PASSWORD}  (Ctrl-C stops it)",
            flush=True,
        )
        signal.pause()
