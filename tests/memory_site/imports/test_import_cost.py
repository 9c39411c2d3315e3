"""What an import costs grows with its notes, and the number of its queries hardly at all."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench.imports import write_vault
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from tests import cast
from worlds.models import World

pytestmark = pytest.mark.django_db

FEW, MANY = 20, 60
ROWS_READ = """
    SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables
    WHERE relname IN ('knowledge_lore', 'knowledge_lorepassage', 'knowledge_link')
"""


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "few", FEW)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "many", MANY)


def make_vault(folder: Path, notes: int) -> Path:
    folder.mkdir()
    write_vault(folder, notes)
    return folder


def import_vault(world: World, path: Path, *, status: str = "draft") -> int:
    """Import the notes and return the number of queries."""
    options = ImportOptions.model_validate({"format": "obsidian", "status": status})
    with CaptureQueriesContext(connection) as queries:
        assert import_path(world, path, options).rows
    return len(queries)


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ROWS_READ)
        return int(cursor.fetchone()[0])


def test_three_times_the_notes_take_the_same_queries(world: World, few: Path, many: Path) -> None:
    other = cast.create_world(slug="other")
    import_vault(cast.create_world(slug="warm"), few)
    assert import_vault(other, many) <= import_vault(world, few) + 2


def test_importing_again_takes_the_same_queries(world: World, few: Path, many: Path) -> None:
    other = cast.create_world(slug="other")
    import_vault(world, few)
    import_vault(other, many)
    assert import_vault(other, many) <= import_vault(world, few) + 2


def test_characters_that_get_what_they_lack_take_the_same_queries(
    world: World, few: Path, many: Path
) -> None:
    """The NPCs are there already, without a biography."""
    other = cast.create_world(slug="other")
    for each, notes in ((world, FEW), (other, MANY)):
        for number in range(0, notes, 10):
            cast.create_npc(each, slug=f"note-{number}", name=f"Note {number}")
    assert import_vault(other, many) <= import_vault(world, few) + 2


def test_each_stored_row_is_read_a_few_times_at_most(world: World, tmp_path: Path) -> None:
    """The planner knew nothing of the rows that the import had just written, and read all entries
    again for each passage."""
    notes = 300
    path = make_vault(tmp_path / "vault", notes)
    before = rows_read()
    import_vault(world, path)
    assert rows_read() - before < 40 * notes
