"""REST endpoints for NPCs and the disposition ledger."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Body, Path, Query, Router, Status
from pydantic import Field

from episodes.api import name_of
from npcs import dispositions
from npcs import upsert as stored_npcs
from npcs.family import unknown_relatives
from npcs.field_links import unlinked_names
from npcs.gm_profile import read_gm_profile
from npcs.links import claims_of_npc
from npcs.lookup import find_npc
from npcs.models import NPC, DispositionChange, Secret
from npcs.profile_schemas import NPCProfile
from npcs.profiles import influences_on, present_change
from npcs.schemas import (
    ChangedDisposition,
    CorrectionIn,
    InfluenceList,
    NPCPage,
    NPCRow,
    NPCsIn,
    NPCUpsertOut,
    NPCWrite,
    PendingDispositionList,
    RulingIn,
)
from npcs.trash import restore_npcs, trash_npcs, trashed_npcs
from npcs.upsert import upsert_npc
from worlds.audience_names import require_audiences
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_by_id, find_in_trash, find_party
from worlds.rest import NeedsKey, check_match, expecting, require_gm, tag
from worlds.rest_history import (
    VersionList,
    VersionListQuery,
    find_version,
    versions_of,
)
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import set_location

router = Router(tags=["npcs"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
VersionId = Annotated[int, Path(ge=1, lt=2**31)]
PAGE = 100
SORTS = {"created": "id", "updated": "updated_at", "name": "name"}


class NPCListQuery(ListQuery):
    state: Annotated[
        Literal["live", "trash"], Field(description="trash: the deleted ones, for some weeks.")
    ] = "live"
    faction: Annotated[
        str | None, Field(max_length=200, description="Name, or slug of its lore entry.")
    ] = None


@router.put(
    "/npcs", operation_id="npc_upsert", summary="Create or update an NPC", response=NPCUpsertOut
)
def upsert(request: HttpRequest, response: HttpResponse, entry: Body[NPCWrite]) -> NPCUpsertOut:
    """Of an NPC that exists, only the fields that are sent change, and audiences to which it was
    revealed keep knowing it. `If-Match` or `version` refuses the change of an NPC that others have
    changed since it was read."""
    caller = require_gm(request)
    rows = NPC.objects.filter(world=caller.world, slug=entry.npc_id)
    stored = rows.values_list("version", flat=True).first()
    with expecting(request, stored, in_body=entry.version) as version:
        report = write_npc(caller, entry, version, warn=True)
    tag(response, report.version)
    if report.outcome == "created":
        set_location(response, f"world/npcs/{report.npc_id}")
    return report


@router.post(
    "/npcs/bulk",
    operation_id="npc_upsert_bulk",
    summary="Create or update many NPCs",
    response=BulkReport,
)
def upsert_bulk(request: HttpRequest, batch: Body[NPCsIn]) -> BulkReport:
    """Up to 500 NPCs, with a report on each and what a single write would warn of; `atomic` writes
    all or none."""
    caller = require_gm(request)
    # They may name each other.
    coming = [f"npc:{each.get('npc_id')}" for each in batch.npcs]
    write = partial(write_npc, caller, coming=coming)

    def warn(entry: NPCWrite) -> list[str]:
        return warnings_about(NPC.objects.get(world=caller.world, slug=entry.npc_id), entry)

    return write_all(batch.npcs, NPCWrite, write, atomic=batch.atomic, id_field="npc_id", warn=warn)


def write_npc(
    caller: Caller,
    entry: NPCWrite,
    expected_version: int | None = None,
    *,
    warn: bool = False,
    coming: Sequence[str] = (),
) -> NPCUpsertOut:
    """`coming` are the audiences of NPCs that are written with this one."""
    require_npcs_audiences(caller, entry, coming=[f"npc:{entry.npc_id}", *coming])
    npc, outcome = upsert_npc(
        caller.world, entry, expected_version=expected_version or entry.version
    )
    return NPCUpsertOut(
        id=str(npc.pk),
        npc_id=npc.slug,
        outcome=outcome,
        version=npc.version,
        warnings=warnings_about(npc, entry) if warn else [],
    )


def warnings_about(npc: NPC, entry: NPCWrite) -> list[str]:
    """Names that other things have as well, and names in the sent fields that fit nothing."""
    sent = entry.model_fields_set
    clashes = [str(claim) for claim in claims_of_npc(npc)]
    if entry.biography and npc.biography_id is None:
        text = _("biography: no entry, or more than one, is called “%(name)s”.")
        clashes.append(text % {"name": entry.biography})
    return [*clashes, *unlinked_names(npc, sent), *unknown_relatives(npc, sent)]


@router.get("/npcs", operation_id="npc_list", summary="List NPCs", response=NPCPage)
def list_npcs(
    request: HttpRequest, response: HttpResponse, query: Query[NPCListQuery]
) -> dict[str, Any]:
    """With what identifies them; the profile has the rest."""
    caller = require_gm(request)
    rows: Any = NPC.objects.in_world(caller.world)
    if query.state == "trash":
        rows = trashed_npcs(caller.world)
    if query.faction:
        rows = rows.filter(Q(faction__iexact=query.faction) | Q(faction_lore__slug=query.faction))
    page = page_of(request, response, rows, query, SORTS)
    return page.answer("npcs", partial(present_row, caller=caller))


def require_npcs_audiences(caller: Caller, entry: NPCWrite, *, coming: Sequence[str]) -> None:
    """Raise `Invalid` for new audiences of the NPC and of its secrets that the caller's world, or
    campaign, lacks."""
    sent = {*entry.known_to, *(name for secret in entry.secrets for name in secret.known_to)}
    if not sent:
        return
    rows = NPC.objects.filter(world=caller.world, slug=entry.npc_id)
    secrets = Secret.objects.filter(npc__in=rows).values_list("known_to", flat=True)
    stored = {name for names in rows.values_list("known_to", flat=True) for name in names}
    stored |= {name for names in secrets for name in names}
    require_audiences(caller.world, sent, stored={*stored, *coming}, only=caller.campaign)


def present_row(npc: NPC, caller: Caller) -> NPCRow:
    names = set(NPCRow.model_fields) - {"id", "npc_id"}
    values = {name: getattr(npc, name) for name in names}
    values["known_to"] = caller.shown_audiences(npc.known_to)
    return NPCRow(id=str(npc.pk), npc_id=npc.slug, **values)


@router.delete(
    "/npcs/{ref}",
    operation_id="npc_delete",
    summary="Move an NPC to the trash",
    response={204: None},
)
def delete_npc(request: HttpRequest, ref: Reference) -> Status[None]:
    """Nothing finds or shows it any more. It can be restored for 30 days, with its secrets and
    dispositions."""
    caller = require_gm(request)
    npc = find_npc(caller.world, ref)
    check_match(request, npc.version)
    trash_npcs([npc], by=name_of(caller))
    return Status(204, None)


@router.post(
    "/npcs/{ref}/restore",
    operation_id="npc_restore",
    summary="Restore an NPC from the trash",
    response=NPCRow,
)
def restore_npc(request: HttpRequest, response: HttpResponse, ref: Reference) -> NPCRow:
    """By its id or slug. 409 when another NPC has the slug now."""
    caller = require_gm(request)
    npc = restore_trashed_npc(caller, ref)
    tag(response, npc.version)
    return present_row(npc, caller)


def restore_trashed_npc(caller: Caller, reference: str) -> NPC:
    """Restore the NPC of this id or slug, the one deleted last. Raises `NotFound`, `Conflict`."""
    npc: NPC = find_in_trash(trashed_npcs(caller.world), reference, what="NPC")
    restore_npcs([npc], by=name_of(caller))
    return NPC.objects.get(pk=npc.pk)


@router.get("/npcs/{ref}", operation_id="npc_get", summary="Get an NPC", response=NPCProfile)
def get_npc(request: HttpRequest, response: HttpResponse, ref: Reference) -> NPCProfile:
    """The whole profile, as a game master reads it."""
    caller = require_gm(request)
    npc = find_npc(caller.world, ref, resembling=True)
    tag(response, npc.version)
    profile = read_gm_profile(caller, npc.slug, None)
    assert profile
    return profile


@router.get(
    "/npcs/{ref}/versions",
    operation_id="npc_version_list",
    summary="List the versions of an NPC",
    response=VersionList,
)
def list_versions(
    request: HttpRequest, ref: Reference, query: Query[VersionListQuery]
) -> VersionList:
    """The present one first. Every save that changed something has stored one."""
    npc = find_npc(require_gm(request).world, ref, resembling=True)
    return versions_of(npc, limit=query.limit)


@router.post(
    "/npcs/{ref}/versions/{version_id}/restore",
    operation_id="npc_version_restore",
    summary="Restore a version of an NPC",
    response=NPCRow,
)
def restore_version(
    request: HttpRequest, response: HttpResponse, ref: Reference, version_id: VersionId
) -> NPCRow:
    """Its fields are written as a new version; secrets, reveals and dispositions stay."""
    caller = require_gm(request)
    npc = find_npc(caller.world, ref)
    record = find_version(npc, version_id)
    with expecting(request, npc.version):
        stored_npcs.restore_npc(npc, record, reason=f"restored version {version_id}")
    npc = NPC.objects.get(pk=npc.pk)
    tag(response, npc.version)
    return present_row(npc, caller)


@router.get(
    "/npcs/{ref}/changes",
    operation_id="disposition_list",
    summary="List disposition changes of an NPC",
    response=InfluenceList,
)
def list_changes(
    request: HttpRequest,
    ref: Reference,
    party_id: Annotated[str | None, Query(max_length=200)] = None,
) -> dict[str, Any]:
    """The hundred latest changes, latest first, each with its state."""
    caller = require_gm(request)
    party = find_party(caller.world, party_id, caller.campaign) if party_id else None
    npc = find_npc(caller.world, ref, resembling=True)
    return {"changes": influences_on(npc, party, most=PAGE, campaign=caller.campaign)}


@router.post(
    "/npcs/{ref}/changes",
    operation_id="disposition_correct",
    summary="Correct a disposition",
    response=ChangedDisposition,
)
def correct(request: HttpRequest, ref: Reference, entry: Body[CorrectionIn]) -> ChangedDisposition:
    """A game master's change, with a reason. It counts at once."""
    caller = require_gm(request)
    correction = dispositions.correct(
        find_npc(caller.world, ref),
        find_party(caller.world, entry.party_id, caller.campaign),
        by=entry.delta,
        axis=entry.axis,
        reason=entry.reason,
        made_by=name_of(caller),
    )
    return present_entry(correction.pk)


@router.get(
    "/changes/pending",
    operation_id="disposition_pending",
    summary="List pending changes",
    response=PendingDispositionList,
)
def pending(request: HttpRequest) -> dict[str, Any]:
    """Large changes that nobody has ruled on, latest first."""
    rows = ledger_of(require_gm(request)).pending().select_related("party", "npc")
    rows = rows.annotate_episode()
    return {"changes": [present_change(entry) for entry in rows.order_by("-id")[:PAGE]]}


@router.post(
    "/changes/{int:entry_id}/rulings",
    operation_id="disposition_rule",
    summary="Rule on a change",
    response=ChangedDisposition,
)
def rule(request: HttpRequest, entry_id: int, ruling: Body[RulingIn]) -> ChangedDisposition:
    """Approve or reject a pending change; reverse one that counts, or restore it. Rulings are
    ledger entries too.
    """
    caller = require_gm(request)
    entry = find_by_id(ledger_of(caller).select_related("party"), entry_id, what="change")
    write_verdict = dispositions.VERDICTS[ruling.verdict]
    write_verdict(entry, reason=ruling.reason, made_by=name_of(caller))
    return present_entry(entry.pk)


def ledger_of(caller: Caller) -> Any:
    """The entries of the caller's campaign, or of its world when it has none."""
    entries = DispositionChange.objects.in_world(caller.world)
    return entries.filter(party__campaign=caller.campaign) if caller.campaign else entries


def present_entry(entry_id: int) -> ChangedDisposition:
    rows: Any = DispositionChange.objects.filter(pk=entry_id).with_ruling().annotate_episode()
    return present_change(rows.select_related("party", "npc").get())
