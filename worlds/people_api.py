"""REST for the people and programs of a world: members, invitations and keys."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Body, Path, Query, Router, Status

from retrieval.errors import Invalid
from worlds import keys
from worlds.callers import Caller
from worlds.invitations import create_invitation, is_open, revoke_invitation
from worlds.key_presenter import present_key
from worlds.key_schemas import KeyIn, KeyList, KeyOut
from worlds.keys import Scope
from worlds.lookup import find_by_id, find_campaign, find_named_exactly, find_party
from worlds.members import change_member, remove_member
from worlds.models import ApiKey, Character, Invitation, Membership, Party
from worlds.rest import NeedsKey, require_gm, require_whole_world
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import (
    InvitationIn,
    InvitationList,
    InvitationOut,
    MemberChange,
    MemberList,
    MemberOut,
)

router = Router(tags=["people"], auth=NeedsKey(Scope.ADMIN))
MemberId = Annotated[int, Path(ge=1, lt=2**31)]
MOST_ROWS = 200
ROLE_OF_KEYS = Membership.Role.DESIGNER
"""As whom a key with the scope admin grants roles: designers alone make such a key, or whoever has
the shell (`worlds.roles.may_administer_by_key`)."""


@router.get("/members", operation_id="member_list", summary="List the members", response=MemberList)
def list_members(request: HttpRequest) -> MemberList:
    """The people who sign in on the site, by name."""
    rows = Membership.objects.filter(world=require_whole_world(request).world)
    rows = rows.select_related("user", "party", "character").order_by("user__username")[:MOST_ROWS]
    return MemberList(members=[present_member(row) for row in rows])


@router.get(
    "/members/{member_id}", operation_id="member_get", summary="Get a member", response=MemberOut
)
def get_member(request: HttpRequest, response: HttpResponse, member_id: MemberId) -> MemberOut:
    """Their name, role and, of a player, the party."""
    return with_tag(response, present_member(find_member(require_whole_world(request), member_id)))


@router.patch(
    "/members/{member_id}",
    operation_id="member_change",
    summary="Give a member another role",
    response=MemberOut,
)
def patch_member(
    request: HttpRequest, response: HttpResponse, member_id: MemberId, change: Body[MemberChange]
) -> MemberOut:
    """409 for the last designer or game master of the world."""
    caller = require_whole_world(request)
    row = find_member(caller, member_id)
    party = party_of(caller, change.role, change.party_id)
    character = character_of(caller, change.role, change.character_id)
    with require_unchanged(request, row, present_member):
        change_member(
            row, granted_by=ROLE_OF_KEYS, role=change.role, party=party, character=character
        )
    return with_tag(response, present_member(row))


@router.delete(
    "/members/{member_id}",
    operation_id="member_remove",
    summary="Remove a member",
    response={204: None},
)
def delete_member(request: HttpRequest, member_id: MemberId) -> Status[None]:
    """The account stays; the world is closed to it. 409 for the last designer or game master."""
    row = find_member(require_whole_world(request), member_id)
    with require_unchanged(request, row, present_member):
        remove_member(row)
    return Status(204, None)


@router.get(
    "/invitations",
    operation_id="invitation_list",
    summary="List open invitations",
    response=InvitationList,
)
def list_invitations(request: HttpRequest) -> InvitationList:
    rows = Invitation.objects.filter(world=require_whole_world(request).world)
    rows = rows.select_related("party", "character")
    latest = rows.order_by("-created_at", "-pk")[:MOST_ROWS]
    return InvitationList(invitations=[present_invitation(row) for row in latest if is_open(row)])


@router.post(
    "/invitations",
    operation_id="invitation_create",
    summary="Invite people",
    response={201: InvitationOut},
)
def post_invitation(
    request: HttpRequest, response: HttpResponse, entry: Body[InvitationIn]
) -> Status[InvitationOut]:
    """The answer holds the link, this once."""
    caller = require_whole_world(request)
    invitation, token = create_invitation(
        caller.world,
        role=entry.role,
        granted_by=ROLE_OF_KEYS,
        invited_by=None,
        days=entry.days,
        max_uses=entry.max_uses,
        party=party_of(caller, entry.role, entry.party_id),
        character=character_of(caller, entry.role, entry.character_id),
        note=entry.note,
    )
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    set_location(response, f"world/invitations/{invitation.pk}")
    return Status(201, with_tag(response, present_invitation(invitation, link)))


@router.get(
    "/invitations/{uuid:invitation_id}",
    operation_id="invitation_get",
    summary="Get an invitation",
    response=InvitationOut,
)
def get_invitation(
    request: HttpRequest, response: HttpResponse, invitation_id: UUID
) -> InvitationOut:
    """How often it was followed, and until when it works. Its link is not stored."""
    row = find_invitation(require_whole_world(request), invitation_id)
    return with_tag(response, present_invitation(row))


@router.delete(
    "/invitations/{uuid:invitation_id}",
    operation_id="invitation_revoke",
    summary="Revoke an invitation",
    response={204: None},
)
def delete_invitation(request: HttpRequest, invitation_id: UUID) -> Status[None]:
    """Its link works no more. Those who followed it stay members."""
    row = find_invitation(require_whole_world(request), invitation_id)
    with require_unchanged(request, row, present_invitation):
        revoke_invitation(row)
    return Status(204, None)


@router.get("/keys", operation_id="key_list", summary="List the keys", response=KeyList)
def list_keys(
    request: HttpRequest, valid: Annotated[bool, Query(description="Valid ones alone.")] = False
) -> KeyList:
    """Of the caller's world, the newest first; revoked ones too."""
    rows = keys_of(require_gm(request))
    latest = rows.order_by("-created_at", "-pk")[:MOST_ROWS]
    return KeyList(keys=[present_key(row) for row in latest if not valid or keys.is_valid(row)])


@router.post("/keys", operation_id="key_create", summary="Make a key", response={201: KeyOut})
def post_key(request: HttpRequest, response: HttpResponse, entry: Body[KeyIn]) -> Status[KeyOut]:
    """The answer holds the key's text, this once. A key that is bound to a campaign makes keys of
    that campaign alone; one that ends, or has a namespace, keys that end with it and have the same
    namespace, unless the body names an earlier end."""
    caller = require_gm(request)
    campaign = caller.campaign
    if entry.campaign_id:
        campaign = find_campaign(caller.world, entry.campaign_id, only=caller.campaign)
    audience = caller.as_audience(entry.audience).audience
    require_no_more_than_own(caller, entry)
    key, text = keys.create_key(
        caller.world,
        name=entry.name,
        scopes=entry.scopes,
        audience=audience,
        campaign=campaign,
        namespace=entry.namespace or own_namespace(caller),
        origins=entry.origins,
        calls_per_minute=entry.calls_per_minute,
        expires_at=entry.expires_at or own_end(caller),
    )
    set_location(response, f"world/keys/{key.pk}")
    return Status(201, with_tag(response, present_key(key, text)))


@router.get("/keys/{uuid:key_id}", operation_id="key_get", summary="Get a key", response=KeyOut)
def get_key(request: HttpRequest, response: HttpResponse, key_id: UUID) -> KeyOut:
    """Without its text, which is not stored."""
    return with_tag(response, present_key(find_key(require_gm(request), key_id)))


@router.delete(
    "/keys/{uuid:key_id}",
    operation_id="key_revoke",
    summary="Revoke a key",
    response={204: None},
)
def delete_key(request: HttpRequest, key_id: UUID) -> Status[None]:
    """At once, in every process. The list keeps it, marked as revoked."""
    key = find_key(require_gm(request), key_id)
    with require_unchanged(request, key, present_key):
        keys.revoke(key)
    return Status(204, None)


def require_no_more_than_own(caller: Caller, entry: KeyIn) -> None:
    """Raise `Invalid` for a key that would use other agents' memory than the caller's own key, or
    outlast it. What an agent remembers belongs to no campaign: a key that is bound to one without
    an agent makes none with one."""
    namespace = own_namespace(caller)
    if caller.campaign and not namespace and entry.namespace:
        raise Invalid("This key is for a campaign and for no agent: leave namespace out.")
    if namespace and entry.namespace not in ("", namespace):
        raise Invalid(f"This key is for the agent {namespace} alone: leave namespace out.")
    ends = own_end(caller)
    if ends and entry.expires_at and entry.expires_at > ends:
        raise Invalid(f"This key expires at {ends.isoformat()}: the new one must not outlast it.")


def own_namespace(caller: Caller) -> str:
    return caller.key.namespace if caller.key else ""


def own_end(caller: Caller) -> datetime | None:
    return caller.key.expires_at if caller.key else None


def keys_of(caller: Caller) -> "QuerySet[ApiKey]":
    """The keys that the caller may see and revoke: of its campaign if its key is bound to one."""
    rows = ApiKey.objects.filter(world=caller.world).select_related("campaign")
    return rows.filter(campaign=caller.campaign) if caller.campaign else rows


def find_key(caller: Caller, key_id: UUID) -> ApiKey:
    return find_by_id(keys_of(caller), key_id, what="key")


def find_invitation(caller: Caller, invitation_id: UUID) -> Invitation:
    rows = Invitation.objects.filter(world=caller.world).select_related("party", "character")
    return find_by_id(rows, invitation_id, what="invitation")


def find_member(caller: Caller, member_id: int) -> Membership:
    rows = Membership.objects.filter(world=caller.world)
    rows = rows.select_related("user", "party", "character", "world")
    return find_by_id(rows, member_id, what="member")


def party_of(caller: Caller, role: str, reference: str | None) -> Party | None:
    """Return the party of a player. Raises `Invalid` for another role with a party."""
    if reference is None:
        return None
    if role != Membership.Role.PLAYER:
        raise Invalid("Only players belong to a party: leave out party_id.")
    return find_party(caller.world, reference)


def character_of(caller: Caller, role: str, reference: str | None) -> Character | None:
    """Return the character of a player. Raises `Invalid` for another role with a character."""
    if reference is None:
        return None
    if role != Membership.Role.PLAYER:
        raise Invalid("Only players have a character: leave out character_id.")
    rows = Character.objects.filter(world=caller.world).select_related("party")
    return find_named_exactly(rows, reference, what="character")


def present_member(row: Membership) -> MemberOut:
    return MemberOut(
        id=row.pk,
        user=row.user.get_username(),
        role=row.role,
        party_id=row.party.slug if row.party else None,
        character_id=row.character.slug if row.character else None,
    )


def present_invitation(row: Invitation, link: str | None = None) -> InvitationOut:
    return InvitationOut(
        id=row.pk,
        role=row.role,
        party_id=row.party.slug if row.party else None,
        character_id=row.character.slug if row.character else None,
        note=row.note,
        max_uses=row.max_uses,
        uses=row.uses,
        expires_at=row.expires_at,
        link=link,
    )
