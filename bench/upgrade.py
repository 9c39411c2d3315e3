"""Upgrade a running site under load, and count the requests that failed.

`python -m bench.upgrade --release v0.1.0` checks the release out into a temporary worktree, runs
two web processes, a worker and a scheduler of it on a database of their own behind a small proxy,
and does what docs/upgrading.md says: migrate by the present code while the release serves, then
take one web process after the other out of the proxy, stop it and start the present one. Meanwhile
threads read and write through the proxy. Exit code 1 if a request failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.draining_proxy import DrainingProxy
from memory_site.process_supervisor import free_port

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120
WORLD = """
from npcs.models import NPC
from tests import cast
from worlds import keys
world = cast.create_world(slug="upgrade")
cast.create_party(cast.create_campaign(world))
NPC.objects.create(world=world, slug="mira-voss", name="Mira Voss", visibility="public")
scopes = ["tools:read", "world:write", "agent:write"]
print(keys.create_key(world, name="load", audience="gm", namespace="load", scopes=scopes,
                      calls_per_minute=10**6)[1])
"""
COMMANDS = """
import json, sys
from memory_site.process_supervisor import process_commands
print(json.dumps(process_commands("127.0.0.1", int(sys.argv[1]))))
"""


@dataclass
class Version:
    """The code in `folder`, run on the database in `var`."""

    name: str
    folder: Path
    var: Path

    @property
    def environment(self) -> dict[str, str]:
        own = {"MEMORY37_VAR": str(self.var), "EMBEDDER": "hashing", "PYTHONWARNINGS": "ignore"}
        return {k: v for k, v in os.environ.items() if k != "DATABASE_URL"} | own

    def run(self, *arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}: {arguments[:2]} failed:\n{done.stderr[-3000:]}")
        return done.stdout

    def start(self, process: str, port: int) -> "subprocess.Popen[bytes]":
        command = json.loads(self.run("-c", COMMANDS, str(port)))[process]
        with (self.var / f"{self.name}-{process}-{port}.log").open("a") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=log
            )

    def serve(self, port: int) -> "subprocess.Popen[bytes]":
        """Start a web process and return once it answers."""
        process, deadline = self.start("web", port), time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                httpx2.get(f"http://127.0.0.1:{port}/health/live", timeout=5).raise_for_status()
                return process
            except httpx2.HTTPError:
                time.sleep(0.2)
        raise RuntimeError(f"{self.name} does not serve: see the log in {self.var}")


@dataclass
class Load:
    """Threads that read and write. `failures` are what was answered by neither 2xx nor 429."""

    url: str
    key: str
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    longest: float = 0.0
    phase: str = ""
    over: threading.Event = field(default_factory=threading.Event)

    def calls(self, thread: int) -> Iterator[tuple[str, str, Any]]:
        number = 0
        while not self.over.is_set():
            number += 1
            name, party = f"{thread}-{number}", {"party_id": "lanternbearers"}
            body = f"Boats moor at the pier {name}."
            episode: dict[str, Any] = {"summary_id": name, "what": body, **party}
            episode |= {"relations_delta": [{"npc": "mira-voss", "delta": 1}]}
            yield "POST", "tools/lore_search", {"query": "boats at the pier"}
            yield "PUT", "world/lore", {"title": f"Pier {name}", "body": body}
            yield "POST", "tools/npc_profile", {"npc_id": "mira-voss", **party}
            yield "POST", "world/episodes", {**episode, "when": {"in_world_at": float(number)}}
            yield "POST", "tools/session_fetch", {**party, "query": "boats"}
            yield "POST", "memory", {"contents": f"Captain {name} prefers rope of hemp."}
            yield "POST", "memory/search", {"query": "rope of hemp"}
            yield "GET", "world/lore?limit=20", None
            yield "GET", "world/npcs", None

    def run(self, thread: int) -> None:
        headers = {"Authorization": f"Bearer {self.key}", "Connection": "close"}
        client = httpx2.Client(base_url=self.url, headers=headers, timeout=60, verify=False)
        for method, path, body in self.calls(thread):
            began = time.monotonic()
            try:
                answer = client.request(method, f"/api/v1/{path}", json=body)
                status, text = answer.status_code, answer.text
            except httpx2.HTTPError as problem:
                status, text = 0, repr(problem)
            self.statuses[status] += 1
            self.longest = max(self.longest, time.monotonic() - began)
            if not 200 <= status < 300 and status != 429:
                took = time.monotonic() - began
                where = f"{self.phase}: {method} {path}"
                self.failures.append(f"{where} {status} after {took:.1f} s: {text[:400]}")

    @contextmanager
    def running(self, threads: int) -> Iterator[None]:
        workers = [threading.Thread(target=self.run, args=[each]) for each in range(threads)]
        for worker in workers:
            worker.start()
        try:
            yield
        finally:
            self.over.set()
            for worker in workers:
                worker.join()


@contextmanager
def checkout(release: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memory37-release-") as folder:
        place = Path(folder) / "code"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(place), release], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def upgrade(old: Version, new: Version, *, threads: int, pause: float) -> Load:
    old.run("manage.py", "migrate", "--verbosity", "0")
    key = old.run("manage.py", "shell", "--verbosity", "0", "-c", WORLD).split()[-1]
    ports = [free_port(0) for _web in range(2)]
    with ExitStack() as stack:
        webs = {port: stack.enter_context(ended(old.serve(port))) for port in ports}
        others = {
            name: stack.enter_context(ended(old.start(name, 0))) for name in ("worker", "beat")
        }
        proxy = stack.enter_context(DrainingProxy(ports))
        load = Load(proxy.url, key)
        with load.running(threads):
            load.phase = "before"
            time.sleep(pause)
            report(load)
            load.phase = "migrate"
            new.run("manage.py", "migrate", "--verbosity", "0")
            time.sleep(pause)
            for port, web in webs.items():
                load.phase = "restart of a web process"
                proxy.drain(port)
                web.terminate()
                web.wait(timeout=60)
                stack.enter_context(ended(new.serve(port)))
                proxy.add(port)
                report(load)
                load.phase = "both versions" if port == ports[0] else "the new version"
                time.sleep(pause)
            for name, process in others.items():
                process.terminate()
                process.wait(timeout=60)
                stack.enter_context(ended(new.start(name, 0)))
            time.sleep(pause)
            report(load)
    return load


def report(load: Load) -> None:
    print(f"{load.phase}: {sum(load.statuses.values())} requests", flush=True)


@contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", required=True, help="The tag or commit to upgrade from.")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--pause", type=float, default=8.0, help="Seconds between the steps.")
    options = parser.parse_args()
    with checkout(options.release) as place, tempfile.TemporaryDirectory() as var:
        old = Version("old", place, Path(var))
        new = Version("new", ROOT, Path(var))
        load = upgrade(old, new, threads=options.threads, pause=options.pause)
    total = sum(load.statuses.values())
    print(f"{total} requests, {dict(load.statuses)}, the longest took {load.longest:.1f} s")
    print(f"{len(load.failures)} failed", *load.failures[:20], sep="\n")
    return 1 if load.failures else 0


if __name__ == "__main__":
    sys.exit(main())
