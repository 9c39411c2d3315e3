"""What NPCs do for links: their names, and links in their texts and secrets."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from simple_history.utils import update_change_reason

from knowledge.graph.models import GraphNode, NodeKind
from knowledge.link_models import Link
from knowledge.links import NameClash, RenameReport, other_claims, rename_thing
from knowledge.links.excerpts import excerpt, first_sentence
from knowledge.links.sources import change_strings, with_alias
from knowledge.mentions.kinds import LinkedThing, NamedThing, SourceText, TextPart
from knowledge.mentions.names import folded
from knowledge.mentions.store import resolve_again, save_links_of
from npcs.models import NPC, Secret
from worlds.audiences import Audience
from worlds.models import World
from worlds.stored_names import is_named

PRIVATE_TEXTS = ("voice", "goals", "play_now", "milestones")
"""Texts of the profile that only game masters read."""


class NPCLinks:
    kind = "npc"
    has_names = True

    def _rows(self, world: World, audience: Audience) -> Any:
        return NPC.objects.in_world(world).visible_to(audience)

    def named_things(
        self,
        world: World,
        audience: Audience,
        *,
        keys: Collection[str],
        slugs: Collection[str],
    ) -> Iterator[NamedThing]:
        columns = ("pk", "slug", "name", "aliases", "biography")
        rows = self._rows(world, audience)
        rows = rows.filter(is_named(rows, world.pk, keys=keys, slugs=slugs))
        for pk, slug, name, aliases, biography in rows.values_list(*columns):
            yield NamedThing(pk, self.kind, slug, name, aliases, biography or pk)

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterator[LinkedThing]:
        for npc in self._rows(world, audience).filter(pk__in=ids):
            yield self._thing(npc)

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None:
        npc = self._rows(world, audience).filter(slug=slug).first()
        return self._thing(npc) if npc else None

    def _thing(self, npc: NPC) -> LinkedThing:
        return LinkedThing(
            npc.pk,
            self.kind,
            npc.slug,
            npc.name,
            npc.role or str(NPC._meta.verbose_name),
            first_sentence(npc.open_summary),
            npc.language,
            npc.visibility,
        )

    def visible(self, links: QuerySet[Link], world: World, audience: Audience) -> QuerySet[Link]:
        npcs = self._rows(world, audience)
        links = links.filter(source_kind=self.kind, source_id__in=npcs.values("pk"))
        if audience.is_gm:
            return links
        secrets = Secret.objects.filter(world=world).visible_to(audience)
        return links.filter(Q(secret=False) | Q(part__in=secrets.values("pk")))

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        secrets = Secret.objects.filter(pk__in={link.part for link in links if link.part})
        texts = dict(secrets.visible_to(audience).values_list("pk", "text"))
        npcs = NPC.objects.filter(pk__in={link.source_id for link in links}).visible_to(audience)
        summaries = {npc.pk: npc.summary_for(audience) for npc in npcs.only("summary")}
        return {
            link.pk: excerpt(
                texts.get(link.part, "") if link.part else summaries.get(link.source_id, ""),
                link.raw,
            )
            for link in links
        }

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterator[SourceText]:
        rows = NPC.objects.filter(world=world, **({} if ids is None else {"pk__in": ids}))
        for npc in rows:
            yield SourceText(npc.pk, "summary", npc.summary)
            for name in PRIVATE_TEXTS:
                for text in texts_in(getattr(npc, name)):
                    yield SourceText(npc.pk, name, text, hidden=True)
        for secret in Secret.objects.filter(npc__in=rows):
            part = TextPart(secret.pk, secret.text, secret=False)
            yield SourceText(secret.npc_id, "secrets", secret.text, hidden=True, parts=[part])

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        return {}

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        count = 0
        for npc in NPC.objects.select_for_update().filter(world=world, pk__in=ids):
            before = {name: getattr(npc, name) for name in ("summary", *PRIVATE_TEXTS)}
            after = {name: change_strings(value, change) for name, value in before.items()}
            secrets = [secret for secret in npc.secrets.all() if change(secret.text) != secret.text]
            for secret in secrets:
                secret.text = change(secret.text)
                secret.save()
            if before != after or secrets:
                save_version(npc, after, reason)
                count += 1
        return count

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> None:
        for npc in NPC.objects.select_for_update().filter(world=world, pk__in=ids):
            if folded(npc.name) == folded(old):
                aliases = with_alias(npc.aliases, npc.name, new)
                save_version(npc, {"name": new, "aliases": aliases}, f"{old} → {new}")


def rename_npc(npc: NPC, new_name: str, *, reason: str = "") -> RenameReport:
    """Rename an NPC whose entry, if it has one, goes by another title, as `rename_thing` does."""
    slugs = {"slug": npc.slug, "kind": NodeKind.CHARACTER}
    nodes = GraphNode.objects.filter(world=npc.world, lore=None, **slugs)
    thing = NamedThing(npc.pk, NPCLinks.kind, npc.slug, npc.name, npc.aliases, npc.pk)
    ids = {npc.pk, *nodes.values_list("pk", flat=True)}
    return rename_thing(npc.world, thing, new_name, ids=ids, reason=reason)


def claims_of_npc(npc: NPC) -> list[NameClash]:
    """Return what else has a name of the NPC."""
    own = {npc.pk, *({npc.biography_id} if npc.biography_id else ())}
    return other_claims(npc.world, [npc.name, *npc.aliases], own=own, slug=npc.slug)


def follow_npcs(npcs: Sequence[NPC]) -> None:
    """Write the links of NPCs of one world, and resolve those that name them."""
    if npcs:
        world, ids = npcs[0].world, [npc.pk for npc in npcs]
        save_links_of(world, NPCLinks.kind, ids)
        names = [name for npc in npcs for name in (npc.name, npc.slug, *npc.aliases)]
        resolve_again(world, ids, names)


def follow_secrets(secrets: Sequence[Secret]) -> None:
    """Write the links of the NPCs of one world whose secrets these are."""
    if secrets:
        ids = {secret.npc_id for secret in secrets}
        save_links_of(secrets[0].world, NPCLinks.kind, ids)


def save_version(npc: NPC, values: dict[str, Any], reason: str) -> None:
    for name, value in values.items():
        setattr(npc, name, value)
    npc.version += 1
    npc.save()
    update_change_reason(npc, reason[:100])


def texts_in(value: Any) -> Iterator[str]:
    """Return every text in a field: a text, a list of texts, or of objects with texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)
