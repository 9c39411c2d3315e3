"""A write with an `Idempotency-Key` happens once; the same request again gets the stored answer for
`IDEMPOTENCY_DAYS`.

The claim is a row that is committed before the write begins, so that of two requests at once the
second gets 409. A claim whose process died is taken over after `ABANDONED`. A write that raises
stores nothing, so it may be tried again.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from retrieval.errors import Conflict, Invalid
from worlds.models import ApiKey, IdempotentWrite

ABANDONED = timedelta(minutes=2)


class WriteInFlight(Conflict):
    code, title = "idempotency_in_flight", "The same write is under way"


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
    claim = _claim(key, token, sha256(request).hexdigest())
    if claim.status is not None:
        return StoredResponse(claim.status, bytes(claim.body), claim.headers, replayed=True)
    try:
        with transaction.atomic() if atomic else nullcontext():
            answer = write()
            claim.status, claim.body, claim.headers = answer.status, answer.body, answer.headers
            claim.save(update_fields=["status", "body", "headers"])
    except BaseException:
        claim.delete()
        raise
    return answer


def _claim(key: ApiKey, token: str, fingerprint: str) -> IdempotentWrite:
    """Return a fresh claim (`status` is None) or the finished write that holds this token."""
    rows = IdempotentWrite.objects.filter(key=key, token=token)
    # Free the token if its write is too old to be replayed, or was abandoned by a process that
    # died.
    rows.filter(created_at__lt=oldest_replayed()).delete()
    rows.filter(status=None, created_at__lt=timezone.now() - ABANDONED).delete()
    try:
        with transaction.atomic():
            return IdempotentWrite.objects.create(key=key, token=token, fingerprint=fingerprint)
    except IntegrityError:
        other = rows.first()
    if other and other.fingerprint != fingerprint:
        raise TokenReused(
            "This Idempotency-Key was used with another request: use a new key for a new write."
        )
    if other is None or other.status is None:
        raise WriteInFlight(
            "A request with this Idempotency-Key is under way: wait for it, then send it again."
        )
    return other


def oldest_replayed() -> datetime:
    return timezone.now() - timedelta(days=settings.IDEMPOTENCY_DAYS)


def delete_old_writes() -> int:
    """Delete what is older than `IDEMPOTENCY_DAYS`; return how many."""
    return IdempotentWrite.objects.filter(created_at__lt=oldest_replayed()).delete()[0]
