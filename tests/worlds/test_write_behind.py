"""Rows that are written together, a moment after they were added."""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from django.conf import settings

from worlds import audit
from worlds.audit import WriteBehind
from worlds.callers import Caller
from worlds.models import AuditedCall, World

AT_EXIT = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
django.setup()
from worlds.audit import WriteBehind
rows = WriteBehind(lambda rows: print(*(row["n"] for row in rows)), seconds=60)
rows.add({"n": 1})
rows.add({"n": 2})
"""


class Written(list[list[int]]):
    """Keeps what it is given to write, and refuses the row 13."""

    def __call__(self, rows: Sequence[dict[str, Any]]) -> None:
        numbers = [row["n"] for row in rows]
        if 13 in numbers:
            raise ValueError("an unlucky row")
        self.append(numbers)


def until(true: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_rows_added_within_moments_are_written_together() -> None:
    written = Written()
    rows = WriteBehind(written, seconds=0.2)
    for number in range(5):
        rows.add({"n": number})
    until(lambda: written)
    assert [sorted(batch) for batch in written] == [[0, 1, 2, 3, 4]]
    rows.add({"n": 5})
    until(lambda: len(written) == 2)


def test_a_bad_row_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    written = Written()
    rows = WriteBehind(written, seconds=60, describe=lambda row: f"Row {row['n']}")
    for number in (12, 13, 14):
        rows.add({"n": number})
    rows.flush()
    assert sorted(number for batch in written for number in batch) == [12, 14]
    assert "Row 13 was not written" in caplog.text


def test_whoever_adds_waits_where_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_WAITING", 1)
    written = Written()
    rows = WriteBehind(written, seconds=60)
    rows.add({"n": 1})
    assert not written
    rows.add({"n": 2})
    assert written == [[2]]


def test_no_row_is_lost_or_doubled_by_many_threads() -> None:
    written = Written()
    rows = WriteBehind(written, seconds=0.001)

    def add(first: int) -> None:
        for number in range(first, first + 1000, 4):
            rows.add({"n": 100 + number})

    threads = [threading.Thread(target=add, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows.flush()
    until(lambda: sum(map(len, written)) >= 1000)
    assert sorted(number for batch in written for number in batch) == list(range(100, 1100))


def test_a_process_that_ends_writes_what_it_gathered() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", AT_EXIT],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert sorted(ended.stdout.split()) == ["1", "2"], ended.stderr


@pytest.mark.django_db(transaction=True)
def test_a_call_is_audited_soon_and_surely_after_settling() -> None:
    world = World.objects.create(slug="ferrymark", name="Ferrymark")
    told = {"arguments": lambda: {"query": "eels"}, "row_ids": lambda: ["the-quay"]}
    audit.record(audit.Call("lore_search", "rest", Caller.gm(world), **told))
    until(AuditedCall.objects.exists)
    audit.record(audit.Call("npc_profile", "mcp", Caller.gm(world)))
    audit.wait_until_written()
    rows = AuditedCall.objects.order_by("at", "pk").values_list("tool", "door", "asked", "returned")
    assert list(rows) == [
        ("lore_search", "rest", {"query": "eels"}, ["the-quay"]),
        ("npc_profile", "mcp", {}, []),
    ]
