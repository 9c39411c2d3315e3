"""Names that a text mentions without a link to them."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.entry_store import save_entry
from knowledge.graph.upsert import lock_graph
from knowledge.links.queries import leading_row
from knowledge.mentions.names import NameTable, read_names
from knowledge.models import Lore
from retrieval.text import code_spans, find_links
from worlds.models import World

NO_PROSE = re.compile(
    r"^[> \t]*:::.*$|!?\[[^\[\]\n]*\]\([^()\n]*\)|<[^<>\n]+>|https?://\S+", re.MULTILINE
)
"""Fences, links and pictures of Markdown, addresses: no place for a link."""
BLANK = "|"
SURE = {"exact", "alias", "ending", "quoted"}


@dataclass(frozen=True)
class UnlinkedMention:
    """Characters [start, end) of the entry's text (in NFC) name a thing. `link` would replace
    them."""

    start: int
    end: int
    text: str
    link: str
    title: str
    thing: UUID
    line: str


def unlinked_mentions(world: World, entries: Sequence[Lore]) -> dict[UUID, list[UnlinkedMention]]:
    """Return for each entry the first mention of each thing that it names and does not link to.
    Names that several things have are left out. Reads the names once for all entries."""
    bodies = {entry.pk: unicodedata.normalize("NFC", entry.body) for entry in entries}
    links = {link.name for body in bodies.values() for link in find_links(body)}
    table = read_names(world, links, text=" ".join(bodies.values()), misspelt=False)
    return {entry.pk: list(_mentions_in(entry, bodies[entry.pk], table)) for entry in entries}


@transaction.atomic
def link_mentions(entry: Lore, things: Collection[UUID] | None = None) -> int:
    """Turn the unlinked mentions of `things`, or all, into links; return how many. The entry is
    saved with a version of its own."""
    lock_graph(entry.world)
    row = Lore.objects.select_for_update().get(pk=entry.pk)
    mentions = unlinked_mentions(row.world, [row])[row.pk]
    wanted = [each for each in mentions if things is None or each.thing in things]
    body = unicodedata.normalize("NFC", row.body)
    # From the end, so that the earlier positions stay valid.
    for each in sorted(wanted, key=lambda mention: -mention.start):
        body = body[: each.start] + each.link + body[each.end :]
    if wanted:
        row.body = body
        save_entry(row, reason=_("mentions linked"))
    return len(wanted)


def _mentions_in(entry: Lore, body: str, table: NameTable) -> Iterator[UnlinkedMention]:
    names = {(link.folder, link.name) for link in find_links(body)}
    linked = {each for name in names for each in table.meaning(name).ids}
    linked |= {entry.pk, *([entry.overrides_id] if entry.overrides_id else [])}
    for mention in table.index.mentions(_prose_only(body), typos=False):
        if set(mention.text) & set("|[]*_`\n#") or {each.how for each in mention.matches} - SURE:
            continue
        meaning = table.meaning(("", mention.text))
        if len(meaning.groups) != 1 or linked & set(meaning.ids):
            continue
        linked |= set(meaning.ids)
        row = leading_row(meaning.groups[0])
        if len(table.meaning(("", row.name)).groups) != 1:
            continue  # a link by the title would be ambiguous
        yield UnlinkedMention(
            start=mention.start,
            end=mention.end,
            text=mention.text,
            link=_spell(row, mention.text, in_table=_line_at(body, mention.start)[:1] == "|"),
            title=row.name,
            thing=row.id,
            line=_line_at(body, mention.start),
        )


def _spell(row: Any, text: str, *, in_table: bool) -> str:
    bar = "\\|" if in_table else "|"
    return f"[[{row.name}]]" if row.name == text else f"[[{row.name}{bar}{text}]]"


def _prose_only(body: str) -> str:
    """Return `body` with links, code and fences blanked, every character in its place."""
    spans = [(link.start, link.end) for link in find_links(body)]
    spans += code_spans(body) + [match.span() for match in NO_PROSE.finditer(body)]
    for start, end in spans:
        body = body[:start] + BLANK * (end - start) + body[end:]
    return body


def _line_at(body: str, at: int) -> str:
    end = body.find("\n", at)
    return body[body.rfind("\n", 0, at) + 1 : len(body) if end < 0 else end].strip()
