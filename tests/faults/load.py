"""Writers that remember what was acknowledged, and the comparison with what the site then has."""

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2

LONGEST_SECONDS = 30.0
"""No request may take longer."""
BEGIN = 70_000


@dataclass
class Load:
    """One thread writes entries and versions of them, another episodes with a change of a
    disposition. A write that was not acknowledged is sent again."""

    url: str
    key: str
    entries: dict[str, str] = field(default_factory=dict)
    """The acknowledged body by slug."""
    doubtful: dict[str, set[str]] = field(default_factory=dict)
    """Bodies that were sent and not acknowledged since."""
    episodes: set[str] = field(default_factory=set)
    sent_episodes: set[str] = field(default_factory=set)
    slow: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    last_ack: float = 0.0

    def __post_init__(self) -> None:
        self._over = threading.Event()
        works = (self._write_entries, self._write_episodes)
        self._threads = [threading.Thread(target=work) for work in works]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write_entries(self) -> None:
        number = 0
        while not self._over.is_set():
            slug, body = f"pier-{number % 40}", f"Boats moor here, note {number}."
            entry = {"slug": slug, "title": slug, "body": body, "visibility": "public"}
            self.doubtful.setdefault(slug, set()).add(body)
            if self._send("PUT", "world/lore", entry):
                self.entries[slug] = body
                self.doubtful[slug].clear()
                number += 1

    def _write_episodes(self) -> None:
        number = 0
        while not self._over.is_set():
            name = f"ep-{number}"
            self.sent_episodes.add(name)
            body = {
                "summary_id": name,
                "party_id": "lanternbearers",
                "when": {"in_world_at": BEGIN + number, "real": "2026-09-05T18:20:00Z"},
                "what": f"They met Mira Voss for the time {number}.",
                "relations_delta": [{"npc": "mira-voss", "delta": 1 - 2 * (number % 2)}],
                "version": 1,
            }
            if self._send("POST", "world/episodes", body):
                self.episodes.add(name)
                number += 1

    def _send(self, method: str, path: str, body: Any) -> bool:
        begin = time.monotonic()
        status = 0
        with contextlib.suppress(httpx2.HTTPError):
            answer = httpx2.request(
                method,
                f"{self.url}/api/v1/{path}",
                json=body,
                headers={"Authorization": f"Bearer {self.key}"},
                timeout=2 * LONGEST_SECONDS,
            )
            status = answer.status_code
            assert status < 400 or status in (429, 500, 502, 503), answer.text
        if (seconds := time.monotonic() - begin) > LONGEST_SECONDS:
            self.slow.append(seconds)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status in (200, 201):
            self.last_ack = time.monotonic()
            return True
        self._over.wait(0.2)
        return False


def lost_writes(load: Load, state: dict[str, Any]) -> list[str]:
    """Describe each acknowledged write that `state` has not, has in part or has twice. `state` is
    what `STATE` prints."""
    problems = []
    for slug, body in load.entries.items():
        stored, passage = state["entries"].get(slug), state["passages"].get(slug, "")
        if stored != body and stored not in load.doubtful[slug]:
            problems.append(f"{slug}: acknowledged {body!r}, stored {stored!r}")
        if stored and stored not in passage:
            problems.append(f"{slug}: its passage is of another text: {passage!r}")
    for name in load.episodes:
        if state["episodes"].get(name) != 1:
            problems.append(f"{name}: {state['episodes'].get(name, 0)} changes, expected 1")
    unknown = set(state["episodes"]) - load.sent_episodes
    return problems + [f"{name}: nobody sent it" for name in sorted(unknown)]


STATE = """
import json
from collections import Counter
from knowledge.models import Lore, LorePassage
from npcs.models import DispositionChange
from retrieval.models import passage_models
from retrieval.indexing import count_words
for model in passage_models():
    count_words(model)
changes = DispositionChange.objects.filter(kind="episode", episode__isnull=False)
print(json.dumps({
    "entries": dict(Lore.objects.values_list("slug", "body")),
    "passages": dict(LorePassage.objects.values_list("lore__slug", "text")),
    "episodes": Counter(changes.values_list("episode__external_id", flat=True)),
}))
"""
WAITING = """
from django.db.models import F
from retrieval.models import passage_models
stale = [model.objects.filter(embedded_rev__lt=F("rev")).count() for model in passage_models()]
print(sum(stale))
"""
