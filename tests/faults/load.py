"""Clients that remember what was acknowledged, and the comparison with what the site then has."""

import contextlib
import io
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpx2
from PIL import Image

LONGEST_SECONDS = 30.0
"""No request may take longer."""
PAUSE_SECONDS = 0.2
"""Between two requests of one client: the faults are at random points of a load, not of a flood."""
BEGIN = 70_000
EXPECTED = {0, 200, 201, 409, 429, 500, 502, 503}
"""Statuses that a fault may cause; 0 is none. 409: the same write is still under way."""


@dataclass
class Client:
    """One thread, which sends a request again until it is acknowledged, each over a connection of
    its own."""

    url: str
    key: str
    statuses: Counter[int] = field(default_factory=Counter)
    slow: list[tuple[str, float]] = field(default_factory=list)
    last_ack: float = 0.0
    last_status: int = 0
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Without certificates, which take longer to read than a request takes.
        self._http = httpx2.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {self.key}"},
            limits=httpx2.Limits(max_keepalive_connections=0),
            timeout=2 * LONGEST_SECONDS,
            verify=False,
        )

    def send(self, method: str, path: str, **content: Any) -> Any:
        """Return the parsed answer of an acknowledged request, else None."""
        begin, status, answer = time.monotonic(), 0, None
        with contextlib.suppress(httpx2.HTTPError):
            answer = self._http.request(method, path, **content)
            status = answer.status_code
        if (seconds := time.monotonic() - begin) > LONGEST_SECONDS:
            self.slow.append((path, seconds))
        self.statuses[status] += 1
        self.last_status = status
        if status not in EXPECTED and answer is not None:
            self.problems.append(f"{method} {path}: {answer.text}")
        if answer is None or not is_acknowledged(answer):
            return None
        self.last_ack = time.monotonic()
        return answer.json()


def is_acknowledged(answer: httpx2.Response) -> bool:
    """Whether the site says that it has done what it was asked for."""
    if answer.status_code == 409:
        return bool(answer.json()["code"] == "idempotency_answer_lost")
    return answer.status_code in (200, 201)


@dataclass
class Load:
    """What clients sent at once and what was acknowledged: entries and versions of them, episodes
    with a change of a disposition and a fact, memories through the language model, pictures; and
    reads that ask the embedder, Neo4j and the language model's memories."""

    url: str
    key: str
    entries: dict[str, str] = field(default_factory=dict)
    """The acknowledged body by slug."""
    doubtful: dict[str, set[str]] = field(default_factory=dict)
    """Bodies that were sent and not acknowledged since."""
    episodes: set[str] = field(default_factory=set)
    sent_episodes: set[str] = field(default_factory=set)
    memories: set[str] = field(default_factory=set)
    sent_memories: set[str] = field(default_factory=set)
    pictures: dict[str, str] = field(default_factory=dict)
    """The digest of each acknowledged file by the id of its picture."""

    def __post_init__(self) -> None:
        self._over = threading.Event()
        works = (
            self._write_entry,
            self._write_episode,
            self._write_memory,
            self._write_picture,
            self._read,
        )
        self.clients = {work.__name__.strip("_"): Client(self.url, self.key) for work in works}
        self._threads = [threading.Thread(target=self._repeat, args=(work,)) for work in works]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def waiting_since(self, moment: float) -> dict[str, int]:
        """Return the last status of each client that has had no acknowledgement after `moment`."""
        return {
            name: client.last_status
            for name, client in self.clients.items()
            if client.last_ack <= moment
        }

    @property
    def statuses(self) -> dict[int, int]:
        return dict(sum((client.statuses for client in self.clients.values()), Counter[int]()))

    @property
    def slow(self) -> list[tuple[str, float]]:
        return [each for client in self.clients.values() for each in client.slow]

    @property
    def problems(self) -> list[str]:
        return [each for client in self.clients.values() for each in client.problems]

    def _repeat(self, work: Callable[[Client, int], bool]) -> None:
        client, number = self.clients[work.__name__.strip("_")], 0
        while not self._over.wait(PAUSE_SECONDS):
            number += work(client, number)

    def _write_entry(self, client: Client, number: int) -> bool:
        slug, body = f"pier-{number % 40}", f"Boats moor here, note {number}."
        entry = {"slug": slug, "title": slug, "body": body, "visibility": "public"}
        self.doubtful.setdefault(slug, set()).add(body)
        if client.send("PUT", "world/lore", json=entry) is None:
            return False
        self.entries[slug] = body
        self.doubtful[slug].clear()
        return True

    def _write_episode(self, client: Client, number: int) -> bool:
        name, stranger = f"ep-{number}", f"Stranger {number}"
        self.sent_episodes.add(name)
        fact = {
            "node": {"name": stranger, "kind": "Character", "visibility": "public"},
            "edge": {"src": "Mira Voss", "relation": "RELATES_TO", "dst": stranger},
        }
        body = {
            "summary_id": name,
            "party_id": "lanternbearers",
            "when": {"in_world_at": BEGIN + number, "real": "2026-09-05T18:20:00Z"},
            "what": f"They met Mira Voss for the time {number}.",
            "relations_delta": [{"npc": "mira-voss", "delta": 1 - 2 * (number % 2)}],
            "facts": [fact],
            "version": 1,
        }
        if client.send("POST", "world/episodes", json=body) is None:
            return False
        self.episodes.add(name)
        return True

    def _write_memory(self, client: Client, number: int) -> bool:
        text = f"Crate {number} of the tin heron holds {number * 7} nails."
        self.sent_memories.add(text)
        once = {"Idempotency-Key": f"memory-{number}"}
        if client.send("POST", "memory", json={"contents": [text]}, headers=once) is None:
            return False
        self.memories.add(text)
        return True

    def _write_picture(self, client: Client, number: int) -> bool:
        data = io.BytesIO()
        Image.new("RGB", (16, 16), (number % 256, number // 256 % 256, 7)).save(data, "PNG")
        file = ("crate.png", data.getvalue(), "image/png")
        answer = client.send("POST", "world/pictures", files={"file": file}, data={"alt": "crate"})
        if answer is None:
            return False
        self.pictures[answer["id"]] = sha256(data.getvalue()).hexdigest()
        return True

    def _read(self, client: Client, number: int) -> bool:
        around = {"entity": "Mira Voss", "depth": 1}
        question = {"query": f"where do boats moor, note {number}", "k": 3}
        reads: tuple[Callable[[], Any], ...] = (
            lambda: client.send("POST", "tools/lore_search", json=question),
            lambda: client.send("GET", "world/graph/neighbors", params=around),
            lambda: client.send("POST", "memory/search", json={"query": f"crate {number}"}),
        )
        return reads[number % len(reads)]() is not None


def lost_writes(load: Load, state: dict[str, Any]) -> list[str]:
    """Describe each acknowledged write that `state` has not, has in part or has twice, and each
    write that was never acknowledged and is there in part or twice. `state` is what
    `tests.faults.examination` prints."""
    return [
        *lost_entries(load, state),
        *odd_counts("changes", state["changes"], load.episodes, load.sent_episodes),
        *odd_counts("facts", state["facts"], load.episodes, load.sent_episodes),
        *odd_counts("observations", state["observations"], load.memories, load.sent_memories),
        *(f"{text}: no memory rests on it" for text in state["bare_observations"]),
        *lost_pictures(load, state),
    ]


def lost_entries(load: Load, state: dict[str, Any]) -> list[str]:
    problems = []
    for slug, body in load.entries.items():
        stored, passage = state["entries"].get(slug), state["passages"].get(slug, "")
        if stored != body and stored not in load.doubtful[slug]:
            problems.append(f"{slug}: acknowledged {body!r}, stored {stored!r}")
        if stored and stored not in passage:
            problems.append(f"{slug}: its passage is of another text: {passage!r}")
    return problems


def lost_pictures(load: Load, state: dict[str, Any]) -> list[str]:
    stored = state["pictures"]
    return [
        f"picture {pk} is not there or another one"
        for pk, digest in load.pictures.items()
        if stored.get(pk) != digest
    ]


def odd_counts(
    what: str, counts: dict[str, int], acknowledged: set[str], sent: set[str]
) -> list[str]:
    """Describe each of the `acknowledged` names that `counts` has not exactly once, each other
    that was `sent` and is there more than once, and each that nobody sent."""
    lost = [name for name in acknowledged if not counts.get(name)]
    doubled = [name for name, count in counts.items() if count > 1]
    return [
        *(f"{name}: acknowledged, no {what}" for name in lost),
        *(f"{name}: {counts[name]} {what}, expected 1" for name in doubled),
        *(f"{name}: {what} that nobody sent" for name in counts if name not in sent),
    ]
