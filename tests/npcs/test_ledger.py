"""The ledger keeps what was written into it."""

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from npcs.models import NPC, DispositionChange
from worlds import keys
from worlds.erasure import permanent_deletion
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(mira: NPC, lanternbearers: Party) -> DispositionChange:
    return DispositionChange.objects.create(
        npc=mira, party=lanternbearers, kind="correction", delta=-5, reason="They sold her map."
    )


def test_the_database_refuses_to_edit_an_entry(entry: DispositionChange) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        DispositionChange.objects.filter(pk=entry.pk).update(delta=5)


def test_the_database_refuses_to_delete_an_entry(entry: DispositionChange) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.delete()


def test_deleting_a_world_deletes_its_ledger(entry: DispositionChange, world: World) -> None:
    with permanent_deletion():
        world.delete()
    assert not DispositionChange.objects.exists()


def test_deleting_a_world_over_rest_deletes_its_ledger(
    entry: DispositionChange, world: World
) -> None:
    _key, text = keys.create_key(None, name="engine", audience="gm", scopes=["admin"])
    client = Client(headers={"Authorization": f"Bearer {text}"})
    answer = client.delete(f"/api/v1/worlds/{world.slug}?confirm={world.slug}")
    assert answer.status_code == 204, answer.content
    assert not DispositionChange.objects.exists()
