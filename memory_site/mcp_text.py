"""The compact form of a tool's answer (see `memory_site.compact`) as text for a model."""

from collections.abc import Iterator, Mapping
from typing import Any

HIDDEN_FIELDS = {"id", "metadata", "payload", "explain", "truncated", "degraded"}


def to_text(answer: Mapping[str, Any]) -> str:
    """Return a compact answer in lines of text: hits numbered, empty fields left out."""
    lines = list(lines_of(answer, ""))
    degraded = answer.get("degraded", ())
    # "vector" took no part, "vector: 37 % of this world" took a part.
    if absent := [part for part in degraded if ":" not in part]:
        lines.append(f"(Answered without: {', '.join(absent)}.)")
    if partial := [part for part in degraded if ":" in part]:
        lines.append(f"(Answered in part by {', '.join(partial)}.)")
    if answer.get("truncated"):
        lines.append("(There is more: ask narrower, or for more.)")
    return "\n".join(lines) or "Nothing found."


def lines_of(node: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in node.items():
        if name in HIDDEN_FIELDS or value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from lines_of(value, indent + "  ")
        elif isinstance(value, list) and isinstance(value[0], Mapping):
            yield from numbered_lines(name, value, indent)
        else:
            text = ", ".join(str(item) for item in value) if isinstance(value, list) else value
            yield f"{indent}{name}: {text}"
    if "bucket" in node and node.get("id"):  # asked for by memory_revise and memory_tell
        yield f"{indent}id: {node['id']}"


def numbered_lines(name: str, items: list[Mapping[str, Any]], indent: str) -> Iterator[str]:
    yield f"{indent}{name}:"
    for number, item in enumerate(items, 1):
        inner = list(lines_of(item, indent + "   "))
        first = inner[0].strip() if inner else "-"
        yield f"{indent}{number}. {first}"
        yield from inner[1:]
