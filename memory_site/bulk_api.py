"""REST: delete or restore many rows of one kind, with a report on each."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Body, Router
from pydantic import Field

from art.api import find_callers_card
from episodes.session_api import delete_unless_used, find_callers_scene, find_callers_session
from knowledge.api import find_changeable_rule
from knowledge.list_api import (
    delete_lore_entry,
    find_deletable_entry,
    restore_lore_entry,
)
from npcs.api import restore_trashed_npc
from npcs.lookup import find_npc
from npcs.trash import trash_npcs
from worlds.base_schemas import StrictModel
from worlds.bulk import BulkReport, change_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, require_gm

router = Router(tags=["world"], auth=NeedsKey(Scope.WORLD_WRITE))
MOST_ROWS = 500
Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(
        min_length=1,
        max_length=MOST_ROWS,
        description="As the single operation takes them: slugs or ids.",
        examples=[["tin-heron", "span-chest"]],
    ),
]


class RowsToDelete(StrictModel):
    kind: Literal["lore", "rule", "npc", "session", "scene", "art"]
    ids: Ids
    atomic: bool = Field(default=False, description="All or nothing.")


class RowsToRestore(StrictModel):
    kind: Literal["lore", "npc"]
    ids: Ids
    atomic: bool = Field(default=False, description="All or nothing.")


def delete_npc(caller: Caller, reference: str) -> None:
    trash_npcs([find_npc(caller.world, reference)], by=str(caller.key or "site")[:150])


def delete_lore(caller: Caller, reference: str) -> None:
    delete_lore_entry(caller, find_deletable_entry(caller, reference))


DELETIONS: dict[str, Callable[[Caller, str], Any]] = {
    "lore": delete_lore,
    "npc": delete_npc,
    "rule": lambda caller, ref: find_changeable_rule(caller, ref).delete(),
    "session": lambda caller, ref: delete_unless_used(find_callers_session(caller, ref)),
    "scene": lambda caller, ref: delete_unless_used(find_callers_scene(caller, ref)),
    "art": lambda caller, ref: find_callers_card(caller, ref).delete(),
}
RESTORATIONS: dict[str, Callable[[Caller, str], Any]] = {
    "lore": restore_lore_entry,
    "npc": restore_trashed_npc,
}


@router.post(
    "/bulk/delete", operation_id="bulk_delete", summary="Delete many rows", response=BulkReport
)
def bulk_delete(request: HttpRequest, rows: Body[RowsToDelete]) -> BulkReport:
    """Each as the single operation does: lore and NPCs go to the trash, a session or scene that
    something belongs to is refused, the others are deleted for good."""
    caller = require_gm(request)
    delete = DELETIONS[rows.kind]
    return change_all(rows.ids, lambda ref: delete(caller, ref), "deleted", atomic=rows.atomic)


@router.post(
    "/bulk/restore",
    operation_id="bulk_restore",
    summary="Restore many rows from the trash",
    response=BulkReport,
)
def bulk_restore(request: HttpRequest, rows: Body[RowsToRestore]) -> BulkReport:
    caller = require_gm(request)
    restore = RESTORATIONS[rows.kind]
    return change_all(rows.ids, lambda ref: restore(caller, ref), "restored", atomic=rows.atomic)
