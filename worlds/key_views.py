"""The page of a world's API keys: make one, see when it was last used, revoke it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from worlds import keys
from worlds.forms import SCOPES_IN_WORDS, KeyForm
from worlds.models import ApiKey
from worlds.pages import Viewer, gm_page, render_page

MOST_KEYS = 200


@never_cache
@gm_page
def key_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """List the keys; POST makes one and shows its text, this once."""
    form = KeyForm(request.POST or None, viewer=viewer)
    text = ""
    if request.method == "POST" and form.is_valid():
        made = form.cleaned_data
        _key, text = keys.create_key(
            viewer.world,
            name=made["name"],
            scopes=made["scopes"],
            audience=made["audience"],
            namespace=made["namespace"],
            expires_at=form.expires_at,
        )
        form = KeyForm(viewer=viewer)
    rows = ApiKey.objects.filter(world=viewer.world).order_by("-created_at", "-pk")[:MOST_KEYS]
    return render_page(
        request,
        viewer,
        "worlds/keys.html",
        keys=[(key, keys.is_valid(key), *_in_words(key, form)) for key in rows],
        form=form,
        text=text,
    )


def _in_words(key: ApiKey, form: KeyForm) -> tuple[str, list[str]]:
    """Return whose knowledge the key sees, and what it may do, as the form calls them."""
    audience: Any = form.fields["audience"]
    audiences = {value: str(name) for value, name in audience.choices}
    scopes = {str(scope): str(text) for scope, text in SCOPES_IN_WORDS.items()}
    names = [scopes.get(scope, scope) for scope in key.scopes]
    return audiences.get(key.audience, key.audience), names


@require_POST
@gm_page
def revoke(request: HttpRequest, viewer: Viewer, key: UUID) -> HttpResponse:
    row = get_object_or_404(ApiKey, pk=key, world=viewer.world)
    keys.revoke(row)
    messages.success(request, gettext("%(key)s no longer works.") % {"key": row})
    return redirect("keys", viewer.world.slug)
