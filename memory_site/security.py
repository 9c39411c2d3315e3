"""The content security policy: strict everywhere, widened only where a part of the site cannot do
without."""

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

STRICT = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [
        SELF,
        "data:",
        "https:",
    ],  # art cards are shown from where they are kept; the server never fetches them
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
    "/api/": {"style-src": [UNSAFE_INLINE]},
}
