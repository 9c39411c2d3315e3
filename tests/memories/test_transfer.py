"""A memory written to JSONL and read again is the same memory, history included."""

from pathlib import Path

import pytest

from memories import conversation, core, transfer
from memories.curation import edits, lifecycle
from memories.erasure import deletion
from memories.haema import Memory
from memories.models import MemoryItem, Namespace, Succession
from memories.search import recall
from retrieval.errors import Conflict, Invalid
from tests import cast
from tests.memories.conftest import remember
from tests.memories.fakes import Echo, Vectors
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_a_round_trip_changes_nothing(mira: Namespace, world: World) -> None:
    add_history(mira)
    before = list(transfer.export_namespace(mira))
    found = [each.text for each in recall.search(mira, "eel soup").memories]
    assert "Mira likes eel soup very much." in found
    delete_namespace(mira)
    again, counts = transfer.import_namespace(before, world)
    assert sorted(transfer.export_namespace(again)) == sorted(before)
    assert counts["memoryitem"] == again.memories.count() > 3
    assert [each.text for each in recall.search(again, "eel soup").memories] == found


def test_reading_twice_changes_nothing(mira: Namespace, world: World) -> None:
    add_history(mira)
    lines = list(transfer.export_namespace(mira))
    _same, counts = transfer.import_namespace(lines, world)
    assert not counts
    assert sorted(transfer.export_namespace(mira)) == sorted(lines)


def test_beside_the_original_an_import_is_a_copy(mira: Namespace, world: World) -> None:
    add_history(mira)
    before = list(transfer.export_namespace(mira))
    other = cast.create_world(slug="other", name="Other")
    for place, name in ((other, "mira-voss"), (other, "second"), (world, "second")):
        copy, counts = transfer.import_namespace(before, place, name=name)
        assert (copy.world, copy.name) == (place, name)
        assert counts["memoryitem"] == copy.memories.count() == mira.memories.count()
        _same, again = transfer.import_namespace(before, place, name=name)
        assert not again
        assert texts_in_order(copy) == texts_in_order(mira)
        links = Succession.objects.filter(older__namespace=copy, newer__namespace=copy)
        assert links.count() == Succession.objects.filter(newer__namespace=mira).count() > 0
        assert recall.search(copy, "eel soup").memories[0].text.startswith("Mira likes eel soup")
    assert sorted(transfer.export_namespace(mira)) == sorted(before)


def test_a_copy_does_not_bring_back_what_was_erased(mira: Namespace, world: World) -> None:
    add_history(mira)
    before = list(transfer.export_namespace(mira))
    erased = mira.memories.filter(text__startswith="Tobin").get()
    deletion.erase(mira, "memory", erased.pk, by="gm")
    copy, _counts = transfer.import_namespace(before, world, name="second")
    assert texts_in_order(copy) == texts_in_order(mira)


@pytest.mark.django_db(transaction=True)
def test_a_link_to_what_was_erased_is_left_out(mira: Namespace, world: World) -> None:
    (three,) = remember(mira, "Mira Voss owns three ferries at the lower landing.").ids
    (four,) = remember(mira, "Mira Voss owns four ferries at the lower landing.").ids
    lines = list(transfer.export_namespace(mira))
    assert Succession.objects.filter(older=three, newer=four).exists()
    deletion.erase(mira, "memory", three, by="gm")
    transfer.import_namespace(lines, world)
    assert not Succession.objects.filter(older=three).exists()
    assert not mira.memories.filter(pk=three).exists()


def texts_in_order(namespace: Namespace) -> list[tuple[str, str]]:
    return list(namespace.memories.order_by("pk").values_list("text", "state"))


def test_a_clients_vectors_go_along(tmp_path: Path, world: World) -> None:
    memory = Memory(tmp_path, 5, Vectors(), Echo())
    memory.add(["a", "b"])
    lines = list(transfer.export_namespace(memory.namespace))
    before = list(
        memory.namespace.memories.order_by("pk").values_list("client_vector__vector", flat=True)
    )
    delete_namespace(memory.namespace)
    again, _counts = transfer.import_namespace(lines, world)
    after = list(again.memories.order_by("pk").values_list("client_vector__vector", flat=True))
    assert [list(vector) for vector in after] == [list(vector) for vector in before]


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        ["nonsense"],
        ["{}"],
        ['{"model": "auth.user", "pk": 1, "fields": {}}'],
        ['{"model": "no.model", "pk": 1}'],
    ],
)
def test_a_file_that_is_no_memory_is_refused(world: World, damaged: list[str]) -> None:
    with pytest.raises(Invalid):
        transfer.import_namespace(damaged, world)
    assert not Namespace.objects.exists()


def test_a_file_cut_in_half_leaves_the_previous_state(mira: Namespace, world: World) -> None:
    add_history(mira)
    lines = list(transfer.export_namespace(mira))
    delete_namespace(mira)
    lines[3] = lines[3][: len(lines[3]) // 2]
    with pytest.raises(Invalid, match="Line 4"):
        transfer.import_namespace(lines, world)
    assert not MemoryItem.objects.exists()


def test_rows_of_another_memory_are_not_taken_over(
    mira: Namespace, tobin: Namespace, world: World
) -> None:
    remember(mira, "The tide turns at noon.")
    lines = list(transfer.export_namespace(mira))
    with pytest.raises(Conflict):
        transfer.import_namespace([next(transfer.export_namespace(tobin)), *lines[1:]], world)


def add_history(namespace: Namespace) -> None:
    first, second = remember(
        namespace, "Mira likes eel soup.", "Tobin keeps the bell.", speaker="Oda"
    ).ids
    edits.edit(namespace, first, "Mira likes eel soup very much.", by="gm")
    lifecycle.archive(namespace, second, by="gm", reason="noise")
    lifecycle.restore(namespace, second, by="gm")
    core.write_by_hand(namespace, "# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- x\n", reason="by hand")
    conversation.log_message(namespace, "안녕하세요, 미라.", speaker="Han Solbi")
    remember(namespace, "Mira likes eel soup very, very much, says Oda.")


def delete_namespace(namespace: Namespace) -> None:
    """Empty the tables as a new server's are: no deletion for good, so no tombstones."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memory37.deletion', 'for good', true)")
    Namespace.objects.filter(pk=namespace.pk).delete()
