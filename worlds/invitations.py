"""Invitation links: who follows one becomes a member of a world, in a role.

The link holds 256 random bits; the database keeps their hash. A link ends when it expires, when it
was used as often as allowed, or when it is revoked.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from retrieval.errors import NotFound
from worlds.keys import digest
from worlds.models import Character, Invitation, Membership, Party, World
from worlds.roles import check_may_grant


def create_invitation(
    world: World,
    *,
    role: str,
    granted_by: str,
    invited_by: Any,
    days: int = 7,
    max_uses: int = 1,
    party: Party | None = None,
    character: Character | None = None,
    note: str = "",
) -> tuple[Invitation, str]:
    """Store an invitation; return it with its token, which cannot be shown again. `granted_by` is
    the role of whoever invites: raises `Forbidden` for one that may not grant `role`."""
    check_may_grant(granted_by, role)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        world=world,
        role=role,
        party=character.party if character else party,
        character=character,
        note=note,
        token_hash=digest(token),
        max_uses=max_uses,
        invited_by=invited_by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return invitation, token


def open_invitation(token: str) -> Invitation:
    """Return the invitation of that token; raises `NotFound` if it is unknown or has ended, without
    telling which."""
    rows = Invitation.objects.filter(token_hash=digest(token)).select_related(
        "world", "party", "character__party"
    )
    invitation = rows.first()
    if invitation is None or not is_open(invitation):
        raise NotFound(_("This invitation is not valid (any more)."))
    return invitation


def is_open(invitation: Invitation) -> bool:
    return (
        invitation.revoked_at is None
        and invitation.expires_at > timezone.now()
        and invitation.uses < invitation.max_uses
    )


@transaction.atomic
def accept_invitation(token: str, user: User) -> Membership:
    """Make `user` a member. Somebody who is a member already stays what they are, and the
    invitation is not used up."""
    invitation = open_invitation(token)
    # One use at a time: two people with a link for one would both see it unused otherwise.
    Invitation.objects.select_for_update().get(pk=invitation.pk)
    membership, is_new = Membership.objects.get_or_create(
        user=user,
        world=invitation.world,
        defaults=_rights_of(invitation),
    )
    if is_new:
        open_again = Invitation.objects.filter(pk=invitation.pk, uses__lt=F("max_uses"))
        if not open_again.filter(revoked_at=None).update(uses=F("uses") + 1):
            raise NotFound(_("This invitation is not valid (any more)."))
    return membership


def _rights_of(invitation: Invitation) -> dict[str, Any]:
    """The role, party and character of whoever follows the link. The party is the one in which the
    character plays now."""
    character = invitation.character
    party = character.party if character else invitation.party
    return {"role": invitation.role, "party": party, "character": character}


def revoke_invitation(invitation: Invitation) -> None:
    Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=timezone.now())
