"""Pages of art cards: pictures described in words, which are found by them."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from art.card_forms import ArtCardForm
from art.models import ArtCard, Picture
from art.upsert import COPIED, ingest_art, moderate_card
from art.views import refuse_large_uploads
from retrieval.errors import Problem
from retrieval.models import uuid7
from retrieval.tasks import embed_soon
from worlds.lookup import as_uuid
from worlds.pages import Viewer, gm_page, render_page

CARDS_PER_PAGE = 48


@gm_page
def card_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    cards = ArtCard.objects.in_world(viewer.world).defer("embedding", "search_vector")
    rows = cards.select_related("picture", "scene").order_by("-created_at", "-pk")
    page_obj = Paginator(rows, CARDS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page(request, viewer, "gm/art_cards.html", page_obj=page_obj)


@refuse_large_uploads
@gm_page
def new_card(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """A new card; `picture` in the address is one that is uploaded already."""
    initial = {"picture": request.GET.get("picture", "")}
    return show_or_save(request, viewer, None, initial)


@refuse_large_uploads
@gm_page
def edit_card(request: HttpRequest, viewer: Viewer, card: str) -> HttpResponse:
    rows = ArtCard.objects.in_world(viewer.world).select_related("picture", "scene")
    row = get_object_or_404(rows, pk=card)
    names = (*COPIED, "moderation", "version")
    return show_or_save(
        request,
        viewer,
        row,
        {**{name: getattr(row, name) for name in names}, "picture": row.picture_id},
    )


def show_or_save(
    request: HttpRequest, viewer: Viewer, row: ArtCard | None, initial: dict[str, Any]
) -> HttpResponse:
    form = ArtCardForm(
        request.POST or None,
        request.FILES or None,
        initial=initial,
        world=viewer.world,
        by=viewer.name,
    )
    if request.method == "POST" and form.is_valid():
        try:
            card, unknown = save_card(viewer, row, form)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            messages.success(request, _("Saved."), extra_tags="good")
            if unknown:
                text = _("No entry is called: %(names)s") % {"names": ", ".join(unknown)}
                messages.warning(request, text)
            return redirect("art-card", viewer.world.slug, card.pk)
    response = render_page(
        request,
        viewer,
        "gm/art_card.html",
        form=form,
        card=row,
        picture=chosen_picture(form),
    )
    response.status_code = 422 if form.errors else 200
    return response


def chosen_picture(form: ArtCardForm) -> Picture | None:
    key = as_uuid(str(form["picture"].value() or ""))
    found: Picture | None = Picture.objects.in_world(form.world).present().filter(pk=key).first()
    return found


def save_card(viewer: Viewer, row: ArtCard | None, form: ArtCardForm) -> tuple[ArtCard, list[str]]:
    entry = form.card(
        row.external_id if row else f"card-{uuid7()}",
        scene_id=row.scene.external_id if row and row.scene else None,
        seed=row.seed if row else None,
    )
    before = row.moderation if row else None
    version = (form.cleaned_data["version"] or 0) if row else None
    card, _outcome, unknown = ingest_art(viewer.world, entry, expected_version=version)
    if card.moderation != before:
        moderate_card(card, card.moderation, by=viewer.name)
    embed_soon("art")
    return card, unknown
