"""Domain errors, each with a code and a title; `memory_site/errors.py` gives them HTTP statuses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(eq=False)  # an exception stays hashable
class Problem(Exception):
    """An error that the caller can act on. `detail` says what to do next, in one or two sentences;
    `candidates` are names that would have been accepted."""

    detail: str
    errors: Sequence[dict[str, Any]] = field(default=(), kw_only=True)
    candidates: Sequence[str] = field(default=(), kw_only=True)
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "The request cannot be carried out"

    def __str__(self) -> str:
        return self.detail


class NotFound(Problem):
    """It does not exist, or the caller may not know of it: the error does not reveal which."""

    code, title = "not_found", "Not found"


class Invalid(Problem):
    """The input is understood but not acceptable."""

    code, title = "invalid", "Invalid input"


class Ambiguous(Problem):
    """A name fits several things; `candidates` lists them."""

    code, title = "ambiguous", "Ambiguous name"


class Conflict(Problem):
    """The write conflicts with a stored row or a running operation."""

    code, title = "conflict", "Conflict"


@dataclass(eq=False)
class StaleVersion(Conflict):
    """The row was saved after the writer had read it. `version` is the stored one, None when there
    is no row."""

    version: int | None = field(default=None, kw_only=True)

    code, title = "stale_version", "Changed by someone else meanwhile"


class Forbidden(Problem):
    """The caller is authenticated but not allowed to do this."""

    code, title = "forbidden", "Forbidden"


class EmbedderDown(Problem):
    """The embedding model cannot be reached or its answer is invalid. Search then reports
    `degraded: vector` and uses words alone."""

    code, title = "embedder_down", "The embedding model is not available"


class RerankerDown(Problem):
    """The re-ranker cannot be reached or its answer is invalid. Search then keeps the fused order
    and reports `degraded: rerank`."""

    code, title = "reranker_down", "The re-ranker is not available"


class LanguageModelDown(Problem):
    """The language model cannot be reached or its answer is invalid, after all retries."""

    code, title = "language_model_down", "The language model is not available"


class Unauthorized(Problem):
    """The request has no key, or an unknown, expired or revoked one."""

    code, title = "unauthorized", "A valid API key is needed"


class AudienceAboveCap(Forbidden):
    """The requested audience is above the one that the key allows."""

    code, title = "audience_above_cap", "Audience above the cap of the key"


class WrongScope(Forbidden):
    code, title = "wrong_scope", "The key lacks a scope"


class Stale(Problem):
    """`If-Match` is not the stored version."""

    code, title = "stale", "Changed by someone else meanwhile"


class TooLarge(Problem):
    code, title = "too_large", "The request is too large"


class RateLimited(Problem):
    """`Retry-After` in `headers` says how many seconds to wait."""

    code, title = "rate_limited", "Too many calls"


class SearchTimeout(Problem):
    """The search statement exceeded its time limit."""

    code, title = "search_timeout", "The search took too long"
