"""What an MCP host can read by address: m37://rules/{id}, m37://lore/{id}, m37://npc/{id}, m37://episode/{id}."""

from collections.abc import Callable
from typing import Any

import mcp_types as types

from memory_site import toolbox
from memory_site.prose import prose
from retrieval.problems import NotFound
from worlds.callers import Caller

_BY_TOOL: dict[str, tuple[str, str]] = {"rules": ("rules_lookup", "rule_id"), "npc": ("npc_profile", "npc_id")}

TEMPLATES = [
    types.ResourceTemplate(uri_template=f"m37://{kind}/{{id}}", name=kind, title=title, mime_type="text/markdown")
    for kind, title in {"rules": "A rule", "lore": "A lore entry", "npc": "A character", "episode": "A scene"}.items()
]
PAGE = 50


def read(uri: str, caller: Caller) -> str:
    """Return the text at `uri` as far as `caller` may know it; raises `NotFound`."""
    kind, _slash, reference = uri.removeprefix("m37://").partition("/")
    if not uri.startswith("m37://") or not reference or kind not in _BY_TOOL:
        raise NotFound(f"There is no resource {uri[:200]!r}.", candidates=[each.uri_template for each in TEMPLATES])
    tool, argument = _BY_TOOL[kind]
    return prose(toolbox.call(tool, {argument: reference}, caller, door="mcp").as_json())


def page(caller: Caller, cursor: str | None) -> tuple[list[types.Resource], str | None]:
    """Return the next resources that `caller` may know of, and where to go on."""
    return [], None


Listing = Callable[[Caller], Any]
