"""What lore entries, the world's own rules and entities of the graph do for links."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from knowledge.entry_store import save_all
from knowledge.graph.models import GraphNode
from knowledge.link_models import Link
from knowledge.links.excerpts import excerpt, first_sentence
from knowledge.mentions.kinds import LinkedThing, NamedThing, SourceText, TextPart
from knowledge.mentions.names import folded
from knowledge.models import Lore, LorePassage, Rule
from retrieval.text import without_secrets
from worlds.audiences import Audience
from worlds.models import Campaign, World
from worlds.stored_names import is_named

OBSIDIAN = "obsidian:"


def readable_lore(world: World, audience: Audience) -> Any:
    """The entries that pages show to `audience`."""
    rows: Any = Lore.objects.in_world(world).visible_to(audience)
    if audience.is_gm:
        return rows
    return rows.only_published().known_in(campaign_of(world, audience), audience)


def campaign_of(world: World, audience: Audience) -> Campaign | None:
    """The campaign that a party and its characters play in: its overlay of canon is what they
    read."""
    if not audience.party_slug:
        return None
    return Campaign.objects.filter(world=world, parties__slug=audience.party_slug).first()


class LoreLinks:
    kind = "lore"
    has_names = True

    def named_things(
        self, world: World, audience: Audience, *, keys: Collection[str], slugs: Collection[str]
    ) -> Iterator[NamedThing]:
        rows = readable_lore(world, audience)
        has_name = is_named(rows, world.pk, keys=keys, slugs=slugs)
        replaced = {} if audience.is_gm else names_replaced(rows, audience, has_name)
        rows = rows.filter(has_name | Q(pk__in=replaced))
        columns = ("pk", "slug", "title", "aliases", "overrides", "campaign", "folder", "origin")
        for pk, slug, title, aliases, overrides, campaign, *places in rows.values_list(*columns):
            folder, origin = places
            if origin.startswith(OBSIDIAN):
                folder = folder or origin.removeprefix(OBSIDIAN).rpartition("/")[0]
            yield NamedThing(
                pk,
                self.kind,
                slug,
                title,
                aliases,
                root=overrides or pk,
                folder=folder,
                campaign=campaign,
                also=replaced.get(pk, ()),
            )

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        return dict(Lore.objects.filter(pk__in=ids).values_list("pk", "campaign"))

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterator[LinkedThing]:
        rows = readable_lore(world, audience).filter(pk__in=ids)
        for entry in rows.defer("body", "extra", "name_keys"):
            yield self._thing(entry)

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None:
        # Of one slug players read the entry of their campaign, and a game master canon.
        canon_first = {"nulls_first": True} if audience.is_gm else {"nulls_last": True}
        rows = readable_lore(world, audience).filter(slug=slug)
        entry = rows.order_by(F("campaign").asc(**canon_first)).first()
        if entry is None:
            return None
        if audience.is_gm:
            return self._thing(entry, first_sentence(without_secrets(entry.body)))
        passages = entry.passages.visible_to(audience).filter(secret=False).order_by("position")
        return self._thing(entry, first_sentence(passages.values_list("text", flat=True).first()))

    def _thing(self, entry: Lore, summary: str = "") -> LinkedThing:
        return LinkedThing(
            entry.pk,
            self.kind,
            entry.slug,
            entry.title,
            str(entry.get_kind_display()),
            summary,
            entry.language,
            entry.visibility,
        )

    def visible(self, links: QuerySet[Link], world: World, audience: Audience) -> QuerySet[Link]:
        entries = readable_lore(world, audience)
        links = links.filter(source_kind=self.kind, source_id__in=entries.values("pk"))
        if audience.is_gm:
            return links
        # The passage carries the audience of its block, with everything revealed since.
        passages = LorePassage.objects.filter(world=world).visible_to(audience).only_published()
        is_open = Q(part=None, secret=False)
        return links.filter(is_open | Q(part__in=passages.values("pk")))

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        parts = {link.part for link in links if link.part}
        rows = LorePassage.objects.filter(pk__in=parts).visible_to(audience)
        texts = dict(rows.values_list("pk", "text"))
        return {
            link.pk: excerpt(texts[link.part], link.raw) for link in links if link.part in texts
        }

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterator[SourceText]:
        rows = Lore.objects.filter(world=world, **({} if ids is None else {"pk__in": ids}))
        passages = LorePassage.objects.filter(world=world)
        # By the ids, not by a join with `rows`: after thousands of inserts in one transaction the
        # planner still counts on empty tables, and reads all entries again for each passage.
        if ids is not None:
            passages = passages.filter(lore__in=ids)
        parts = defaultdict(list)
        columns = ("lore_id", "pk", "text", "secret", "metadata__audiences")
        ordered = passages.order_by("lore_id", "position")
        for lore, pk, text, secret, audiences in ordered.values_list(*columns):
            if "[[" in text:
                parts[lore].append(TextPart(pk, text, secret, tuple(audiences or ())))
        for pk, body, extra, campaign in rows.values_list("pk", "body", "extra", "campaign"):
            yield SourceText(pk, "body", body, parts=parts[pk], campaign=campaign)
            for path, text in strings_in(extra, "extra"):
                yield SourceText(pk, path[:120], text, hidden=True, campaign=campaign)

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        rows = list(Lore.objects.select_for_update().filter(world=world, pk__in=ids))
        for entry in rows:
            entry.body = change(entry.body)
            entry.extra = change_strings(entry.extra, change)
        return save_all(rows, reason=reason).count("changed")

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> None:
        rows = list(Lore.objects.select_for_update().filter(world=world, pk__in=ids))
        entries = [entry for entry in rows if folded(entry.title) == folded(old)]
        for entry in entries:
            entry.aliases = with_alias(entry.aliases, entry.title, new)
            entry.title = new
        save_all(entries, reason=_("renamed"))


def names_replaced(
    rows: QuerySet[Lore], audience: Audience, has_name: Q
) -> dict[UUID, Sequence[str]]:
    """Return the names of the canon entry that each of `rows` replaces, if it `has_name` and the
    audience may know it: a link with such a name means the entry that replaces it."""
    canon = Lore.objects.visible_to(audience).only_published().filter(has_name)
    overlays = rows.filter(overrides__in=canon.values("pk"))
    columns = ("pk", "overrides__title", "overrides__slug", "overrides__aliases")
    return {
        pk: (title, slug, *aliases) for pk, title, slug, aliases in overlays.values_list(*columns)
    }


class RuleLinks:
    """The world's own rules. They have links, and no link means a rule."""

    kind = "rule"
    has_names = False

    def named_things(self, *_args: Any, **_options: Any) -> Iterable[NamedThing]:
        return ()

    def _rows(self, world: World, audience: Audience) -> Any:
        rows: Any = Rule.objects.filter(world=world).visible_to(audience)
        return rows if audience.is_gm else rows.in_campaign(campaign_of(world, audience))

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterator[LinkedThing]:
        for rule in self._rows(world, audience).filter(pk__in=ids).defer("body", "data"):
            label = str(rule.get_kind_display())
            visibility = rule.visibility
            yield LinkedThing(
                rule.pk, self.kind, rule.key, rule.title, label, "", rule.language, visibility
            )

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None:
        rule = self._rows(world, audience).filter(key=slug).first()
        return next(self.things(world, audience, [rule.pk]), None) if rule else None

    def visible(self, links: QuerySet[Link], world: World, audience: Audience) -> QuerySet[Link]:
        rows = self._rows(world, audience)
        links = links.filter(source_kind=self.kind, source_id__in=rows.values("pk"))
        return links if audience.is_gm else links.filter(secret=False)

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        rows = Rule.objects.filter(pk__in={link.source_id for link in links})
        bodies = dict(rows.visible_to(audience).values_list("pk", "body"))
        return {
            link.pk: excerpt(without_secrets(bodies[link.source_id]), link.raw)
            for link in links
            if link.source_id in bodies
        }

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterator[SourceText]:
        rows = Rule.objects.filter(world=world, **({} if ids is None else {"pk__in": ids}))
        for pk, body, campaign in rows.values_list("pk", "body", "campaign"):
            yield SourceText(pk, "body", body, campaign=campaign)

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        return dict(Rule.objects.filter(pk__in=ids).values_list("pk", "campaign"))

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        rules = Rule.objects.select_related("document").select_for_update(of=("self",))
        rows = list(rules.filter(world=world, pk__in=ids))
        for rule in rows:
            rule.body = change(rule.body)
        return save_all(rows, reason=reason).count("changed")

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> None:
        """Nothing: a rename reaches the rows that links name."""


class EntityNames:
    """Entities of the graph have names, and no text."""

    kind = "entity"
    has_names = True

    def _rows(self, world: World, audience: Audience) -> Any:
        return GraphNode.objects.filter(world=world).believed_now().visible_to(audience)

    def named_things(
        self, world: World, audience: Audience, *, keys: Collection[str], slugs: Collection[str]
    ) -> Iterator[NamedThing]:
        rows = self._rows(world, audience)
        rows = rows.filter(is_named(rows, world.pk, keys=keys, slugs=slugs, column="keys"))
        for pk, slug, name, aliases, lore in rows.values_list(
            "pk", "slug", "name", "aliases", "lore"
        ):
            yield NamedThing(pk, self.kind, slug, name, aliases, lore or pk)

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterator[LinkedThing]:
        for node in self._rows(world, audience).filter(pk__in=ids):
            yield self._thing(node)

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None:
        node = self._rows(world, audience).filter(slug=slug).first()
        return self._thing(node) if node else None

    def _thing(self, node: GraphNode) -> LinkedThing:
        label = str(node.get_kind_display())
        return LinkedThing(
            node.pk, self.kind, node.slug, node.name, label, visibility=str(node.visibility)
        )

    def visible(self, links: QuerySet[Link], world: World, audience: Audience) -> QuerySet[Link]:
        return links.none()

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        return {}

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterable[SourceText]:
        return ()

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        return {}

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        return 0

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> None:
        for node in GraphNode.objects.select_for_update().filter(world=world, pk__in=ids):
            if folded(node.name) == folded(old):
                node.aliases = with_alias(node.aliases, node.name, new)
                node.name = new
                node.save()


def with_alias(aliases: Sequence[str], old: str, new: str) -> list[str]:
    """Return the aliases with the old name, and without the new one."""
    names = list(dict.fromkeys([*aliases, old]))
    return [name for name in names if name.casefold() != new.casefold()]


def strings_in(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Return each text with a link in a JSON value, with its path (`extra.parent`)."""
    if isinstance(value, str) and "[[" in value:
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from strings_in(each, f"{path}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each, path)


def change_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return the JSON value with `change` applied to each text in it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: change_strings(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [change_strings(each, change) for each in value]
    return value
