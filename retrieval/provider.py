"""Talking to an OpenAI-compatible server: the client, which errors pass, how long to wait, our own
pace."""

import threading
import time
from collections.abc import Callable
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

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_TIMEOUT = 5.0
NO_KEY = "none"  # servers of one's own rarely want a key, and the client insists on one

Result = TypeVar("Result")
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


def make_client(*, base_url: str, api_key: str, timeout: float) -> openai.OpenAI:
    """Return a client that tries once: retrying is ours, because a search can wait less than a
    sweep."""
    return openai.OpenAI(
        base_url=base_url or OPENAI_URL,
        api_key=api_key or NO_KEY,
        timeout=timeout_of(timeout),
        max_retries=0,
    )


def timeout_of(seconds: float) -> openai.Timeout:
    """Return the time-out for an answer; a server that cannot be reached is given up sooner."""
    return openai.Timeout(seconds, connect=min(seconds, CONNECT_TIMEOUT))


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later: a full quota, a busy or broken server, a lost
    connection."""
    if isinstance(error, openai.RateLimitError):
        return error.code != "insufficient_quota"
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 409) or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def retry_delay(state: RetryCallState) -> float:
    """Return the seconds to wait: what the server asked for, else exponential with jitter."""
    error = state.outcome.exception() if state.outcome else None
    return retry_after(error) or _backoff(state)


def call_with_retries(call: Callable[[], Result], *, tries: int, within: float) -> Result:
    """Return `call()`, repeated on errors that pass, at most `tries` times and never waiting past
    `within` seconds."""
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


def retry_after(error: BaseException | None) -> float:
    if not isinstance(error, openai.APIStatusError):
        return 0.0
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0  # an HTTP date; our own back-off will do


class RateLimiter:
    """A limit of our own, shared by the threads of a process: at most `per_minute` units, evenly
    spread."""

    def __init__(self, per_minute: float) -> None:
        self._seconds_per_unit = 60 / per_minute if per_minute else 0.0
        self._free_at = 0.0
        self._lock = threading.Lock()

    def reserve(self, units: float = 1, *, within: float) -> float | None:
        """Take `units` and return the seconds to sleep before using them; None, and nothing taken,
        past `within`."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free_at)
            if start - now > within:
                return None
            self._free_at = start + units * self._seconds_per_unit
            return start - now
