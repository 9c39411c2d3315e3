"""Save a form of the admin with chosen fields, as a browser does: with the token of its page."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.test import Client

from worlds.admin_locking import TOKEN


def save_form(client: Client, url: str, fields: Mapping[str, Any]) -> Any:
    """Open the change form at `url` and send `fields` with the token that the page has."""
    page: HttpResponse = client.get(url)
    return client.post(url, {TOKEN: page.context[TOKEN], **fields})  # type: ignore[attr-defined]
