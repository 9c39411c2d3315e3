"""A write with an `Idempotency-Key` happens once; the same request again gets the stored answer for
`IDEMPOTENCY_DAYS`.

Of two requests at once the second gets 409: the first holds an advisory lock, which ends with the
process that holds it, so what a killed one has not written may be tried again at once. A write that
raises stores nothing and may be tried again, too.

A write that calls a model commits before its answer is stored. `note_commit` marks the token in the
same transaction: if the process is killed between both, the write is not done again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

import psycopg
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from retrieval.errors import Conflict, Invalid
from worlds.models import ApiKey, IdempotentWrite

ABANDONED = timedelta(minutes=2)
"""Of a row without an answer, by which earlier versions claimed a token."""
WITHOUT_ANSWER = 0
"""The status of a row whose write was committed and not answered yet."""
_under_way: ContextVar[IdempotentWrite | None] = ContextVar("idempotent_write", default=None)
LOCK_IN_TRANSACTION = "SELECT pg_try_advisory_xact_lock(%s)"
LOCK_IN_SESSION = "SELECT pg_try_advisory_lock(%s)"
UNDER_WAY = "A request with this Idempotency-Key is under way: wait for it, then send it again."


class WriteInFlight(Conflict):
    code, title = "idempotency_in_flight", "The same write is under way"


class AnswerLost(Conflict):
    code, title = "idempotency_answer_lost", "The write was done, its answer was lost"


class TokenReused(Invalid):
    code, title = "idempotency_key_reused", "Idempotency key used for another request"


@dataclass(frozen=True)
class StoredResponse:
    """A response as stored and replayed."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    replayed: bool = False


def once(
    key: ApiKey,
    token: str,
    request: bytes,
    write: Callable[[], StoredResponse],
    *,
    atomic: bool = True,
) -> StoredResponse:
    """Run `write` unless `token` was used before; then return its stored response.

    The changes of `write` and its stored response are one transaction (unless `atomic` is false): a
    crash between them leaves neither.
    """
    if len(token) > 200 or not token.isprintable():
        raise Invalid("Idempotency-Key must be 1 to 200 printable characters.")
    fingerprint = sha256(request).hexdigest()
    with held_in_transaction(key, token) if atomic else held_in_session(key, token):
        stored = _stored_response(key, token, fingerprint)
        if stored is not None:
            return stored
        row = IdempotentWrite(key=key, token=token, fingerprint=fingerprint)
        under_way = _under_way.set(None if atomic else row)
        try:
            answer = write()
        finally:
            _under_way.reset(under_way)
        row.status, row.body, row.headers = answer.status, answer.body, answer.headers
        row.save()
    return answer


def note_commit() -> None:
    """Call in each transaction that writes what a model was asked for."""
    if (row := _under_way.get()) is not None:
        row.status = WITHOUT_ANSWER
        row.save()


@contextmanager
def held_in_transaction(key: ApiKey, token: str) -> Iterator[None]:
    """Open a transaction that alone writes for `token`; raises `WriteInFlight`."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(LOCK_IN_TRANSACTION, [lock_number(key, token)])
            require_lock(cursor.fetchone())
        yield


@contextmanager
def held_in_session(key: ApiKey, token: str) -> Iterator[None]:
    """Alone write for `token`, in no transaction; raises `WriteInFlight`. The lock is held by a
    connection of its own: the write calls a model, and no connection of the pool waits for one."""
    # A pooler gives a session another server connection after each transaction.
    is_pooled = settings.DATABASE_POOLER
    options = {**connection.get_connection_params(), "autocommit": not is_pooled}
    statement = LOCK_IN_TRANSACTION if is_pooled else LOCK_IN_SESSION
    with psycopg.connect(**options) as link:
        require_lock(link.execute(statement, [lock_number(key, token)]).fetchone())
        yield


def lock_number(key: ApiKey, token: str) -> int:
    """Return the 64 bits with a sign that PostgreSQL's lock has instead of a name."""
    digest = sha256(f"{key.pk} {token}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def require_lock(row: tuple[bool] | None) -> None:
    if not row or not row[0]:
        raise WriteInFlight(UNDER_WAY)


def _stored_response(key: ApiKey, token: str, fingerprint: str) -> StoredResponse | None:
    """Return the answer of the write that had this token, if it was done."""
    rows = IdempotentWrite.objects.filter(key=key, token=token)
    # Free the token if its write is too old to be replayed.
    rows.filter(created_at__lt=oldest_replayed()).delete()
    rows.filter(status=None, created_at__lt=timezone.now() - ABANDONED).delete()
    done = rows.first()
    if done is None:
        return None
    if done.fingerprint != fingerprint:
        raise TokenReused(
            "This Idempotency-Key was used with another request: use a new key for a new write."
        )
    if done.status is None:
        raise WriteInFlight(UNDER_WAY)
    if done.status == WITHOUT_ANSWER:
        raise AnswerLost(
            "The server was stopped after it had written and before it could answer. Do not send "
            "the write again: read what it has written."
        )
    return StoredResponse(done.status, bytes(done.body), done.headers, replayed=True)


def oldest_replayed() -> datetime:
    return timezone.now() - timedelta(days=settings.IDEMPOTENCY_DAYS)


def delete_old_writes() -> int:
    """Delete what is older than `IDEMPOTENCY_DAYS`; return how many."""
    return IdempotentWrite.objects.filter(created_at__lt=oldest_replayed()).delete()[0]
