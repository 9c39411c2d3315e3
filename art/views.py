"""Pages of pictures: the library of a world, uploads, the galleries' buttons, and the files."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from art import pictures
from art.galleries import pictures_to_list
from art.image_files import MAX_BYTES, too_many_bytes
from art.models import Picture, PictureUse
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from retrieval.errors import NotFound, Problem, StaleVersion
from worlds.audiences import Audience, Visibility
from worlds.pages import Viewer, gm_page, page, render_page

PICTURES_PER_PAGE = 60
MOST_FILES = 20
FORM_BYTES = 100_000
"""What the other fields of an upload may take."""
FILE_POLICY = "default-src 'none'; style-src 'none'; sandbox; frame-ancestors 'none'"
VERSION = re.compile(r"[0-9]{1,9}")
LAST_REMOVED = "last_removed_picture"

View = Callable[..., HttpResponseBase]


def refuse_large_uploads(view: View) -> View:
    """Refuse by its announced length what is too large. Only then is the body read: by the
    protection against forged requests, which therefore comes after."""
    protected = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def wrapper(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        most = MOST_FILES * MAX_BYTES if wants_page(request) else MAX_BYTES
        if request.method == "POST" and announced.isdigit() and int(announced) > most + FORM_BYTES:
            return refusal(request, too_many_bytes(), status=413)
        try:
            return protected(request, **kwargs)
        except RequestDataTooBig:
            return refusal(request, too_many_bytes(), status=413)

    return wrapper


def wants_page(request: HttpRequest) -> bool:
    """Whether a form sent the request; scripts ask for anything or for JSON."""
    return "text/html" in request.headers.get("Accept", "")


def refusal(request: HttpRequest, problem: str, *, status: int) -> HttpResponse:
    if not wants_page(request):
        return JsonResponse({"error": problem}, status=status)
    return HttpResponse(problem, status=status, content_type="text/plain; charset=utf-8")


@refuse_large_uploads
@require_http_methods(["GET", "HEAD", "POST"])
@gm_page
def library(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The pictures of the world; a POST uploads into it."""
    if request.method == "POST":
        return upload_from_page(request, viewer) if wants_page(request) else upload(request, viewer)
    show, q = request.GET.get("show", ""), request.GET.get("q", "").replace("\0", "").strip()
    rows = pictures_to_list(viewer.world, viewer.audience, show=show, q=q)
    try:
        thing = pictures.find_thing(viewer.world, request.GET.get("for", ""))
    except NotFound:
        thing = None
    return render_page(
        request,
        viewer,
        "gm/pictures.html",
        page_obj=Paginator(rows, PICTURES_PER_PAGE).get_page(request.GET.get("page")),
        show=show,
        q=q,
        thing=thing,
        place=f"{type(thing)._meta.model_name}:{thing.pk}" if thing else "",
    )


def upload(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Answer a script, such as the editor's paste: JSON with what to write into the text."""
    file = request.FILES.get("file")
    if file is None:
        return refusal(request, _("Send one picture in the field “file”."), status=422)
    try:
        picture = store_upload(request, viewer, file)
    except Problem as problem:
        status = 413 if problem.code == "too_large" else 422
        return refusal(request, f"{file.name}: {problem.detail}", status=status)
    return JsonResponse(answer_for_script(picture, viewer), status=201)


def answer_for_script(picture: Picture, viewer: Viewer) -> dict[str, str]:
    place = [viewer.world.slug, picture.pk]
    return {
        "id": str(picture.pk),
        "markdown": pictures.markdown_of(picture),
        "url": reverse("picture", args=place),
        "thumbnail": reverse("picture-thumbnail", args=place),
    }


def store_upload(request: HttpRequest, viewer: Viewer, file: Any) -> Picture:
    """Store one file with the form's texts, in the gallery of `place` if the form names one."""
    place = request.POST.get("place", "")
    thing = pictures.find_thing(viewer.world, place) if place else None
    picture = pictures.store_picture(
        viewer.world,
        file,
        alt=request.POST.get("alt", ""),
        caption=request.POST.get("caption", ""),
        by=viewer.name,
    )
    if thing:
        pictures.place_picture(
            picture,
            thing,
            is_portrait=bool(request.POST.get("portrait")),
            is_hidden=bool(request.POST.get("hidden")),
        )
    return picture


def upload_from_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Store the files of a form; each that cannot be stored is named with the reason."""
    stored, files = 0, request.FILES.getlist("file")
    if not files:
        messages.error(request, _("Choose a picture first."), extra_tags="bad")
    if len(files) > MOST_FILES:
        text = _("Upload at most %(count)s pictures at once.") % {"count": MOST_FILES}
        messages.error(request, text, extra_tags="bad")
        files = []
    for file in files:
        try:
            store_upload(request, viewer, file)
            stored += 1
        except Problem as problem:
            messages.error(request, f"{file.name}: {problem.detail}", extra_tags="bad")
    if stored:
        text = ngettext("%(count)s picture uploaded.", "%(count)s pictures uploaded.", stored)
        messages.success(request, text % {"count": stored}, extra_tags="good")
    return back(request, viewer)


def back(request: HttpRequest, viewer: Viewer) -> HttpResponseRedirect:
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("pictures", args=[viewer.world.slug])
    return HttpResponseRedirect(target)


# --- files


@require_GET
@page
def picture_file(request: HttpRequest, viewer: Viewer, picture: UUID, size: str) -> Any:
    """The picture itself, its `preview` or its `thumbnail`, for whoever may see it."""
    rows = Picture.objects.in_world(viewer.world).visible_to(viewer.audience)
    # A deleted one is shown to game masters only, in the list from which they restore it.
    rows = rows if viewer.is_gm else rows.present()
    return file_response(request, get_object_or_404(rows, pk=picture), size, viewer.audience)


def file_response(request: HttpRequest, picture: Picture, size: str, audience: Audience) -> Any:
    """Return one of the three files of `picture`, or 304 if the caller has it."""
    stored, kind = pictures.stored_file(picture, size)
    etag = f'"{picture.pk}-{size}"'
    # The file of an id never changes, but who may see it does: so it is asked for each time.
    response: Any = get_conditional_response(request, etag=etag)
    if response is None:
        try:
            response = FileResponse(default_storage.open(stored), content_type=kind)
        except OSError as error:
            raise NotFound(
                _("The file of this picture is gone: restore it from a backup.")
            ) from error
        name = pictures.shown_name(picture, audience, stored.rpartition(".")[2])
        response["Content-Disposition"] = content_disposition_header(False, name)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    response["Content-Security-Policy"] = FILE_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


# --- what the buttons do


def world_picture(viewer: Viewer, picture: UUID) -> Picture:
    found: Picture = get_object_or_404(Picture.objects.in_world(viewer.world), pk=picture)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
@gm_page
def edit_picture(request: HttpRequest, viewer: Viewer, picture: UUID) -> HttpResponse:
    """One picture: its texts, who sees it, and where it is shown."""
    found = world_picture(viewer, picture)
    if request.method == "POST":
        version = request.POST.get("version", "")
        try:
            pictures.change_picture(
                found,
                alt=request.POST.get("alt", ""),
                caption=request.POST.get("caption", ""),
                visibility=request.POST.get("visibility"),
                # A form without a version has read none.
                expected_version=int(version) if VERSION.fullmatch(version) else 0,
            )
        except StaleVersion:
            text = _("Somebody else changed this picture meanwhile. Look at it again, then decide.")
            messages.error(request, text, extra_tags="bad")
        except Problem as problem:
            messages.error(request, problem.detail, extra_tags="bad")
        else:
            messages.success(request, _("Saved."), extra_tags="good")
        return back(request, viewer)
    return render_page(
        request,
        viewer,
        "gm/picture.html",
        picture=found,
        uses=found.uses.present().select_related("lore", "npc"),
        entries=entries_with(found),
        npcs=NPC.objects.in_world(viewer.world).filter(summary__contains=f"picture:{found.pk}"),
        cards=found.cards.all()[:PICTURES_PER_PAGE],
        visibilities=Visibility.choices,
    )


def entries_with(picture: Picture) -> Any:
    """The lore entries whose text shows the picture."""
    passages = LorePassage.objects.filter(world=picture.world_id, pictures__contains=[picture.pk])
    return Lore.objects.filter(pk__in=passages.values("lore"))[:PICTURES_PER_PAGE]


@require_POST
@gm_page
def place(request: HttpRequest, viewer: Viewer, picture: UUID) -> HttpResponse:
    """Put a picture of the library into a gallery."""
    found = world_picture(viewer, picture)
    try:
        thing = pictures.find_thing(viewer.world, request.POST.get("place", ""))
    except NotFound as error:
        raise Http404 from error
    pictures.place_picture(found, thing)
    messages.success(request, _("The picture was added to the gallery."), extra_tags="good")
    return back(request, viewer)


USE_ACTIONS: dict[str, Callable[[PictureUse], object]] = {
    "portrait": pictures.make_portrait,
    "earlier": lambda use: pictures.move_picture(use, by=-1),
    "later": lambda use: pictures.move_picture(use, by=1),
    "hide": lambda use: pictures.set_hidden(use, True),
    "show": lambda use: pictures.set_hidden(use, False),
    "remove": pictures.remove_use,
    "restore": pictures.restore_use,
}


@require_POST
@gm_page
def change_use(request: HttpRequest, viewer: Viewer, use: UUID) -> HttpResponse:
    """A button under a picture of a gallery."""
    rows = PictureUse.objects.filter(picture__world=viewer.world).select_related("lore", "npc")
    found = get_object_or_404(rows, pk=use)
    action = request.POST.get("action", "")
    if action not in USE_ACTIONS:
        raise Http404
    if found.thing.deleted_at or (action != "restore" and found.removed_at):
        raise Http404  # thrown away or taken out in another tab
    USE_ACTIONS[action](found)
    if action == "remove":
        request.session[LAST_REMOVED] = str(found.pk)
    elif action == "restore":
        request.session.pop(LAST_REMOVED, None)
    return back(request, viewer)


@require_POST
@gm_page
def delete_picture(request: HttpRequest, viewer: Viewer, picture: UUID) -> HttpResponse:
    pictures.delete_pictures([world_picture(viewer, picture)])
    text = _("The picture was deleted. It can be restored from the list of deleted pictures.")
    messages.success(request, text, extra_tags="good")
    return back(request, viewer)


@require_POST
@gm_page
def restore_picture(request: HttpRequest, viewer: Viewer, picture: UUID) -> HttpResponse:
    pictures.restore_picture(world_picture(viewer, picture))
    messages.success(request, _("The picture was restored."), extra_tags="good")
    return back(request, viewer)


@require_POST
@gm_page
def delete_unused(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Delete what nothing shows. What was uploaded today stays: its text may not be saved yet."""
    count = pictures.delete_unused(viewer.world)
    text = ngettext("%(count)s picture deleted.", "%(count)s pictures deleted.", count)
    messages.success(request, text % {"count": count}, extra_tags="good")
    return back(request, viewer)
