"""A call is audited while its world is being deleted: neither waits for the other for ever."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from tests.row_locks import wait_for_lock
from worlds.audit import Call, write_calls
from worlds.callers import Caller
from worlds.keys import create_key
from worlds.models import AuditedCall, World
from worlds.versions import lock_row

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_world_is_deleted_while_a_call_of_its_key_is_written(world: World) -> None:
    key, _text = create_key(world, name="engine")
    call = Call("lore_search", "rest", Caller.with_key(key))

    def write_and_close() -> None:
        try:
            write_calls([call])
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_row(world)
            writing = pool.submit(write_and_close)
            wait_for_lock()
            world.delete()
        writing.result()
    assert not AuditedCall.objects.exists()
