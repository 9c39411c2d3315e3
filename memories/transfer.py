"""A memory as JSONL: every row with its history, written and read without loss.

One object a line, the namespace first. Vectors of the site are derived and left out; those of a client cannot be made
again and go along. Reading is repeatable: rows that are there stay, and what was erased does not come back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from django.core import serializers
from django.core.serializers.base import DeserializationError
from django.db import models, transaction

from memories.ledger import word_counts
from memories.ledger.restore import RENUMBERED, restore_row
from memories.models import (
    ClientVector,
    CoreProposal,
    CoreVersion,
    Evidence,
    MemoryItem,
    Message,
    Namespace,
    Observation,
    StateChange,
    Succession,
)
from retrieval.errors import Conflict, Invalid
from worlds.models import World

DERIVED_FIELDS = {
    "embedding",
    "embedding_model",
    "search_vector",
    "word_count",
    "rev",
    "embedded_rev",
    "embed_tries",
    "embed_after",
    "embed_error",
    "observations",
    "words_counted",
    "words_uncounted",
}
MODELS: list[type[models.Model]] = [
    Observation,
    MemoryItem,
    ClientVector,
    Evidence,
    Succession,
    StateChange,
    CoreVersion,
    CoreProposal,
    Message,
]


def export_namespace(namespace: Namespace) -> Iterator[str]:
    """Yield the lines of the file."""
    yield format_line([Namespace.objects.get(pk=namespace.pk)])
    for model in MODELS:
        for row in rows_of(model, namespace).order_by("pk").iterator(chunk_size=500):
            yield format_line([row])


def import_namespace(
    lines: Iterable[str], world: World, *, name: str = ""
) -> tuple[Namespace, Counter[str]]:
    """Read a file into `world`, under another `name` if given. Return the namespace and how many rows are new.

    Raise `Invalid` for a line that cannot be read and `Conflict` when rows of the file live in another namespace;
    nothing is written then.
    """
    counts: Counter[str] = Counter()
    namespace: Namespace | None = None
    with transaction.atomic():
        for number, line in enumerate(filter(str.strip, lines), start=1):
            row = parse_line(line, number)
            if namespace is None:
                namespace = insert_namespace(row, world, name, number)
            elif restore_row(row, namespace, number):
                counts[row._meta.model_name or ""] += 1
    if namespace is None:
        raise Invalid("The file is empty.")
    word_counts.recount(namespace)
    return namespace, counts


def format_line(rows: list[models.Model]) -> str:
    """One JSON object. Not Django's own JSON, which cuts times to milliseconds."""
    fields = [
        field.name
        for field in rows[0]._meta.get_fields()
        if field.concrete and field.name not in DERIVED_FIELDS
    ]
    (written,) = serializers.serialize("python", rows, fields=fields)
    if type(rows[0]) in RENUMBERED:
        del written["pk"]
    return orjson.dumps(written, default=str).decode()


def rows_of(model: type[models.Model], namespace: Namespace) -> "models.QuerySet[Any]":
    direct = any(field.name == "namespace" for field in model._meta.get_fields())
    through = {
        Evidence: "memory__namespace",
        Succession: "newer__namespace",
        StateChange: "memory__namespace",
    }
    return model._default_manager.filter(**{"namespace" if direct else through[model]: namespace})


def parse_line(line: str, number: int) -> models.Model:
    try:
        (read,) = serializers.deserialize("python", [orjson.loads(line)])
    except (DeserializationError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Invalid(f"Line {number} cannot be read: {error}") from error
    row: models.Model = read.object
    if type(row) not in {Namespace, *MODELS}:
        raise Invalid(
            f"Line {number} holds a {row._meta.model_name}, which is no part of a memory."
        )
    return row


def insert_namespace(row: models.Model, world: World, name: str, number: int) -> Namespace:
    if not isinstance(row, Namespace):
        raise Invalid(f"Line {number} must be the namespace.")
    known = Namespace.objects.select_for_update().filter(pk=row.pk).first()
    if known:
        return known
    row.world, row.name = world, name or row.name
    if Namespace.objects.filter(world=world, name=row.name).exists():
        raise Conflict(
            f"There is another memory called {row.name!r} here: import it under another name."
        )
    row.path = ""
    row.save_base(raw=True, force_insert=True)
    return row
