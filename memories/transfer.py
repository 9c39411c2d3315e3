"""Export a namespace to JSON Lines and import it, without loss: every row with its history.

One JSON object per line, the namespace first. Vectors of the site's embedder are derived data and
left out; a client's vectors cannot be computed again and are included. An import can be repeated:
rows that exist are kept, and erased rows are not restored. Beside the memory that was exported, in
another world or under another name, an import is a copy with ids of its own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import orjson
from django.core import serializers
from django.core.serializers.base import DeserializationError
from django.db import models, transaction

from episodes.models import Episode
from memories.ledger.copied_ids import CopiedIds
from memories.ledger.restore import RENUMBERED, is_erased, restore_row
from memories.ledger.turns import link_namespace
from memories.ledger.word_counts import recount_words
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
    *("embedding", "embedding_model", "search_vector", "word_count", "rev", "embedded_rev"),
    *("embed_tries", "embed_after", "embed_error"),
    *("previous_turn", "surroundings"),
    *("observations", "words_counted", "words_uncounted"),
}
# In the order of their foreign keys: an import inserts what a row refers to before the row.
MODELS: dict[type[models.Model], str] = {
    Observation: "namespace",
    MemoryItem: "namespace",
    ClientVector: "namespace",
    Evidence: "memory__namespace",
    Succession: "newer__namespace",
    StateChange: "memory__namespace",
    CoreVersion: "namespace",
    CoreProposal: "namespace",
    Message: "namespace",
}
"""The exported models, with the path of each to its namespace."""


def export_namespace(namespace: Namespace) -> Iterator[str]:
    """Yield the lines of the file, without line breaks."""
    yield format_line(Namespace.objects.get(pk=namespace.pk))
    for model, path in MODELS.items():
        rows = model._default_manager.filter(**{path: namespace}).order_by("pk")
        yield from map(format_line, rows.iterator(chunk_size=500))


def format_line(row: models.Model) -> str:
    names = [field.name for field in row._meta.get_fields() if field.concrete]
    fields = [name for name in names if name not in DERIVED_FIELDS]
    (record,) = serializers.serialize("python", [row], fields=fields)
    if type(row) in RENUMBERED:
        del record["pk"]
    # Not Django's JSON serializer: that one truncates times to milliseconds.
    return orjson.dumps(record, default=str).decode()


def import_namespace(
    lines: Iterable[str], world: World, *, name: str = ""
) -> tuple[Namespace, Counter[str]]:
    """Import a file into `world`, under `name` if given; return the namespace and the new rows by
    kind.

    Raise `Invalid` for a line that cannot be read and `Conflict` for rows of another namespace;
    nothing is written then.
    """
    counts: Counter[str] = Counter()
    namespace: Namespace | None = None
    copied: CopiedIds | None = None
    with transaction.atomic():
        for number, line in enumerate(filter(str.strip, lines), start=1):
            row = parse_line(line, number)
            if namespace is None:
                exported = require_namespace(row, number)
                copied = copied_ids(exported, world, name)
                if copied:
                    copied.renumber(exported)
                namespace = get_or_insert_namespace(exported, world, name)
                continue
            if copied:
                # The tombstones are those of the original ids.
                if is_erased(row):
                    continue
                copied.renumber(row)
            if restore_row(without_foreign_episode(row, world), namespace, number):
                counts[row._meta.model_name or ""] += 1
    if namespace is None:
        raise Invalid("The file is empty.")
    # Links of turns and word statistics are derived data and not in the file.
    link_namespace(namespace)
    recount_words(namespace)
    return namespace, counts


def without_foreign_episode(row: models.Model, world: World) -> models.Model:
    """Return `row`; a memory of an episode that `world` does not have becomes one of its own."""
    if isinstance(row, MemoryItem) and row.episode_id:
        episodes = Episode.objects.filter(world=world, pk=row.episode_id)
        row.episode_id = row.episode_id if episodes.exists() else None
    return row


def parse_line(line: str, number: int) -> models.Model:
    try:
        (record,) = serializers.deserialize("python", [orjson.loads(line)])
    except (DeserializationError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Invalid(f"Line {number} cannot be read: {error}") from error
    row: models.Model = record.object
    if type(row) not in {Namespace, *MODELS}:
        raise Invalid(f"Line {number} holds a {row._meta.model_name}, not a row of a memory.")
    return row


def require_namespace(row: models.Model, number: int) -> Namespace:
    if not isinstance(row, Namespace):
        raise Invalid(f"Line {number} must be the namespace.")
    return row


def copied_ids(exported: Namespace, world: World, name: str) -> CopiedIds | None:
    """Return the ids of a copy, if the exported memory is still here under another name or in
    another world than the one to import to."""
    original = Namespace.objects.filter(pk=exported.pk).first()
    if original is None:
        return None
    place = (world.pk, name or original.name)
    is_original = place == (original.world_id, original.name)
    return None if is_original else CopiedIds("/".join(map(str, place)))


def get_or_insert_namespace(row: Namespace, world: World, name: str) -> Namespace:
    # Two imports of one file take turns.
    existing = Namespace.objects.select_for_update().filter(pk=row.pk).first()
    if existing:
        return existing
    row.world, row.name = world, name or row.name
    if Namespace.objects.filter(world=world, name=row.name).exists():
        raise Conflict(
            f"This world has another memory called {row.name!r}: import it under another name."
        )
    # The folder belongs to the exporting machine, and an NPC has one memory.
    row.path, row.npc, row.remembers_all = "", None, False
    row.save_base(raw=True, force_insert=True)
    return row
