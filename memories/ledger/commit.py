"""The one commit: every memory is written by it, in one transaction, under the namespace's lock.

A single memory is a batch of one. Changes of state are here too; `rows` has the insertions.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memories.ledger.plan import Plan
from memories.ledger.requested_links import add_requested_links
from memories.ledger.rows import (
    log_states,
    write_evidence,
    write_links,
    write_memories,
    write_observations,
)
from memories.ledger.turns import link_changed_turns
from memories.ledger.unsupported_insights import flag_insights_of
from memories.ledger.vector_indexes import index_if_large
from memories.ledger.word_counts import recount_words
from memories.models import MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.states import LinkKind, Maker, State
from retrieval.errors import NotFound
from worlds.idempotency import note_commit

REVIEWED_MAKERS = frozenset({Maker.MODEL, Maker.CONTENTS, Maker.RULES, Maker.TOOL})
"""Makers whose memories wait for approval under `Review.ALL`. What a person wrote, imported or
ordered to be rebuilt does not."""


RECOUNT_SHARE, RECOUNT_LEAST = 0.2, 50
"""Words are counted again when so many memories, as a share or in all, have come since the last
count: BM25 has to know which words are rare."""


class LedgerConflict(Exception):
    """Another writer changed what the plan rests on: plan again."""


@dataclass(frozen=True)
class CommitResult:
    """Ids in the order of the plan. `superseded` and `formerly` are older memories whose link is
    in effect."""

    ids: list[UUID] = field(default_factory=list)
    superseded: list[UUID] = field(default_factory=list)
    confirmed: list[UUID] = field(default_factory=list)
    formerly: list[UUID] = field(default_factory=list)
    observations: list[UUID] = field(default_factory=list)
    state: State = State.ACTIVE


@contextmanager
def namespace_transaction(namespace: Namespace) -> Iterator[Namespace]:
    """Open a transaction in which the caller alone writes this memory; yield the locked, fresh
    row."""
    with transaction.atomic():
        yield lock_namespace(namespace)


def lock_namespace(namespace: Namespace) -> Namespace:
    """Lock the namespace's row until the transaction ends. Raise `NotFound` if it was deleted."""
    # No writer reads when the namespace was created.
    rows = Namespace.objects.select_for_update().defer("created_at")
    row = rows.filter(pk=namespace.pk).first()
    if row is None:
        raise NotFound("This memory was deleted.")
    return row


def lock_namespaces(ids: Collection[UUID]) -> None:
    """Lock the rows of these namespaces, in one order for all writers, until the transaction
    ends."""
    rows = Namespace.objects.select_for_update().filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk", flat=True))


def commit(namespace: Namespace, plan: Plan) -> CommitResult:
    """Write `plan` as a whole, or raise `LedgerConflict` and write nothing.

    Call it inside `namespace_transaction` when a check and the commit, or several commits, belong
    together.
    """
    with namespace_transaction(namespace) as namespace:
        machine_state = reviewed_state(namespace)
        plan = add_requested_links(namespace, plan)
        _check_unchanged(namespace, plan, machine_state)
        states = {
            memory.id: memory.state
            or (machine_state if memory.made_by in REVIEWED_MAKERS else State.ACTIVE)
            for memory in plan.memories
        }
        # A link of a memory that waits for approval takes effect when it is approved.
        effective = [
            link for link in plan.links if states.get(link.newer, State.ACTIVE) == State.ACTIVE
        ]
        superseded_ids = dict.fromkeys(
            link.older for link in effective if link.kind != LinkKind.FORMERLY
        )
        write_observations(namespace, plan)
        write_memories(namespace, plan, states, superseded_ids=set(superseded_ids))
        write_evidence(plan)
        write_links(plan, in_effect=set(effective))
        stored_ids = [pk for pk in superseded_ids if pk not in states]
        change_state(stored_ids, to=State.SUPERSEDED, by=plan.by, reason=plan.replace_reason)
        # Those at the end of their conversation are linked already.
        replacing_turns = [new.id for new in plan.memories if new.about.turn_order is not None]
        link_changed_turns(MemoryItem, replacing_turns)
        _update_counters(namespace, plan)
        note_commit()
    formerly = dict.fromkeys(link.older for link in effective if link.kind == LinkKind.FORMERLY)
    return CommitResult(
        ids=list(states),
        superseded=list(superseded_ids),
        confirmed=list(plan.confirmations),
        formerly=list(formerly),
        observations=[observation.id for observation in plan.observations],
        state=machine_state,
    )


def reviewed_state(namespace: Namespace) -> State:
    """The state in which a machine's memories begin."""
    return State.PENDING if namespace.review == Review.ALL else State.ACTIVE


def _check_unchanged(namespace: Namespace, plan: Plan, machine_state: State) -> None:
    """Lock the stored memories of the plan; raise `LedgerConflict` unless all are still as it
    expects."""
    if plan.assumed_state not in (None, machine_state):
        raise LedgerConflict("the review policy changed")
    if ids := plan.stored_ids:
        rows = MemoryItem.objects.of(namespace).filter(pk__in=ids, state__in=plan.replaceable)
        # Always in the same order: two writers that lock the same rows must not deadlock.
        if len(rows.order_by("pk").select_for_update().values_list("pk", flat=True)) < len(ids):
            raise LedgerConflict("a memory is no longer in use")


def _update_counters(namespace: Namespace, plan: Plan) -> None:
    """Count the write on the locked row; when enough words are uncounted, count them after the
    commit."""
    namespace.revision += 1
    namespace.words_uncounted += len(plan.memories)
    namespace.save(update_fields=["revision", "last_timestamp_ms", "words_uncounted"])
    enough = max(RECOUNT_LEAST, RECOUNT_SHARE * namespace.words_counted)
    if plan.memories and namespace.words_uncounted >= enough:
        transaction.on_commit(partial(recount_words, namespace))
        transaction.on_commit(partial(index_if_large, namespace))


def bump_revision(namespace: Namespace) -> None:
    """Note a change of existing memories on the locked row: caches compare revisions."""
    namespace.revision += 1
    namespace.save(update_fields=["revision"])


def change_state(
    ids: Collection[UUID], *, to: State, by: str = "", reason: str = "", at: datetime | None = None
) -> int:
    """Put the memories into another state; return how many were in a different one. Insights that
    rest on memories which leave use wait for a review. Call within a transaction."""
    if not ids:
        return 0
    elsewhere = MemoryItem.objects.filter(pk__in=ids).exclude(state=to).order_by("pk")
    changing = list(elsewhere.select_for_update().values_list("pk", flat=True))
    MemoryItem.objects.filter(pk__in=changing).update(state=to, updated_at=timezone.now())
    log_states([(pk, to, reason) for pk in changing], by=by, at=at)
    link_changed_turns(MemoryItem, changing)
    if to != State.ACTIVE:
        flag_insights_of(changing)
    return len(changing)
