"""One thing that the doctor found."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    """It works, but less well than it should, or not for long."""
    ERROR = "error"


@dataclass(frozen=True)
class Diagnosis:
    area: str
    level: Level
    text: str
    remedy: str = ""
    """What to do; empty if nothing."""


def ok(area: str, text: str) -> Diagnosis:
    return Diagnosis(area, Level.OK, text)


def warning(area: str, text: str, remedy: str) -> Diagnosis:
    return Diagnosis(area, Level.WARNING, text, remedy)


def error(area: str, text: str, remedy: str) -> Diagnosis:
    return Diagnosis(area, Level.ERROR, text, remedy)
