"""What an audience knows, as lists: people, places, things, and secrets it learned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Max, Q
from django.urls import reverse

from art.galleries import portraits_of
from art.models import Picture
from knowledge.links.excerpts import first_sentence
from knowledge.links.sources import readable_lore
from knowledge.models import Lore, LorePassage
from memory_site.players.learned import Learned, learned_of, reveals_of
from npcs.models import NPC, Secret
from worlds.audiences import Audience
from worlds.models import World
from worlds.name_order import by_name

PER_PAGE = 30
MOST_SECRETS = 1000
HANDOUT_TAGS = ("handout", "handouts", "раздатка", "раздаточный материал", "핸드아웃", "유인물")
"""Entries with one of these tags are handouts."""


@dataclass(frozen=True)
class KnownThing:
    title: str
    url: str
    label: str = ""
    summary: str = ""
    language: str = ""
    picture: Picture | None = None
    learned: Learned | None = None


@dataclass(frozen=True)
class KnownSecret:
    text: str
    about: str
    url: str
    language: str = ""
    learned: Learned | None = None


# --- what there is


def people(world: World, audience: Audience) -> Any:
    return NPC.objects.in_world(world).visible_to(audience).order_by(by_name("name"), "pk")


def entries(world: World, audience: Audience) -> Any:
    rows = readable_lore(world, audience).select_related("custom_kind")
    return rows.defer("body", "extra", "name_keys")


def places(world: World, audience: Audience) -> Any:
    return entries(world, audience).filter(kind=Lore.Kind.PLACE).order_by(by_name("title"), "pk")


def things(world: World, audience: Audience) -> Any:
    """The other entries, without those that tell of a person in the list of people."""
    rows = entries(world, audience).exclude(kind=Lore.Kind.PLACE)
    return without_people(rows, world, audience).order_by(by_name("title"), "pk")


def without_people(rows: Any, world: World, audience: Audience) -> Any:
    """Entries without those that tell of a person whom `audience` knows as one."""
    persons = people(world, audience).filter(biography__isnull=False).order_by()
    return rows.exclude(pk__in=persons.values("biography"))


def handouts(world: World, audience: Audience) -> Any:
    """Entries that are tagged as handouts, the latest first."""
    tagged = Q(tags__overlap=[form for tag in HANDOUT_TAGS for form in (tag, tag.capitalize())])
    return entries(world, audience).filter(tagged).order_by("-created_at", "-pk")


# --- as they are shown


def present_people(
    rows: Iterable[NPC], world: World, audience: Audience, *, with_pictures: bool = True
) -> list[KnownThing]:
    rows = list(rows)
    portraits = portraits_of(rows, audience) if with_pictures else {}
    learned = learned_of(world, audience, [row.pk for row in rows])
    return [
        KnownThing(
            row.name,
            reverse("npc", args=[world.slug, row.slug]),
            row.role,
            first_sentence(row.open_summary),
            row.language,
            portraits.get(row.pk),
            learned.get(row.pk),
        )
        for row in rows
    ]


def present_entries(
    rows: Iterable[Lore], world: World, audience: Audience, *, with_pictures: bool = True
) -> list[KnownThing]:
    rows = list(rows)
    ids = [row.pk for row in rows]
    portraits = portraits_of(rows, audience) if with_pictures else {}
    learned, openings = learned_of(world, audience, ids), opening_texts(ids, audience)
    return [
        KnownThing(
            row.title,
            reverse("lore-entry", args=[world.slug, row.slug]),
            row.kind_name,
            first_sentence(openings.get(row.pk)),
            row.language,
            portraits.get(row.pk),
            learned.get(row.pk),
        )
        for row in rows
    ]


def opening_texts(ids: Sequence[UUID], audience: Audience) -> dict[UUID, str]:
    """The first open passage of each entry."""
    rows = LorePassage.objects.filter(lore__in=ids, secret=False).visible_to(audience)
    rows = rows.only_published().order_by("lore", "position").distinct("lore")
    return dict(rows.values_list("lore", "text"))


def secrets_page(world: World, audience: Audience, number: str | None) -> tuple[Page[Any], Any]:
    """Return one page of the secrets that the audience has learned, the latest first, and the
    secrets on it."""
    own, blocks = secrets_of_people(world, audience), secrets_of_entries(world, audience)
    ids = list(own.order_by("-pk").values_list("pk", flat=True)[:MOST_SECRETS])
    ids += blocks.order_by("-pk").values_list("pk", flat=True)[:MOST_SECRETS]
    times = dict(
        reveals_of(world, audience)
        .filter(subject_id__in=ids)
        .values_list("subject_id", Max("created_at"))
    )
    # Without an entry of the log it was known from the first, so it comes last.
    ids.sort(key=lambda pk: times[pk].timestamp() if pk in times else 0, reverse=True)
    page = Paginator(ids, PER_PAGE).get_page(number)
    return page, present_secrets(list(page.object_list), world, audience)


def secrets_of_people(world: World, audience: Audience) -> Any:
    """What an unknown person hides would name that person."""
    npcs = people(world, audience).order_by().values("pk")
    return Secret.objects.filter(world=world, npc__in=npcs).visible_to(audience)


def secrets_of_entries(world: World, audience: Audience) -> Any:
    rows: Any = LorePassage.objects.filter(world=world, secret=True).visible_to(audience)
    return rows.filter(lore__in=readable_lore(world, audience).values("pk"))


def present_secrets(ids: Sequence[UUID], world: World, audience: Audience) -> list[KnownSecret]:
    """Return those of these secrets that the audience knows, in this order."""
    learned = learned_of(world, audience, ids)
    own = secrets_of_people(world, audience).filter(pk__in=ids).select_related("npc")
    blocks = secrets_of_entries(world, audience).filter(pk__in=ids).select_related("lore")
    shown = {
        row.pk: KnownSecret(
            row.text,
            row.npc.name,
            reverse("npc", args=[world.slug, row.npc.slug]),
            row.npc.language,
            learned.get(row.pk),
        )
        for row in own
    } | {
        row.pk: KnownSecret(
            row.text,
            row.lore.title,
            reverse("lore-entry", args=[world.slug, row.lore.slug]),
            row.language,
            learned.get(row.pk),
        )
        for row in blocks.defer("embedding", "search_vector")
    }
    return [shown[pk] for pk in dict.fromkeys(ids) if pk in shown]
