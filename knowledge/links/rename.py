"""Rewrite links in all texts: after a rename, or to mend a broken one."""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.graph.upsert import lock_graph
from knowledge.link_models import Link
from knowledge.links.queries import rows_of_thing
from knowledge.mentions.kinds import NamedThing, linked_kind, linked_kinds
from knowledge.mentions.names import folded, read_names
from knowledge.mentions.store import stored_name
from knowledge.models import Lore
from retrieval.errors import Conflict, Invalid
from retrieval.text import KnownName, NameIndex, TextLink, rewrite_links
from worlds.models import World

LONGEST_TITLE = 200


@dataclass(frozen=True)
class RenameReport:
    """`texts`: the number of rows whose text was changed."""

    old: str
    new: str
    mentions: int
    texts: int


@transaction.atomic
def rename_everywhere(
    entry: Lore, new_title: str, *, also: Collection[UUID] = (), reason: str = ""
) -> RenameReport:
    """Rename the entry, with its entity and the rows `also` (the NPC whose biography it is), as
    `rename_thing` does."""
    # Before the rows, as every writer of rows and entities does.
    lock_graph(entry.world)
    entry = Lore.objects.select_for_update().get(pk=entry.pk)
    named = NamedThing(entry.pk, "lore", entry.slug, entry.title, entry.aliases, entry.pk)
    ids = {*rows_of_thing(entry), *also}
    return rename_thing(entry.world, named, new_title, ids=ids, reason=reason)


@transaction.atomic
def rename_thing(
    world: World, thing: NamedThing, new_title: str, *, ids: Collection[UUID], reason: str = ""
) -> RenameReport:
    """Rename the rows `ids`, which are one thing, and rewrite each mention of its old title in
    every text of the world; all or nothing.

    The words of `[[Old|words]]` stay, an inflected mention keeps its form as words, and the old
    title stays as an alias. Raises `Invalid` for no title and `Conflict` if another thing has it.
    The caller enqueues the embedding after commit."""
    lock_graph(world)
    old, new = thing.name, " ".join(new_title.split())
    check_title(new)
    check_free(world, new, ids)
    reason = reason or _("“%(old)s” was renamed to “%(new)s”") % {"old": old, "new": new}
    links = Link.objects.filter(world=world, targets__overlap=list(ids))
    links = links.filter(state=Link.State.RESOLVED).exclude(kind=Link.Kind.NAME)
    mentions = [link for link in links if names_title(link, thing)]
    # With the folder: it may decide that another link of the same name means another thing.
    names, sources = {(link.folder, link.name) for link in mentions}, sources_of(mentions)
    for kind in linked_kinds():
        kind.rename(world, ids, old=old, new=new)

    def rename_target(link: TextLink) -> str:
        if stored_name(link) not in names:
            return link.raw
        # Only the title itself is shown anew; an inflected form would be wrong in its sentence.
        words = link.words or ("" if folded(link.name) == folded(old) else link.shown_words)
        return spell(link, new, words)

    texts = rewrite_sources(world, sources, rename_target, reason=reason)
    return RenameReport(old, new, len(mentions), texts)


@transaction.atomic
def link_to(
    world: World, name: str, target: str, *, sources: Collection[tuple[str, UUID]] | None = None
) -> int:
    """Make the links that are written with `name` (and its folder, if it names one) lead to
    `target`, keeping the words they show: in all texts, or in those of `sources` (kind and id).
    Returns the number of texts changed."""
    lock_graph(world)
    folder, _slash, bare = name.rpartition("/")
    links = Link.objects.filter(world=world, name=bare, folder=folder)
    links = links.exclude(state=Link.State.RESOLVED).exclude(kind=Link.Kind.NAME)
    by_kind = sources_of(links)
    if sources is not None:
        by_kind = {
            kind: {each for each in ids if (kind, each) in sources} for kind, ids in by_kind.items()
        }

    def replace_target(link: TextLink) -> str:
        same = stored_name(link) == (folder, bare)
        return spell(link, target, link.words or link.name) if same else link.raw

    reason = _("Link “%(old)s” changed to “%(new)s”") % {"old": name, "new": target}
    return rewrite_sources(world, by_kind, replace_target, reason=reason)


def spell(link: TextLink, name: str, words: str) -> str:
    """Return `link` with another name and these words, its folder and heading kept."""
    # Links may name a file by its folder; the thing stays where it was.
    target = "/".join(filter(None, [link.folder, name]))
    heading = link.raw[2:-2].partition("|")[0].rstrip("\\").partition("#")
    bar = "\\|" if "\\|" in link.raw else "|"
    shown = f"{bar}{words}" if words and words != name else ""
    return f"[[{target}{''.join(heading[1:])}{shown}]]"


def names_title(link: Link, thing: NamedThing) -> bool:
    """Whether the link names the thing by its title, perhaps inflected: not by its slug or an
    alias, which stay as they are."""
    own = folded(link.name)
    if link.name == thing.slug and link.name != thing.name:
        return False
    if own == folded(thing.name):
        return True
    if own in map(folded, thing.aliases):
        return False
    return bool(NameIndex([KnownName(thing.id, thing.name)]).find_spelled(link.name))


def check_title(title: str) -> None:
    if not title:
        raise Invalid(_("Write a title."))
    if len(title) > LONGEST_TITLE:
        raise Invalid(_("A title has at most %(count)d characters.") % {"count": LONGEST_TITLE})
    if set(title) & set("[]|#\n"):
        raise Invalid(_("A title cannot hold [ ] | or #, because links are written with them."))


def check_free(world: World, title: str, own: Collection[UUID]) -> None:
    """Raise `Conflict` if links with this title would mean another thing."""
    meaning = read_names(world, [title]).meaning(("", title))
    for group in meaning.groups:
        if not {row.id for row in group} & set(own) and meaning.how == "name":
            detail = _("There is already a “%(title)s”. Choose another title, or merge the two.")
            raise Conflict(detail % {"title": group[0].name})


Sources = dict[str, set[UUID]]


def sources_of(links: Collection[Link]) -> Sources:
    """Return the ids of the rows that hold these links, by kind."""
    sources: Sources = defaultdict(set)
    for link in links:
        sources[link.source_kind].add(link.source_id)
    return sources


def rewrite_sources(
    world: World, sources: Sources, rewrite: Callable[[TextLink], str], *, reason: str
) -> int:
    def change(text: str) -> str:
        return rewrite_links(text, rewrite)

    kinds = [(linked_kind(kind), ids) for kind, ids in sources.items() if ids]
    return sum(kind.rewrite(world, ids, change, reason=reason) for kind, ids in kinds if kind)
