"""Which process runs which tests, and in which order.

The tests of a file stay together, because they share what takes long to make: a server, a site, a
world. `--dist loadgroup` would do the same with a mark, but pytest 9.2 keeps the name of a test
where pytest-xdist 3.8 does not look, and so it deals out single tests.
"""

from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

ONE_SERVER = {"graph", "llama"}
"""Folders whose tests share a server that takes long to start: they run in one process."""

LONGEST_FIRST = (
    "tests/faults/",
    "api/test_secrecy.py",
    "api/test_secrecy",
    "knowledge/graph/",
    "api/test_schemathesis.py",
    "pages/test_players_see_no_secret.py",
    "memories/test_faults.py",
    "npcs/test_exactness.py",
    "api/test_documented_examples.py",
    "memories/test_buckets.py",
    "browser/",
    "memory_site/test_package.py",
    "memory_site/test_query_counts.py",
    "memories/test_reflection.py",
    "api/test_mcp.py",
    "access/test_permissions.py",
    "api/test_conditional_requests.py",
    "memory_site/test_external_postgres.py",
    "api/test_event_faults.py",
    "memory_site/test_trash.py",
    "access/test_admin_walk.py",
    "demo/test_round_trip.py",
    "npcs/test_long_history.py",
    "memory_site/test_npc_merging.py",
    "backup/test_backup.py",
    "memory_site/test_brokers.py",
    "api/test_typescript.py",
    "memories/test_sixty_scenes.py",
    "bench/",
    "archive/",
    "retrieval/llama/",
)
"""Files that take 20 seconds and more: the processes end at the same time if none of them begins
near the end."""


class FilesTogether(LoadScopeScheduling):
    """Deal out files, and folders with one server, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:  # what xdist offers to subclasses for this
        file = nodeid.split("::", 1)[0]
        folder = PurePath(file).parent.name
        return folder if folder in ONE_SERVER else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesTogether:
    config.option.loadscopereorder = False
    return FilesTogether(config, log)


def sort_by_duration(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: position_of(str(item.path)))


def position_of(path: str) -> int:
    places = (n for n, part in enumerate(LONGEST_FIRST) if part in path)
    return next(places, len(LONGEST_FIRST))
