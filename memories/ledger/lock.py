"""The lock that lets the writers of one agent's memory take turns."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from memories.models import Namespace
from retrieval.errors import NotFound


@contextmanager
def namespace_transaction(namespace: Namespace) -> Iterator[Namespace]:
    """Open a transaction in which the caller alone writes this memory; yield the locked, fresh
    row."""
    with transaction.atomic():
        yield lock_namespace(namespace)


def lock_namespace(namespace: Namespace) -> Namespace:
    """Lock the namespace's row until the transaction ends. Raise `NotFound` if it was deleted."""
    locked = Namespace.objects.select_for_update().filter(pk=namespace.pk).first()
    if locked is None:
        raise NotFound("This memory was deleted.")
    return locked
