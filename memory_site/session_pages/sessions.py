"""Sessions made, dated and ordered on the site."""

from typing import Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from episodes.models import Session
from episodes.scenes import upsert_session
from episodes.schemas import SessionIn
from retrieval.errors import Invalid
from retrieval.models import uuid7
from worlds.audiences import Visibility
from worlds.day_field import DayField, leave_out_label, use_calendar
from worlds.models import Campaign
from worlds.pages import Viewer

ALL_PARTIES = "all:"
DAY_FORMAT = "%Y-%m-%dT%H:%M"


class SessionForm(forms.Form):
    who = forms.ChoiceField(label=_("Who plays"))
    title = forms.CharField(label=_("Title"), max_length=200, required=False)
    number = forms.IntegerField(label=_("Number"), min_value=0, max_value=100_000)
    played_at = forms.DateTimeField(
        label=_("Played on"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=DAY_FORMAT),
        help_text=_("In UTC."),
    )
    in_world_label = forms.CharField(label=_("In-world date"), max_length=120, required=False)
    in_world_at = DayField(label=_("In-world day"), required=False)
    visibility = forms.ChoiceField(
        label=_("Who knows of it"),
        choices=[
            (Visibility.REVEALED, _("The party")),
            (Visibility.PUBLIC, _("Everybody")),
            (Visibility.GM, _("Game masters only")),
        ],
    )

    def __init__(self, *args: Any, viewer: Viewer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.viewer = viewer
        use_calendar(self, viewer.world)
        leave_out_label(self)
        who: Any = self.fields["who"]
        who.choices = [(party.slug, party.name) for party in viewer.parties]
        who.choices += [
            (f"{ALL_PARTIES}{each.slug}", _("All parties of %(name)s") % {"name": each.name})
            for each in viewer.campaigns
        ]

    def save(self, session: Session | None) -> Session:
        """Write the session; its id, its arc and what an engine set beside stay. Raises
        `Invalid`."""
        data = dict(self.cleaned_data)
        who = data.pop("who")
        is_for_all = who.startswith(ALL_PARTIES)
        campaign = who.removeprefix(ALL_PARTIES) if is_for_all else None
        arc = session.arc if session else None
        entry = SessionIn(
            session_id=session.external_id if session else f"session-{uuid7().hex[-12:]}",
            party_id=None if is_for_all else who,
            campaign_id=campaign,
            arc_id=arc.external_id if arc else None,
            **data,
        )
        return upsert_session(self.viewer.world, entry)


def initial_of(session: Session) -> dict[str, Any]:
    names = ("title", "number", "played_at", "in_world_label", "in_world_at", "visibility")
    party = session.party
    who = party.slug if party else f"{ALL_PARTIES}{session.campaign.slug}"
    return {name: getattr(session, name) for name in names} | {"who": who}


def first_values(viewer: Viewer) -> dict[str, Any]:
    """Of a new session: the next number, and the party that played last."""
    rows = Session.objects.in_world(viewer.world).select_related("party", "campaign")
    if viewer.campaign:
        rows = rows.filter(campaign=viewer.campaign)
    last = rows.latest_first().first()
    who = initial_of(last)["who"] if last else ""
    number = last.number + 1 if last else 1
    return {"who": who, "number": number, "visibility": Visibility.REVEALED}


@transaction.atomic
def move_session(session: Session, *, later: bool) -> bool:
    """Swap the session with the one before or after it in its campaign; return False at the end.
    Sessions of equal numbers are numbered anew from the first of them on."""
    campaign = Campaign.objects.select_for_update().get(pk=session.campaign_id)
    rows = list(Session.objects.filter(campaign=campaign).order_by("number", "created_at", "pk"))
    place = rows.index(session)
    other = place + (1 if later else -1)
    if not 0 <= other < len(rows):
        return False
    numbers = [row.number for row in rows]
    for index in range(1, len(numbers)):
        numbers[index] = max(numbers[index], numbers[index - 1] + 1)
    if numbers[-1] > 100_000:
        raise Invalid(gettext("The numbers of the sessions are too large to be ordered."))
    rows[place], rows[other] = rows[other], rows[place]
    changed = []
    for row, number in zip(rows, numbers, strict=True):
        if row.number != number:
            row.number = number
            changed.append(row)
    for row in changed:
        row.save(update_fields=["number", "updated_at"])
    return True
