"""Replacements that a caller asks for: of the memories with the same key in the same scope, and of
those named."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias
from uuid import UUID

from memories.ledger.plan import Particulars, Plan
from memories.models import MemoryItem, Namespace
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind
from retrieval.errors import NotFound

KeyInScope: TypeAlias = tuple[str, str]


def add_requested_links(namespace: Namespace, plan: Plan) -> Plan:
    """Return `plan` with the links that its particulars ask for (`key`, `supersedes`); they take
    the place of links that rules found between the same memories. Raise `NotFound` for a memory to
    supersede that is not in use."""
    abouts = {new.id: new.about for new in plan.memories} | dict(plan.confirmed_abouts)
    asking = {pk: about for pk, about in abouts.items() if about.key or about.supersedes}
    if not asking:
        return plan
    rows = MemoryItem.objects.of(namespace).filter(state__in=plan.replaceable)
    _require_all(rows.in_bulk(_superseded_ids(asking.values())), asking)
    keys = [about.key for about in asking.values() if about.key]
    stored = rows.filter(metadata__key__in=keys).values_list(
        "pk", "metadata__key", "metadata__scope"
    )
    # What is said of one thing at once, in several memories, is no change of it.
    holders: dict[UUID, tuple[KeyInScope, Particulars | None]] = {
        pk: ((scope or "", key), None) for pk, key, scope in stored
    }
    requested: dict[tuple[UUID, UUID], MemoryLink] = {}
    for pk, about in asking.items():
        same_key = {
            holder
            for holder, (key, given) in holders.items()
            if key == (about.scope, about.key) and given is not about
        }
        for older in {*same_key, *about.supersedes} - {pk}:
            reason = f"the same key: {about.key}" if older in same_key else "named as replaced"
            requested[older, pk] = MemoryLink(older, pk, LinkKind.SUPERSEDES, reason)
        holders = {holder: kept for holder, kept in holders.items() if holder not in same_key}
        if about.key:
            holders[pk] = ((about.scope, about.key), about)
    others = [link for link in plan.links if (link.older, link.newer) not in requested]
    return replace(plan, links=[*others, *requested.values()])


def _superseded_ids(abouts: Iterable[Particulars]) -> set[UUID]:
    return {pk for about in abouts for pk in about.supersedes}


def _require_all(found: Mapping[UUID, MemoryItem], asking: Mapping[UUID, Particulars]) -> None:
    if missing := _superseded_ids(asking.values()) - set(found):
        raise NotFound(f"{min(missing)} is no memory in use, so nothing can supersede it.")
