"""Edit, merge and split memories. The old ones are kept, linked and restorable."""

from collections import ChainMap
from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from memories.curation.lifecycle import find_memory
from memories.curation.withdrawal import require_still_known
from memories.ledger.commit import (
    REVIEWED_MAKERS,
    change_state,
    commit,
    namespace_transaction,
)
from memories.ledger.plan import OBSERVED_FIELDS, NewMemory, Particulars, Plan
from memories.models import MemoryItem, Namespace, Succession
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind, Maker, State, name_of_state
from retrieval.errors import Conflict, Invalid
from retrieval.text import storage_flaw

INHERITED_FIELDS = (
    *(*OBSERVED_FIELDS, "context", "bucket", "importance", "expires_at", "turn_order"),
    *("episode_id", "forgotten_from"),
)
REPLACEABLE = frozenset({State.ACTIVE, State.PENDING})
MAX_CHARACTERS = 100_000


def edit(
    namespace: Namespace,
    memory_id: UUID | str,
    text: str,
    *,
    by: str,
    reason: str = "",
    made_by: Maker = Maker.PERSON,
) -> MemoryItem:
    """Reword a memory; the former wording is superseded. Where what `made_by` makes is reviewed,
    the new wording waits for approval; a former one that waits, too, is archived."""
    (edited,) = replace_memories(
        namespace,
        [memory_id],
        [text],
        LinkKind.SUPERSEDES,
        by,
        reason or "edited",
        made_by=made_by,
    )
    return edited


def merge(
    namespace: Namespace, memory_ids: Sequence[UUID | str], text: str, *, by: str, reason: str = ""
) -> MemoryItem:
    """Make one memory of several."""
    if len({str(memory_id) for memory_id in memory_ids}) < 2:
        raise Invalid(_("A merge needs at least two different memories."))
    return replace_memories(namespace, memory_ids, [text], LinkKind.MERGED, by, reason or "merged")[
        0
    ]


def split(
    namespace: Namespace, memory_id: UUID | str, texts: Sequence[str], *, by: str, reason: str = ""
) -> list[MemoryItem]:
    """Make several memories of one."""
    if len(texts) < 2:
        raise Invalid(_("A split needs at least two texts."))
    return replace_memories(namespace, [memory_id], texts, LinkKind.SPLIT, by, reason or "split")


def undo(namespace: Namespace, memory_id: UUID | str, *, by: str) -> list[MemoryItem]:
    """Take back what made this memory: those it replaced come back into use, and it leaves it."""
    with namespace_transaction(namespace):
        memory = find_memory(namespace, memory_id)
        links = Succession.objects.filter(newer=memory, in_effect=True).exclude(
            kind=LinkKind.FORMERLY
        )
        older = list(links.values_list("older_id", flat=True))
        if not older or memory.state != State.ACTIVE:
            raise Conflict(_("This memory replaced nothing that could come back."))
        for one in MemoryItem.objects.filter(pk__in=older).without_index_columns():
            require_still_known(one)
        # Undoing one part of a split takes back the other parts with it.
        siblings = Succession.objects.filter(older__in=older, kind=LinkKind.SPLIT, in_effect=True)
        leaving = {memory.pk, *siblings.values_list("newer_id", flat=True)}
        change_state(older, to=State.ACTIVE, by=by, reason="undone")
        change_state(leaving, to=State.SUPERSEDED, by=by, reason="undone")
        Succession.objects.filter(older__in=older, newer__in=leaving).update(
            in_effect=False, undone_at=timezone.now()
        )
    return list(MemoryItem.objects.filter(pk__in=older).without_index_columns())


def replace_memories(
    namespace: Namespace,
    old_ids: Sequence[UUID | str],
    texts: Sequence[str],
    kind: LinkKind,
    by: str,
    reason: str,
    *,
    made_by: Maker = Maker.PERSON,
) -> list[MemoryItem]:
    """Let memories with `texts` take the place of the old ones. They keep the particulars of the
    first of these, and the metadata of all; where keys are equal, that of the first."""
    texts = [_require_memory_text(text) for text in texts]
    with namespace_transaction(namespace) as namespace:
        old = [find_memory(namespace, memory_id) for memory_id in old_ids]
        if unusable := [memory for memory in old if memory.state not in REPLACEABLE]:
            raise Conflict(
                _("%(pk)s is %(state)s already: restore it first.")
                % {"pk": unusable[0].pk, "state": name_of_state(unusable[0].state)}
            )
        metadata = dict(ChainMap(*(memory.metadata for memory in old)))
        inherited = {name: getattr(old[0], name) for name in INHERITED_FIELDS}
        if old[0].episode_id:
            # Not a turn: the place and time of an episode are no part of a conversation.
            inherited["label"] = inherited.pop("context")
        about = Particulars(**inherited, metadata=metadata)
        memories = [NewMemory(text, made_by, about, language=old[0].language) for text in texts]
        links = [MemoryLink(one.pk, new.id, kind, reason) for new in memories for one in old]
        plan = Plan(
            memories=memories,
            links=links,
            by=by,
            reason=reason,
            replace_reason=reason,
            replaceable=REPLACEABLE,
        )
        result = commit(namespace, plan)
        if made_by in REVIEWED_MAKERS and result.state == State.PENDING:
            waiting = [one.pk for one in old if one.state == State.PENDING]
            change_state(waiting, to=State.ARCHIVED, by=by, reason=reason)
        ids = result.ids
        rows = MemoryItem.objects.without_index_columns().in_bulk(ids)
    return [rows[pk] for pk in ids]


def _require_memory_text(text: str) -> str:
    if storage_flaw(text):
        raise Invalid(_("This text cannot be stored: it has a character that is none."))
    if not text.strip():
        raise Invalid(_("A memory needs a text: reject or archive it instead."))
    if len(text) > MAX_CHARACTERS:
        raise Invalid(_("A memory has at most %(count)s characters.") % {"count": MAX_CHARACTERS})
    return text.strip()
