"""Entity tags of rows that have no version of their own, and the address of a new row.

    row = find_key(caller, key_id)
    return with_tag(response, present_key(row))           # GET, and the answer of a change

    with require_unchanged(request, row, present_key):            # PATCH, DELETE and actions
        keys.revoke(row)

A tag is a digest of what the reader gets, so that a column which nobody is shown (a vector, the
time of a key's last use) makes no tag stale.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel

from worlds.rest import check_match, tag
from worlds.versions import lock_row

Answer = TypeVar("Answer", bound=BaseModel)
Row = TypeVar("Row", bound=Model)
NOT_COMPARED = {"updated_at", "last_used_at", "link", "text"}
"""What changes without anybody's decision, or is shown once."""


def digest_of_answer(answer: BaseModel) -> str:
    text = answer.model_dump_json(exclude=NOT_COMPARED)
    return sha256(text.encode()).hexdigest()[:16]


def digest_of_values(values: Mapping[str, Any]) -> str:
    """Return the tag of values that have no schema, in whatever order they are stored."""
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def with_tag(response: HttpResponse, answer: Answer) -> Answer:
    """Set the answer's `ETag` to its digest, and return the answer."""
    tag(response, digest_of_answer(answer))
    return answer


@contextmanager
def require_unchanged(
    request: HttpRequest, row: Row, present: Callable[[Row], BaseModel], *, locks: bool = True
) -> Iterator[Row]:
    """Run the block in a transaction with the row locked. Raises `Stale` when `If-Match` names
    another state than that of `present(row)`.

    Without `locks`, the service in the block takes a wider lock first (of a graph, of a namespace)
    and refuses by itself what is decided already: locking the row before would be a deadlock."""
    with transaction.atomic():
        if locks and "If-Match" in request.headers:
            lock_row(row)
        check_unchanged(request, row, present)
        yield row


def check_unchanged(request: HttpRequest, row: Row, present: Callable[[Row], BaseModel]) -> None:
    """Raise `Stale` when `If-Match` names another state than that of `present(row)`. For a service
    that calls a model, and so must not run in the transaction of `require_unchanged`."""
    if "If-Match" in request.headers:
        check_match(request, digest_of_answer(present(row)))


def set_location(response: HttpResponse, path: str) -> None:
    """Set `Location`: where the new row is read, below `/api/v1/`."""
    response["Location"] = f"/api/v1/{path}"
