"""The comparison of what was acknowledged with what is stored finds each kind of loss."""

from typing import Any

import pytest

from tests.faults.load import Load, lost_writes

WHOLE: dict[str, Any] = {
    "entries": {"pier-1": "Boats."},
    "passages": {"pier-1": "Pier\n\nBoats."},
    "changes": {"ep-1": 1},
    "facts": {"ep-1": 1},
    "observations": {"Crate 1": 1},
    "bare_observations": [],
    "pictures": {"id": "digest"},
}


@pytest.fixture
def load() -> Load:
    load = Load("http://127.0.0.1", "key")
    load.entries, load.doubtful = {"pier-1": "Boats."}, {"pier-1": set()}
    load.episodes, load.sent_episodes = {"ep-1"}, {"ep-1", "ep-2"}
    load.memories, load.sent_memories = {"Crate 1"}, {"Crate 1"}
    load.pictures = {"id": "digest"}
    return load


def test_nothing_is_lost(load: Load) -> None:
    assert lost_writes(load, WHOLE) == []
    # Whoever got no answer does not know whether it was written.
    assert lost_writes(load, WHOLE | {"changes": {"ep-1": 1, "ep-2": 1}}) == []


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("entries", {"pier-1": "Older."}),
        ("entries", {}),
        ("passages", {"pier-1": "Pier\n\nOlder."}),
        ("changes", {}),
        ("changes", {"ep-1": 2}),
        ("changes", {"ep-1": 1, "ep-2": 2}),
        ("changes", {"ep-1": 1, "ep-3": 1}),
        ("facts", {}),
        ("observations", {"Crate 1": 2}),
        ("bare_observations", ["Crate 1"]),
        ("pictures", {}),
        ("pictures", {"id": "another"}),
    ],
)
def test_what_is_lost_in_part_or_twice_is_found(load: Load, name: str, stored: Any) -> None:
    assert lost_writes(load, WHOLE | {name: stored})
