"""The content security policy: strict, and wider only for the parts of the site that need it; and
the headers that web pages on other hosts may send to the API and read."""

from corsheaders.defaults import default_headers
from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

STRICT = {
    "default-src": [NONE],
    "script-src": [SELF],
    # The editor of texts adds style elements of its own; pages that have it give it the nonce.
    "style-src": [SELF, NONCE],
    # Art cards are shown from their own addresses; the server never fetches them.
    "img-src": [SELF, "data:", "https:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
    "base-uri": [NONE],
}

# The admin's Alpine evaluates expressions in attributes and sets styles; the API page styles
# inline.
WIDER = {
    "/admin/": {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]},
    "/api/v1/docs": {"style-src": [UNSAFE_INLINE]},
}

REQUEST_HEADERS = [
    *default_headers,
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "x-api-key",
    "x-request-id",
]
RESPONSE_HEADERS = [
    "etag",
    "idempotent-replayed",
    "link",
    "location",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "retry-after",
    "x-request-id",
]
