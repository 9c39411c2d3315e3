"""Search finds the same after a world was restored and its passages were embedded again."""

from pathlib import Path
from typing import Any

import pytest

from knowledge.models import Lore
from knowledge.passages import write_lore_passages
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from retrieval.tasks import embed
from tests.conftest import ApiClient
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_search_finds_the_same_after_the_passages_are_embedded_again(
    world: World, tmp_path: Path
) -> None:
    for number in range(5):
        row = Lore.objects.create(
            world=world,
            slug=f"e{number}",
            title=f"The bell of ford {number}",
            status="published",
            body=f"A bronze bell {'rings ' * number}over the water.",
            visibility="public",
        )
        write_lore_passages([row])
    embed("lore")

    def found(world: World) -> list[Any]:
        _status, answer = ApiClient(world).tool("lore_search", query="bronze bell over water")
        return [(hit["id"], hit["text"]) for hit in answer["hits"]]

    before = found(world)
    assert len(before) > 2
    archive_world(world, tmp_path / "world.zip")
    delete_world(world)
    restored = restore_world(tmp_path / "world.zip").world
    embed("lore")
    assert found(restored) == before
