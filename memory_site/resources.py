"""What an MCP host can read by address: m37://rules/{id}, m37://lore/{id}, m37://npc/{id}, m37://episode/{id}."""

import mcp_types as types

from knowledge.models import Lore
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
    """Return the next lore entries that `caller` may know of, and where to go on."""
    entries = Lore.objects.in_world(caller.world).published().visible_to(caller.audience)
    entries = entries.known_in(caller.campaign, caller.audience)
    if cursor:
        entries = entries.filter(slug__gt=cursor)
    rows = list(entries.order_by("slug").values_list("slug", "title")[: PAGE + 1])
    listed = [
        types.Resource(uri=f"m37://lore/{slug}", name=slug, title=title, mime_type="text/markdown")
        for slug, title in rows[:PAGE]
    ]
    return listed, rows[PAGE - 1][0] if len(rows) > PAGE else None
