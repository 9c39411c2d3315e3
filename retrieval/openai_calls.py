"""Calls of OpenAI-compatible servers: client, time-outs, retries and rate limits."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import openai
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
)
from tenacity.wait import wait_exponential_jitter

from retrieval.llm.time_budget import CONNECT_TIMEOUT

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"  # servers of one's own rarely want a key, and the client insists on one

Result = TypeVar("Result")
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


def make_client(*, base_url: str, api_key: str, timeout: float) -> openai.OpenAI:
    """Return a client without retries: how long to wait depends on who calls."""
    return openai.OpenAI(
        base_url=base_url or OPENAI_URL,
        api_key=api_key or NO_KEY,
        timeout=timeout_of(timeout),
        max_retries=0,
    )


def timeout_of(seconds: float) -> openai.Timeout:
    """Return the time-out for an answer, with a shorter one for the connection."""
    return openai.Timeout(seconds, connect=min(seconds, CONNECT_TIMEOUT))


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later: rate limit, server error, lost connection."""
    if isinstance(error, openai.RateLimitError):
        return error.code != "insufficient_quota"
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 409) or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def retry_delay(state: RetryCallState) -> float:
    """Return the seconds to wait: what the server asked for, else exponential with jitter."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, openai.APIStatusError):
        # It may also be an HTTP date: then our own back-off applies.
        with suppress(ValueError):
            if (seconds := float(error.response.headers.get("retry-after", "0"))) > 0:
                return seconds
    return _backoff(state)


def call_with_retries(call: Callable[[], Result], *, tries: int, within: float) -> Result:
    """Return `call()`, repeated on transient errors up to `tries` times within `within` seconds."""
    stop = stop_after_attempt(tries) | stop_before_delay(within)
    return Retrying(
        retry=retry_if_exception(is_transient), wait=retry_delay, stop=stop, reraise=True
    )(call)


def describe_error(error: BaseException) -> str:
    """Return one bounded line for a person: never a key, never the text that was sent."""
    if isinstance(error, openai.APITimeoutError):
        return "no answer in time"
    if isinstance(error, openai.APIConnectionError):
        return "no connection"
    if isinstance(error, openai.AuthenticationError):
        return "the key was refused"
    if isinstance(error, openai.APIStatusError):
        return f"status {error.status_code}" + (f" ({error.code})" if error.code else "")
    return type(error).__name__


class RateLimiter:
    """At most `per_minute` units, evenly spread, shared by the threads of a process."""

    def __init__(self, per_minute: float) -> None:
        self._seconds_per_unit = 60 / per_minute if per_minute else 0.0
        self._free_at = 0.0
        self._lock = threading.Lock()

    def reserve(self, units: float = 1, *, within: float) -> float | None:
        """Reserve `units` and return the seconds to sleep before using them. Beyond `within`
        seconds, reserve nothing and return None."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free_at)
            if start - now > within:
                return None
            self._free_at = start + units * self._seconds_per_unit
            return start - now
