"""Notes that game masters make during play, and what becomes of them."""

from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from episodes.models import Session
from episodes.report_models import SessionNote
from retrieval.errors import Invalid
from worlds.lookup import find_by_id
from worlds.models import Campaign, Party, World

LONGEST_NOTE = 4_000
MOST_OFFERED = 200


def add_note(
    world: World,
    text: str,
    *,
    author: str,
    party: Party | None = None,
    session: Session | None = None,
    campaign: Campaign | None = None,
) -> SessionNote:
    """Store a note. It belongs to the party of its session, unless another is named. Raises
    `Invalid`."""
    text = text.replace("\x00", "").strip()
    if not text:
        raise Invalid(_("A note needs a text."))
    if len(text) > LONGEST_NOTE:
        raise Invalid(
            _("A note has at most %(count)s characters: make two of it.") % {"count": LONGEST_NOTE}
        )
    if party and session and session.party_id not in (None, party.pk):
        raise Invalid(_("The session is one of another party."))
    party = party or (session.party if session else None)
    if session:
        campaign = session.campaign
    elif party:
        campaign = party.campaign
    return SessionNote.objects.create(
        world=world, campaign=campaign, party=party, session=session, author=author, text=text
    )


def notes_of(world: World, campaign: Campaign | None = None) -> "QuerySet[SessionNote]":
    rows = SessionNote.objects.filter(world=world).select_related("campaign", "party", "session")
    return rows.filter(campaign=campaign) if campaign else rows


def find_note(world: World, pk: UUID, campaign: Campaign | None = None) -> SessionNote:
    """Raises `NotFound`."""
    return find_by_id(notes_of(world, campaign), pk, what="note")


def notes_for_report(session: Session, party: Party) -> list[SessionNote]:
    """The notes that no report has used: those of the session, and those of its party or of nobody
    that name no session. Oldest first."""
    for_party = Q(party=party) | Q(party=None)
    for_session = Q(session=session) | Q(session=None)
    rows = notes_of(session.world).filter(for_party, for_session, report=None)
    return list(rows.order_by("id")[:MOST_OFFERED])
