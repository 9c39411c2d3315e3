"""The exception for everything that the server refuses or that keeps it from answering."""

from collections.abc import Mapping
from typing import Any, Self

import httpx2

MODEL_CAN_CORRECT = frozenset({400, 403, 404, 409, 422})
"""Statuses of problems with a call itself: a model that reads them sends a better one."""


class Memory37Error(Exception):
    """A problem that the server reported, with the fields of RFC 9457; `status` is 0 when no
    server answered.

    `code` is stable and meant for programs, `detail` says what to do, `errors` names the wrong
    fields (`loc`, `msg`), `candidates` the names that may have been meant, and `retry_after` is
    the number of seconds to wait.
    """

    def __init__(self, problem: Mapping[str, Any], *, retry_after: float | None = None) -> None:
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, Any]] = list(problem.get("errors", ()))
        self.candidates: list[str] = list(problem.get("candidates", ()))
        self.request_id = str(problem.get("instance", ""))
        self.retry_after = retry_after
        super().__init__(f"{self.status} {self.code}: {self.detail}")

    def for_model(self) -> dict[str, Any]:
        """Return what a language model needs to correct its call."""
        return {"error": self.code, "detail": self.detail, "candidates": self.candidates}

    @classmethod
    def of_response(cls, response: httpx2.Response) -> Self:
        try:
            problem = response.json()
        except ValueError:
            problem = {}
        if not isinstance(problem, dict) or "code" not in problem:
            problem = {"detail": response.text[:200]}
        after = seconds_to_wait(response)
        return cls({"status": response.status_code, **problem}, retry_after=after)

    @classmethod
    def unreachable(cls, error: httpx2.TransportError) -> Self:
        problem = f"The server cannot be reached ({type(error).__name__})"
        detail = f"{problem}: check MEMORY37_URL and that it runs."
        return cls({"code": "unreachable", "title": "Unreachable", "detail": detail})


def seconds_to_wait(response: httpx2.Response) -> float | None:
    """Return what `Retry-After` says; None without it, or if it is a date."""
    try:
        return float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
