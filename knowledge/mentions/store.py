"""Write the links of texts, and resolve them again when a name appears, changes or goes."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count, islice
from uuid import UUID

from django.db import transaction
from psycopg.types.json import Jsonb

from knowledge.link_models import Link
from knowledge.mentions.kinds import SourceText, TextPart, linked_kind, linked_kinds
from knowledge.mentions.names import Meaning, Name, NameTable, read_names
from retrieval.copied_rows import copy_rows
from retrieval.text import (
    DEEPEST_SECRET,
    TextLink,
    find_links,
    names_in_both,
    parse_secret,
    phrase_keys,
    spelled_keys,
    split_secrets,
)
from worlds.models import World

BATCH = 1000
COLUMNS = tuple(each.attname for each in Link._meta.concrete_fields if not each.primary_key)
STATES = {0: Link.State.UNRESOLVED, 1: Link.State.RESOLVED}
LONGEST_NAME = 200
MOST_LINKS = 5_000
"""Of one text. A text with more is shown with all of them, but only the first ones have backlinks:
each is a row."""


@dataclass
class PostponedLinks:
    """What `links_at_once` has to do at its end."""

    sources: dict[str, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    ids: set[UUID] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


_postponed: ContextVar[PostponedLinks | None] = ContextVar("postponed links", default=None)


@contextmanager
def links_at_once(world: World) -> Iterator[None]:
    """Write and resolve the links of all rows that the block saves at its end, with one table of
    names: thousands of rows would otherwise read it again for each. For rows of `world` alone, in
    the transaction that saves them."""
    postponed = PostponedLinks()
    token = _postponed.set(postponed)
    try:
        yield
    finally:
        _postponed.reset(token)
    for kind, ids in postponed.sources.items():
        save_links_of(world, kind, ids)
    resolve_again(world, postponed.ids, postponed.names)


def are_links_postponed() -> bool:
    """Whether links are written later than the rows: until then they are those of before."""
    return _postponed.get() is not None


def write_links(
    world: World, kind: str, texts: Iterable[SourceText], *, ids: Collection[UUID]
) -> None:
    """Replace the links of the sources `ids` by those in their `texts`. Call in the transaction
    that saves the texts."""
    texts = list(texts)
    Link.objects.filter(source_kind=kind, source_id__in=ids).delete()
    links = [link for text in texts for link in islice(links_in(world, kind, text), MOST_LINKS)]
    named_texts = [each for each in texts if each.with_names and each.text]
    if not links and not named_texts:
        return
    prose = " ".join(each.text for each in named_texts)
    table = read_names(world, {link.name for link in links}, text=prose, misspelt=False)
    for text in named_texts:
        links += islice(name_mentions(world, kind, text, table), MOST_LINKS)
    campaigns = {text.source_id: text.campaign for text in texts}
    for link in links:
        campaign = campaigns[link.source_id]
        set_targets(link, table.meaning((link.folder, link.name), campaign=campaign))
    insert_links(links)


def insert_links(links: Iterable[Link]) -> None:
    """Insert new rows. A text may have thousands of links, with a dozen values each."""
    plain = [name for name in COLUMNS if name not in ("audiences", "kind", "state")]
    rows = (
        (
            *(getattr(link, name) for name in plain),
            *(Jsonb(link.audiences), str(link.kind), str(link.state)),
        )
        for link in links
    )
    copy_rows(Link, [*plain, "audiences", "kind", "state"], rows)


def resolve_again(world: World, ids: Collection[UUID], names: Collection[str] = ()) -> None:
    """Resolve the links that mean the rows `ids`, or whose name may be one of `names`. Call after
    these rows were created, renamed or deleted, in the same transaction."""
    if postponed := _postponed.get():
        postponed.ids |= set(ids)
        postponed.names |= set(names)
        return
    rows = Link.objects.filter(world=world).exclude(kind=Link.Kind.NAME)
    # Two statements: an OR of two conditions on arrays uses no index.
    by_id = {link.pk: link for link in rows.filter(targets__overlap=list(ids))}
    if keys := frozenset[str]().union(*map(phrase_keys, names)):
        by_id |= {link.pk: link for link in rows.filter(name_keys__overlap=list(keys))}
    if not by_id:
        return
    table = read_names(world, {link.name for link in by_id.values()})
    campaigns = campaigns_of_sources(by_id.values())
    changed = [
        link
        for link in by_id.values()
        if set_targets(
            link,
            table.meaning((link.folder, link.name), campaign=campaigns.get(link.source_id)),
        )
    ]
    Link.objects.bulk_update(changed, ["targets", "state", "kind"], batch_size=BATCH)


def campaigns_of_sources(links: Collection[Link]) -> dict[UUID, UUID | None]:
    """Return the campaign of the text of each link: one query for each kind of texts."""
    ids: dict[str, set[UUID]] = defaultdict(set)
    for link in links:
        ids[link.source_kind].add(link.source_id)
    sources = ((linked_kind(kind), rows) for kind, rows in ids.items())
    return {
        pk: campaign
        for source, rows in sources
        if source
        for pk, campaign in source.campaigns(rows).items()
    }


def forget_sources(kind: str, ids: Collection[UUID]) -> None:
    """Delete the links of deleted rows."""
    Link.objects.filter(source_kind=kind, source_id__in=ids).delete()


@transaction.atomic
def relink(world: World) -> int:
    """Compute all links of the world anew; return how many there are."""
    for kind in linked_kinds():
        Link.objects.filter(world=world, source_kind=kind.kind).delete()
        write_links(world, kind.kind, kind.texts(world), ids=())
    return Link.objects.filter(world=world).count()


def save_links_of(world: World, kind: str, ids: Collection[UUID]) -> None:
    """Write the links of these rows from their stored texts."""
    if postponed := _postponed.get():
        postponed.sources[kind] |= set(ids)
    elif source := linked_kind(kind):
        write_links(world, kind, source.texts(world, ids), ids=ids)


# --- the links of one text


@dataclass(frozen=True)
class SecretSpan:
    """A stretch of a text with one audience. `audiences` is None outside secrets."""

    text: str
    audiences: tuple[str, ...] | None


def blocks_of(
    text: str, outer: tuple[str, ...] | None = None, depth: int = 0
) -> Iterator[SecretSpan]:
    """Return the stretches of `text` in order; a nested secret is for those whom both name. What
    is deeper than `DEEPEST_SECRET` is the game master's."""
    if depth > DEEPEST_SECRET:
        yield SecretSpan(text, ())
        return
    for part, is_secret in split_secrets(text):
        if not is_secret:
            yield SecretSpan(part, outer)
            continue
        _head, audiences, body, _tail = parse_secret(part)
        named = audiences if outer is None else tuple(names_in_both(outer, audiences))
        yield from blocks_of(body, named, depth + 1)


def stored_name(link: TextLink) -> Name:
    """Return folder and name of the link as its row has them."""
    return link.folder[-LONGEST_NAME:], link.name[:LONGEST_NAME]


def links_in(world: World, kind: str, text: SourceText) -> Iterator[Link]:
    place = Place(text)
    for block in blocks_of(text.text):
        for link in find_links(block.text):
            secret = block.audiences is not None
            yield Link(
                world=world,
                source_kind=kind,
                source_id=text.source_id,
                field=text.field,
                position=place.next_position(),
                raw=link.raw,
                folder=stored_name(link)[0],
                name=stored_name(link)[1],
                words=link.shown_words[:300],
                name_keys=sorted(spelled_keys(link.name)),
                kind=kind_of(text, secret=secret),
                secret=secret or text.hidden,
                audiences=list(block.audiences or ()),
                part=place.part_with(link.raw, block.audiences),
            )


def name_mentions(world: World, kind: str, text: SourceText, table: NameTable) -> Iterator[Link]:
    """Return the names in the text that are no links: unambiguous ones, each once a stretch."""
    positions = count(1_000_000)  # after all links
    for block in blocks_of(text.text):
        for mention in table.index.mentions(block.text, typos=False):
            hows = {match.how for match in mention.matches}
            meaning = table.meaning(("", mention.text), campaign=text.campaign)
            if hows & {"part", "fuzzy"} or len(meaning.groups) != 1:
                continue
            yield Link(
                world=world,
                source_kind=kind,
                source_id=text.source_id,
                field=text.field,
                position=next(positions),
                raw=mention.text,
                name=mention.text[:LONGEST_NAME],
                words=mention.text[:300],
                name_keys=sorted(spelled_keys(mention.text)),
                kind=Link.Kind.NAME,
                secret=block.audiences is not None or text.hidden,
                audiences=list(block.audiences or ()),
            )


def kind_of(text: SourceText, *, secret: bool) -> Link.Kind:
    if secret:
        return Link.Kind.SECRET
    return Link.Kind.FIELD if text.field.startswith("extra") else Link.Kind.LINK


def set_targets(link: Link, meaning: Meaning) -> bool:
    """Point `link` to what its name means; return whether that changed it."""
    before = (link.targets, link.state, link.kind)
    link.targets = meaning.ids
    link.state = STATES.get(len(meaning.groups), Link.State.AMBIGUOUS)
    if link.kind in (Link.Kind.LINK, Link.Kind.ALIAS):
        link.kind = Link.Kind.ALIAS if meaning.how == "alias" else Link.Kind.LINK
    return before != (link.targets, link.state, link.kind)


class Place:
    """Walks through the parts of a text beside its links, both in the order of the text."""

    def __init__(self, text: SourceText) -> None:
        self._positions = count()
        self._parts: Sequence[TextPart] = text.parts
        self._part, self._offset = 0, 0

    def next_position(self) -> int:
        return next(self._positions)

    def part_with(self, raw: str, audiences: tuple[str, ...] | None) -> UUID | None:
        """Return the part that holds the next link; None for one in a heading, which no passage
        holds: such a link in a secret is the game master's."""
        start = self._offset
        for number in range(self._part, len(self._parts)):
            part = self._parts[number]
            own = tuple(part.audiences) if part.secret else None
            at = part.text.find(raw, start) if own == audiences else -1
            if at >= 0:
                self._part, self._offset = number, at + len(raw)
                found: UUID = part.id
                return found
            start = 0
        return None
