"""Whether this process was asked to end: long work then stops after its present batch. What is left
are rows, which the next worker finds."""

import threading

_is_requested = threading.Event()


def request_stop(**_signal: object) -> None:
    _is_requested.set()


def is_stop_requested() -> bool:
    return _is_requested.is_set()
