"""MCP resources: rules, lore, NPCs and episodes at m37://<kind>/<id>, as a caller may know them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from django.db.models import F, Q

from episodes.lookup import find_episode
from episodes.models import Episode
from episodes.queries import present_episode
from episodes.titles import title_of
from knowledge.links import unlink_unknown
from knowledge.models import Lore, LorePassage, Rule
from memory_site import toolbox
from memory_site.compact import compact
from memory_site.mcp_text import to_text
from npcs.models import NPC
from retrieval.errors import NotFound
from worlds.callers import Caller

PREFIX = "m37://"
MARKDOWN, PLAIN = "text/markdown", "text/plain"
PAGE = 50
MOST_COMPLETIONS = 20


@dataclass(frozen=True)
class ResourceKind:
    """A kind of resource: how one is read, and which ones there are."""

    title: str
    mime_type: str
    read: Callable[[str, Caller], str]
    rows: Callable[[Caller], Any]
    """The queryset of all that the caller may know of, with `reference` and `label`."""
    is_listed: bool = True
    """Rules are not: there are thousands. Hosts find them by completion of the template."""


# --- Which ones there are
def visible_lore(caller: Caller) -> Any:
    rows = Lore.objects.in_world(caller.world).only_published().visible_to(caller.audience)
    rows = rows.known_in(caller.campaign, caller.audience)
    return rows.annotate(reference=F("slug"), label=F("title"))


def visible_npcs(caller: Caller) -> Any:
    rows = NPC.objects.in_world(caller.world).visible_to(caller.audience)
    return rows.annotate(reference=F("slug"), label=F("name"))


def visible_episodes(caller: Caller) -> Any:
    rows = Episode.objects.in_world(caller.world).in_campaign(caller.campaign).not_retracted()
    rows = rows.visible_to(caller.audience).with_source()
    return rows.annotate(reference=F("external_id"), label=F("external_id"))


def visible_rules(caller: Caller) -> Any:
    rows = Rule.objects.in_force(caller.world, caller.campaign, caller.audience)
    rows = rows.visible_to(caller.audience)
    return rows.annotate(reference=F("key"), label=F("title"))


# --- How one is read
def read_rule(reference: str, caller: Caller) -> str:
    answer: Any = toolbox.call_tool(
        "rules_lookup", {"rule_id": reference}, caller, via="mcp"
    ).answer
    hit = answer.hits[0]
    source = hit.source.attribution if hit.source else ""
    return "\n\n".join(part for part in (f"# {hit.title}", hit.text, source) if part)


def read_npc(reference: str, caller: Caller) -> str:
    answer = toolbox.call_tool("npc_profile", {"npc_id": reference}, caller, via="mcp")
    return to_text(answer.as_compact_json())


def read_lore(reference: str, caller: Caller) -> str:
    """Return the passages of an entry that the caller may know, in their order."""
    rows = LorePassage.objects.in_world(caller.world).only_published().visible_to(caller.audience)
    rows = rows.known_in(caller.campaign, caller.audience).filter(lore__slug=reference)
    texts = list(rows.order_by("lore", "position").values_list("text", flat=True))
    if not texts:
        raise NotFound(f"There is no lore entry {reference[:200]!r} here.")
    return "\n\n".join(texts)


def read_episode(reference: str, caller: Caller) -> str:
    episode = find_episode(caller.world, reference, caller.audience, campaign=caller.campaign)
    if episode.retracted_at:
        raise NotFound(f"There is no episode {reference[:200]!r} here.")
    return to_text(compact(present_episode(episode, caller.audience)))


KINDS: dict[str, ResourceKind] = {
    "lore": ResourceKind("A lore entry", MARKDOWN, read_lore, visible_lore),
    "npc": ResourceKind("A character", PLAIN, read_npc, visible_npcs),
    "episode": ResourceKind("An episode", PLAIN, read_episode, visible_episodes),
    "rules": ResourceKind("A rule", MARKDOWN, read_rule, visible_rules, is_listed=False),
}
LISTED = [name for name, kind in KINDS.items() if kind.is_listed]


def uri_of(kind: str, reference: str) -> str:
    return f"{PREFIX}{kind}/{reference}"


TEMPLATES = [
    types.ResourceTemplate(
        uri_template=uri_of(name, "{id}"), name=name, title=kind.title, mime_type=kind.mime_type
    )
    for name, kind in KINDS.items()
]


def read(uri: str, caller: Caller) -> types.TextResourceContents:
    """Return the text at `uri` as far as `caller` may know it; raises `NotFound`."""
    name, _slash, reference = uri.removeprefix(PREFIX).partition("/")
    if not uri.startswith(PREFIX) or not reference or name not in KINDS:
        raise NotFound(
            f"There is no resource {uri[:200]!r}.",
            candidates=[each.uri_template for each in TEMPLATES],
        )
    kind = KINDS[name]
    text = unlink_unknown(kind.read(reference, caller), caller)
    return types.TextResourceContents(uri=uri, mime_type=kind.mime_type, text=text)


def page(caller: Caller, cursor: str | None) -> tuple[list[types.Resource], str | None]:
    """Return the next resources that `caller` may know of, kind after kind, and the cursor of the
    next page (kind and last reference). Raises `NotFound` for a cursor that is none."""
    name, _slash, after = (cursor or f"{LISTED[0]}/").partition("/")
    if name not in LISTED:
        raise NotFound("This cursor is not one of this list: list from the start.")
    resources: list[types.Resource] = []
    for kind in LISTED[LISTED.index(name) :]:
        room = PAGE - len(resources)
        rows = KINDS[kind].rows(caller).filter(reference__gt=after).order_by("reference")
        found = list(rows[: room + 1])
        resources += [resource_of(kind, row, caller) for row in found[:room]]
        if len(found) > room:
            last = found[room - 1].reference if room else after
            return resources, f"{kind}/{last}"
        after = ""
    return resources, None


def resource_of(kind: str, row: Any, caller: Caller) -> types.Resource:
    title = title_of(row, caller.audience) if kind == "episode" else row.label
    return types.Resource(
        uri=uri_of(kind, row.reference),
        name=row.reference,
        title=title,
        mime_type=KINDS[kind].mime_type,
    )


def complete(kind: str, start: str, caller: Caller) -> list[str]:
    """Return the ids that begin with `start`, or belong to a name that does."""
    begins = Q(reference__istartswith=start) | Q(label__istartswith=start)
    if kind == "rules":  # its ids begin with the book
        begins |= Q(reference__icontains=f"/{start}")
    rows = KINDS[kind].rows(caller).filter(begins).order_by("reference")
    return list(rows.values_list("reference", flat=True)[:MOST_COMPLETIONS])
