"""Putting memories in other words: edit, merge, split. The old ones are kept, linked and restorable."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memories import core
from memories.curation.lifecycle import find
from memories.ledger import state_changes
from memories.ledger.single import next_timestamps
from memories.ledger.vectors import store_vectors
from memories.models import Evidence, MemoryItem, Namespace, Succession
from memories.states import ROWS_AT_ONCE, Link, Maker, State
from memories.storable import flaw
from retrieval.errors import Conflict, Invalid, NotFound

KEPT = (
    "bucket",
    "importance",
    "source",
    "subject",
    "speaker",
    "context",
    "event_at",
    "in_world_at",
    "in_world_label",
    "expires_at",
    "language",
)
REPLACEABLE = {State.ACTIVE, State.PENDING}
LONGEST = 100_000


def edit(
    namespace: Namespace, memory_id: UUID | str, text: str, *, by: str, reason: str = ""
) -> MemoryItem:
    """Say a memory in other words; the former wording is superseded."""
    return _one(
        _derive(namespace, [memory_id], [text], Link.SUPERSEDES, by=by, reason=reason or "edited")
    )


def merge(
    namespace: Namespace, memory_ids: Sequence[UUID | str], text: str, *, by: str, reason: str = ""
) -> MemoryItem:
    """Make one memory of several."""
    if len({str(memory_id) for memory_id in memory_ids}) < 2:
        raise Invalid("A merge needs at least two different memories.")
    return _one(
        _derive(namespace, memory_ids, [text], Link.MERGED, by=by, reason=reason or "merged")
    )


def split(
    namespace: Namespace, memory_id: UUID | str, texts: Sequence[str], *, by: str, reason: str = ""
) -> list[MemoryItem]:
    """Make several memories of one."""
    if len(texts) < 2:
        raise Invalid("A split needs at least two texts.")
    return _derive(namespace, [memory_id], texts, Link.SPLIT, by=by, reason=reason or "split")


def undo(namespace: Namespace, memory_id: UUID | str, *, by: str) -> list[MemoryItem]:
    """Take back what made this memory: those it replaced come back into use, and it leaves it."""
    with transaction.atomic():
        core.locked(namespace)
        memory = find(namespace, memory_id)
        links = Succession.objects.filter(newer=memory, in_effect=True).exclude(kind=Link.FORMERLY)
        older = list(links.values_list("older_id", flat=True))
        if not older or memory.state != State.ACTIVE:
            raise Conflict("This memory replaced nothing that could come back.")
        siblings = Succession.objects.filter(older__in=older, kind=Link.SPLIT, in_effect=True)
        leaving = {memory.pk, *siblings.values_list("newer_id", flat=True)}
        state_changes.move(older, to=State.ACTIVE, by=by, reason="undone")
        state_changes.move(leaving, to=State.SUPERSEDED, by=by, reason="undone")
        Succession.objects.filter(older__in=older, newer__in=leaving).update(
            in_effect=False, undone_at=timezone.now()
        )
    return list(MemoryItem.objects.filter(pk__in=older).defer("embedding", "search_vector"))


def _derive(
    namespace: Namespace,
    old_ids: Sequence[UUID | str],
    texts: Sequence[str],
    kind: Link,
    *,
    by: str,
    reason: str,
) -> list[MemoryItem]:
    wanted = [_checked(text) for text in texts]
    with transaction.atomic():
        locked = core.locked(namespace)
        old = [find(namespace, memory_id) for memory_id in old_ids]
        if gone := [memory for memory in old if memory.state not in REPLACEABLE]:
            raise Conflict(f"{gone[0].pk} is {gone[0].state} already: restore it first.")
        made = _made(locked, old[0], wanted)
        store_vectors(locked, made, None, reason=reason)
        _inherit(made, old, kind, reason)
        state_changes.move([memory.pk for memory in old], to=State.SUPERSEDED, by=by, reason=reason)
    return made


def _made(namespace: Namespace, like: MemoryItem, texts: Sequence[str]) -> list[MemoryItem]:
    stamps = next_timestamps(namespace, len(texts))
    shared = {name: getattr(like, name) for name in KEPT}
    made = [
        MemoryItem(
            namespace=namespace, text=text, timestamp_ms=stamp, made_by=Maker.PERSON, **shared
        )
        for text, stamp in zip(texts, stamps, strict=True)
    ]
    namespace.last_timestamp_ms = stamps[-1]
    namespace.revision += 1
    namespace.save(update_fields=["last_timestamp_ms", "revision"])
    return made


def _inherit(made: list[MemoryItem], old: list[MemoryItem], kind: Link, reason: str) -> None:
    """What the old rested on, the new rest on; what spoke against the old speaks against the new."""
    seen = set(Evidence.objects.filter(memory__in=old).values_list("observation_id", flat=True))
    Evidence.objects.bulk_create(
        [Evidence(memory=item, observation_id=pk) for item in made for pk in sorted(seen)],
        batch_size=ROWS_AT_ONCE,
    )
    links = [
        Succession(older=former, newer=item, kind=kind, reason=reason[:300])
        for item in made
        for former in old
    ]
    Succession.objects.bulk_create(links, batch_size=ROWS_AT_ONCE)


def _checked(text: str) -> str:
    if wrong := flaw(text):
        raise Invalid(f"The text {wrong}.")
    if not text.strip():
        raise Invalid("A memory needs a text: reject or archive it instead.")
    if len(text) > LONGEST:
        raise Invalid(f"A memory has at most {LONGEST} characters.")
    return text.strip()


def _one(made: list[MemoryItem]) -> MemoryItem:
    if not made:
        raise NotFound("There is no such memory.")
    return made[0]
