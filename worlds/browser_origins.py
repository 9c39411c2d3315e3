"""Which web pages may use which key (CORS). django-cors-headers writes the headers; the signal that
it sends asks here.

A preflight carries no key, so it is answered for the pages that any valid key names. The request
itself is answered for the pages of its own key alone.
"""

from typing import Any
from urllib.parse import urlsplit

from corsheaders.signals import check_request_enabled
from django.db.models import Q
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from retrieval.errors import Forbidden, Problem
from worlds import keys
from worlds.models import ApiKey


class WrongOrigin(Forbidden):
    code, title = "wrong_origin", "The key is for other web pages"


@receiver(check_request_enabled, dispatch_uid="worlds.browser_origins")
def is_allowed(request: HttpRequest, **_signal: Any) -> bool:
    """Whether the page that sends the request may read the answer."""
    if not request.path.startswith("/api/"):
        return False
    origin = request.headers.get("Origin", "")
    if request.method != "OPTIONS":
        try:
            return origin in keys.verify(keys.key_in_headers(request.headers)).origins
        except Problem:
            # The page may read why it is refused, if it is a page of some key.
            pass
    valid = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiKey.objects.filter(valid, revoked_at=None, origins__contains=[origin]).exists()


def check_origin(request: HttpRequest, key: ApiKey) -> None:
    """Raise `WrongOrigin` for a page that a key of web pages does not name. What sends no origin is
    no browser, and a page of this site is always allowed."""
    origin = request.headers.get("Origin")
    if not key.origins or origin is None or origin in key.origins:
        return
    if urlsplit(origin).netloc != request.get_host():
        raise WrongOrigin(f"This key is not for pages of {origin[:200]}.")
