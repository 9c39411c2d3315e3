"""A recap to hand on: one cut at a time, copied, printed, or sent to a channel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.models import Session
from episodes.recaps import get_recap
from memory_site.session_pages.episode_pages import explain, session_of
from retrieval.errors import Problem
from worlds.audiences import GM, Audience, audience_of_party
from worlds.models import Party
from worlds.pages import Viewer, gm_page, render_page
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhooks.hand_sent import create_channel, may_receive, send_text

LATEST_SENT = 5


@dataclass(frozen=True)
class Cut:
    """A recap of a session for one audience, as text. `name` is empty for game masters."""

    audience: Audience
    name: str
    text: str


def cut_of(viewer: Viewer, session: Session, slug: str) -> Cut:
    """The cut for the party `slug`, or without one for game masters. Raises Http404."""
    party = viewer.party(slug)
    if party and party.campaign_id != session.campaign_id:
        raise Http404
    audience = audience_of_party(party) if party else GM
    recap = get_recap(session, audience)
    body = " ".join(line.text for line in recap.sentences)
    # A number of days would tell the reader nothing.
    date = viewer.when(session) if viewer.calendar else session.in_world_label
    heading = " · ".join(part for part in (str(session), date) if part)
    if party and not Session.objects.visible_to(audience).filter(pk=session.pk).exists():
        heading = date  # the party does not know its title
    text = f"{heading}\n\n{body}".strip() if body else ""
    return Cut(audience, party.name if party else "", text)


@gm_page
def recap_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    session = session_of(viewer, ref)
    slug = request.GET.get("for", "")
    cut = cut_of(viewer, session, slug)
    rows = Party.objects.filter(campaign=session.campaign).order_by("name")
    parties = [session.party] if session.party else list(rows)
    return render_page(
        request,
        viewer,
        "sessions/recap.html",
        session=session,
        cut=cut,
        slug=slug,
        parties=parties,
        has_secrets=not slug and has_secrets(viewer, session, cut, parties),
        channels=[each for each in channels_of(viewer) if may_receive(each, cut.audience)],
        sent=latest_sent(viewer),
    )


def has_secrets(viewer: Viewer, session: Session, cut: Cut, parties: Sequence[Party]) -> bool:
    """Whether the cut for game masters says what that for one of `parties` does not."""
    return any(cut_of(viewer, session, party.slug).text != cut.text for party in parties)


def channels_of(viewer: Viewer) -> list[Webhook]:
    rows = Webhook.objects.filter(world=viewer.world, format=Webhook.Format.DISCORD)
    return list(rows.order_by("name", "pk"))


def latest_sent(viewer: Viewer) -> Any:
    rows = WebhookDelivery.objects.filter(webhook__world=viewer.world, type="recap")
    return rows.select_related("webhook").order_by("-id")[:LATEST_SENT]


@require_POST
@gm_page
def send_recap(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Send the cut that the page shows to a channel, and say what came of it."""
    session = session_of(viewer, ref)
    slug = request.POST.get("for", "")
    cut = cut_of(viewer, session, slug)
    try:
        channel = channel_of(request, viewer, cut)
        outcome = send_text(channel, cut.text, kind="recap", audience=cut.audience)
    except Problem as problem:
        messages.error(request, explain(problem), extra_tags="bad")
    else:
        if outcome.state == WebhookDelivery.State.DELIVERED:
            text = _("Sent to %(name)s.") % {"name": channel.name}
            messages.success(request, text, extra_tags="good")
        else:
            why = outcome.attempts[-1]["error"] if outcome.attempts else ""
            text = _("Not delivered to %(name)s: %(why)s.") % {"name": channel.name, "why": why}
            messages.error(request, text, extra_tags="bad")
    address = reverse("session-recap", args=[viewer.world.slug, session.external_id])
    query = f"?{urlencode({'for': slug})}" if slug else ""
    return HttpResponseRedirect(f"{address}{query}")


def channel_of(request: HttpRequest, viewer: Viewer, cut: Cut) -> Webhook:
    """The channel that was chosen, or a new one with the address that was typed."""
    if url := request.POST.get("url", "").strip():
        name = request.POST.get("name", "").strip()[:120] or _("Channel")
        return create_channel(viewer.world, name=name, url=url, audience=cut.audience)
    try:
        pk = UUID(request.POST.get("channel", ""))
    except ValueError:
        raise Http404 from None
    rows = Webhook.objects.filter(world=viewer.world, format=Webhook.Format.DISCORD)
    channel: Webhook = get_object_or_404(rows, pk=pk)
    return channel
