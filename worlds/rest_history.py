"""REST for the stored versions of a row: list them, and find the one to restore."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from retrieval.errors import NotFound
from worlds.base_schemas import ResponseModel, StrictModel

MOST_VERSIONS = 200


class VersionListQuery(StrictModel):
    limit: Annotated[int, Field(ge=1, le=MOST_VERSIONS, description="The latest so many.")] = 50


class VersionOut(ResponseModel):
    """A stored version of a row, without its texts."""

    version_id: int
    version: int
    saved_at: datetime
    by: str
    reason: str


class VersionList(ResponseModel):
    versions: list[VersionOut]


def versions_of(row: Any, *, limit: int) -> VersionList:
    """Return the versions of `row`, the present one first."""
    records = row.history.select_related("history_user").order_by("-history_date", "-history_id")
    return VersionList(versions=[present_version(record) for record in records[:limit]])


def present_version(record: Any) -> VersionOut:
    user = record.history_user
    return VersionOut(
        version_id=record.history_id,
        version=record.version,
        saved_at=record.history_date,
        by=user.get_username() if user else "",
        reason=record.history_change_reason or "",
    )


def find_version(row: Any, version_id: int) -> Any:
    """Return the row as it was in that version. Raises `NotFound`."""
    record = row.history.filter(history_id=version_id).first()
    if record is None:
        raise NotFound(f"There is no version {version_id} of this row.")
    return record.instance
