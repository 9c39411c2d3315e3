"""Operations that will go, what to use instead, and how long they work: docs/api-changelog.md."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime


@dataclass(frozen=True)
class Deprecation:
    since: datetime
    sunset: datetime
    instead: str
    """The operation that does the same."""

    @property
    def headers(self) -> dict[str, str]:
        """`Deprecation` (RFC 9745) and `Sunset` (RFC 8594)."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.sunset, usegmt=True),
        }


DEPRECATED = {
    "memory_edit": Deprecation(
        since=datetime(2026, 11, 23, tzinfo=UTC),
        sunset=datetime(2027, 11, 23, tzinfo=UTC),
        instead="memory_change",
    )
}
