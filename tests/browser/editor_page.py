"""The site with one page more: a bare form with the editor field, for the tests of that field."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template import engines
from django.urls import path

from knowledge.entry_drafts import delete_draft
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site import urls as site
from worlds.lookup import as_uuid
from worlds.pages import Viewer, gm_page

PAGE = """{% extends "base.html" %}{% block main %}
<h1>{{ entry.title }}</h1>
<form method="post">{% csrf_token %}
<input type="hidden" name="version" value="{{ entry.version }}">
<div class="field"><label for="title">Title</label>
<input id="title" name="title" value="{{ entry.title }}"></div>
<div class="field"><label for="body">Text</label>
<textarea id="body" name="body" data-editor data-entry="{{ entry.pk }}" required
>{{ entry.body }}</textarea></div>
<button>Save</button></form>{% include "editor/parts/field.html" %}{% endblock %}"""


@gm_page
def edit(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    entry = get_object_or_404(Lore, world=viewer.world, slug=slug)
    if request.method == "POST":
        entry.title, entry.body = request.POST["title"], request.POST["body"].replace("\r", "")
        save_entry(entry)
        draft_id = as_uuid(request.POST.get("draft", ""))
        delete_draft(request.user, viewer.world, entry_id=entry.pk, draft_id=draft_id)
        return redirect(request.path)
    context: dict[str, Any] = {"entry": entry, "viewer": viewer, "world": viewer.world}
    page = engines["django"].from_string(PAGE).render(context, request)
    return HttpResponse(page)


urlpatterns = [path("w/<str:world>/try/<str:slug>/", edit), *site.urlpatterns]
