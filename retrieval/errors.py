"""Domain errors. Raised deep, mapped once (`memory_site/errors.py`) to RFC 9457 problem+json and to MCP tool errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(eq=False)  # an exception stays hashable
class Problem(Exception):
    """Something the caller can act on. `detail` says what to do next, in one or two sentences."""

    detail: str
    errors: Sequence[dict[str, Any]] = field(default=(), kw_only=True)
    candidates: Sequence[str] = field(default=(), kw_only=True)
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "The request cannot be carried out"

    def __str__(self) -> str:
        return self.detail


class NotFound(Problem):
    """No such thing, or none that this caller may know of: the two must not be told apart."""

    status, code, title = 404, "not_found", "Not found"


class Invalid(Problem):
    """The input is understood but not acceptable."""

    status, code, title = 422, "invalid", "Invalid input"


class Ambiguous(Problem):
    """A name fits several things; `candidates` lists them."""

    status, code, title = 422, "ambiguous", "Ambiguous name"


class Conflict(Problem):
    """The write collides with what is stored or under way."""

    status, code, title = 409, "conflict", "Conflict"


class Forbidden(Problem):
    """The caller is known and may not do this."""

    status, code, title = 403, "forbidden", "Forbidden"


class EmbedderDown(Problem):
    """The embedding model cannot be reached or answers nonsense. Search then goes on by words (`degraded: vector`)."""

    status, code, title = 503, "embedder_down", "The embedding model is not available"


class LanguageModelDown(Problem):
    """The language model cannot be reached or answers nonsense, after all tries."""

    status, code, title = 503, "language_model_down", "The language model is not available"


class Unauthorized(Problem):
    """No key, or none that counts."""

    status, code, title = 401, "unauthorized", "A valid API key is needed"


class AudienceAboveCap(Forbidden):
    """The caller asks to see more than its key may show."""

    code, title = "audience_above_cap", "Audience above the cap of the key"


class WrongScope(Forbidden):
    code, title = "wrong_scope", "The key lacks a scope"


class Stale(Problem):
    """`If-Match` names another version than the stored one."""

    status, code, title = 412, "stale", "Changed by someone else meanwhile"


class TooLarge(Problem):
    status, code, title = 413, "too_large", "The request is too large"


class RateLimited(Problem):
    """`Retry-After` in `headers` says how many seconds to wait."""

    status, code, title = 429, "rate_limited", "Too many calls"


class SearchTimeout(Problem):
    """The database took too long."""

    status, code, title = 503, "search_timeout", "The search took too long"
