"""Headers of requests and answers, as components that operations refer to."""

from typing import Any

from worlds.deprecations import DEPRECATED


def _parameter(name: str, description: str, example: str) -> dict[str, Any]:
    return {
        "in": "header",
        "name": name,
        "required": False,
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


PARAMETERS = {
    "X-Request-ID": _parameter(
        "X-Request-ID",
        "Your own id for this request (1 to 64 of A-Z a-z 0-9 . _ : -), else it gets a new one.",
        "turn-412",
    ),
    "X-World": _parameter(
        "X-World",
        "Slug of the world; needed with a key of the installation, which is for no single one. In "
        "another script than Latin as UTF-8 or percent-encoded.",
        "salt-coast",
    ),
    "X-Namespace": _parameter(
        "X-Namespace",
        "Name of the agent whose memory is meant; only with an administrator's key that names "
        "none.",
        "scribe",
    ),
    "Idempotency-Key": _parameter(
        "Idempotency-Key",
        "Any text of yours, one for each write: the same again replays the first answer for a "
        "day instead of writing twice. With another body it is 422.",
        "turn-412-write-1",
    ),
    "If-Match": _parameter(
        "If-Match", "The `ETag` last read: 412 when the row has changed since.", '"3"'
    ),
    "If-None-Match": _parameter(
        "If-None-Match", "The `ETag` last read: 304 without a body when nothing changed.", '"3"'
    ),
}
PARAMETERS["Fields"] = {
    "in": "query",
    "name": "fields",
    "required": False,
    "description": "Answer with these fields alone, separated by commas; of a page, fields of its "
    "rows. Others are missing then, even required ones. An unknown one is 422, which names those "
    "that there are.",
    "schema": {"type": "string"},
    "example": "id,updated_at",
}
NO_FIELDS = {
    *("picture_file", "archive_file", "vault_export", "memory_export"),
    *("scratch_get", "event_stream"),
}
"""Reads that answer with a file, a stream, or values of the reader's own."""


ADDS = "It adds something, and changes nothing that could have been read."
RESTORES = "A row in the trash cannot be read, so nobody knows its tag."
SENDS = "It sends a message, and changes nothing that could have been read."
DECIDES = "What is decided already is refused with 409, whatever was read."
NO_IF_MATCH = {
    **dict.fromkeys(("comment_create", "picture_place", "disposition_correct"), ADDS),
    **dict.fromkeys(("thread_append", "code_rules_outcome", "opinion_correct"), ADDS),
    **dict.fromkeys(("lore_restore", "npc_restore", "picture_restore"), RESTORES),
    **dict.fromkeys(("webhook_test", "webhook_redeliver"), SENDS),
    **dict.fromkeys(("core_decide", "disposition_rule", "opinion_rule"), DECIDES),
    **dict.fromkeys(("merge_decide", "code_rule_decide"), DECIDES),
    "npc_merge_undo": DECIDES,
    "npc_tell": ADDS,
    "npc_hearsay_delete": "What was told is only taken back, and once.",
    **dict.fromkeys(("thread_consolidate", "core_line_confirm"), "Doing it again changes nothing."),
    "thread_propose": "It writes nothing.",
}
"""Writes at the address of a row that no `If-Match` guards, and why."""


def _header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}}


HEADERS = {
    "X-Request-ID": _header("The id of this request, yours or a new one."),
    "ETag": _header("Version of what was read or written, for `If-Match` and `If-None-Match`."),
    "Location": _header("Where the new row is read; absent when nothing was created."),
    "Link": _header('Address of the next page, with `rel="next"`; absent on the last.'),
    "RateLimit-Limit": _header("Calls of this operation in a minute.", "integer"),
    "RateLimit-Remaining": _header("Calls that are left in this minute.", "integer"),
    "RateLimit-Reset": _header("Seconds until the minute is over.", "integer"),
    "Retry-After": _header("Seconds to wait before the next try.", "integer"),
    "Idempotent-Replayed": _header("`true`: this is the stored answer of an earlier request."),
    "Deprecation": _header("Since when the operation is deprecated: `@` and seconds since 1970."),
    "Sunset": _header("Until when the operation works."),
    "WWW-Authenticate": _header("How to authenticate: with a key as bearer token."),
}
RATE = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def header_references(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def describe_headers(method: str, path: str, operation: dict[str, Any]) -> None:
    """Declare which headers the operation takes and which its answers have."""
    is_read, is_keyed = method == "GET", "security" in operation
    is_tool = "tools" in operation.get("tags", ())
    takes = ["X-Request-ID"]
    if is_keyed and not path.startswith(("/api/v1/worlds", "/api/v1/restorations")):
        takes.append("X-World")
    if is_keyed and ("/memory" in path or is_tool):
        takes.append("X-Namespace")
    if is_read:
        takes.append("If-None-Match")
        if operation["operationId"] not in NO_FIELDS:
            takes.append("Fields")
    elif is_keyed:
        takes.append("Idempotency-Key")
        changes_a_row = method != "POST" or "{" in path
        if changes_a_row and operation["operationId"] not in NO_IF_MATCH:
            takes.append("If-Match")
    parameters = operation.setdefault("parameters", [])
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in takes]
    for status, response in operation["responses"].items():
        names = answer_headers(int(status), method, operation, is_keyed=is_keyed)
        response.setdefault("headers", {}).update(header_references(*names))


def answer_headers(
    status: int, method: str, operation: dict[str, Any], *, is_keyed: bool
) -> list[str]:
    leaving = ("Deprecation", "Sunset") if operation["operationId"] in DEPRECATED else ()
    names = ["X-Request-ID", *leaving, *(RATE if is_keyed and status != 401 else ())]
    if status == 401:
        names.append("WWW-Authenticate")
    if status in (429, 503):
        names.append("Retry-After")
    if status >= 300:
        return [*names, "ETag"] if status == 304 else names
    if method in ("GET", "PUT", "PATCH"):
        names.append("ETag")
    if status == 201 or method == "PUT":
        names.append("Location")
    if any(each.get("name") == "cursor" for each in operation.get("parameters", ())):
        names.append("Link")
    return [*names, "Idempotent-Replayed"] if method != "GET" and is_keyed else names
