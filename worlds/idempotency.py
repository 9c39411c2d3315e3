"""A write with an `Idempotency-Key` happens once; the same request again gets the stored answer for
`IDEMPOTENCY_DAYS`.

The claim is a row that is committed before the write begins, so that of two at once one wins and the other hears 409. A
claim whose process died is taken over after `ABANDONED`. A write that raises keeps nothing, so it may be tried again.
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
    """Run `write` unless `token` was used before; then return what it answered that time.

    What `write` changes and the note that it is done are one transaction (unless `atomic` is false): a crash between
    them leaves neither.
    """
    if len(token) > 200 or not token.isprintable():
        raise Invalid("Idempotency-Key must be 1 to 200 printable characters.")
    claim = _claim(key, token, sha256(request).hexdigest())
    if claim.status is not None:
        return StoredResponse(claim.status, bytes(claim.body), claim.headers, replayed=True)
    try:
        with transaction.atomic() if atomic else nullcontext():
            answer = write()
            _keep(claim, answer)
    except BaseException:
        claim.delete()
        raise
    return answer


def delete_old_writes() -> int:
    """Delete what is older than `IDEMPOTENCY_DAYS`; return how many."""
    return IdempotentWrite.objects.filter(created_at__lt=_horizon()).delete()[0]


def _horizon() -> datetime:
    return timezone.now() - timedelta(days=settings.IDEMPOTENCY_DAYS)


def _claim(key: ApiKey, token: str, fingerprint: str) -> IdempotentWrite:
    """Return a fresh claim (`status` is None) or the finished write that holds this token."""
    _drop_dead(key, token)
    try:
        with transaction.atomic():
            return IdempotentWrite.objects.create(key=key, token=token, fingerprint=fingerprint)
    except IntegrityError:
        held = IdempotentWrite.objects.filter(key=key, token=token).first()
    if held and held.fingerprint != fingerprint:
        raise TokenReused(
            "This Idempotency-Key was used with another request: use a new key for a new write."
        )
    if held is None or held.status is None:
        raise WriteInFlight(
            "A request with this Idempotency-Key is under way: wait for it, then send it again."
        )
    return held


def _drop_dead(key: ApiKey, token: str) -> None:
    now = timezone.now()
    held = IdempotentWrite.objects.filter(key=key, token=token)
    held.filter(created_at__lt=_horizon()).delete()
    held.filter(status=None, created_at__lt=now - ABANDONED).delete()


def _keep(claim: IdempotentWrite, answer: StoredResponse) -> None:
    claim.status, claim.body, claim.headers = answer.status, answer.body, answer.headers
    claim.save(update_fields=["status", "body", "headers"])
