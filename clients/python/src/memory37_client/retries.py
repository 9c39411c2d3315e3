"""Which requests are sent again, and when."""

import random

import httpx2

from memory37_client.errors import seconds_to_wait

MAX_TRIES = 3
MAX_WAIT_SECONDS = 10.0
RETRY_STATUS = {429, 502, 503, 504}


def wait_before_retry(attempt: int, response: httpx2.Response | None) -> float | None:
    """Return the seconds to wait before the next try; None: do not try again.

    `attempt` counts from 1; `response` is None when the connection was lost. All requests may be
    repeated: tools and reads change nothing, writes carry an idempotency key.
    """
    if attempt >= MAX_TRIES:
        return None
    if response is None:
        return backoff_seconds(attempt)
    if response.status_code not in RETRY_STATUS:
        return None
    asked = seconds_to_wait(response)
    wait = backoff_seconds(attempt) if asked is None else asked
    return wait if wait <= MAX_WAIT_SECONDS else None


def backoff_seconds(attempt: int) -> float:
    """Return a wait that doubles, with jitter so that many clients do not retry at once."""
    return float(0.2 * 2**attempt * random.uniform(0.5, 1))
