"""No page of the site or the admin takes more queries with ten rows than with three."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count as numbers
from operator import itemgetter
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.converters import IntConverter, UUIDConverter
from django.utils import timezone

from art.models import ArtCard, Picture
from bench.pages import build_world
from episodes.models import Episode, Session
from episodes.report_models import SessionReport
from knowledge.editing_models import LoreProposal
from knowledge.entry_store import save_all
from knowledge.graph.contradiction_models import ConflictRule
from knowledge.graph.models import GraphEdge, GraphRelation
from knowledge.models import Lore, Rule
from knowledge.trash import trash_lore
from npcs.models import NPC
from npcs.trash import trash_npcs
from tests.memory_site.made_rows import Override, RowMaker
from worlds.models import Campaign, ImportRun, Membership, Party, World

# It commits, because a search reads word statistics that are counted after the commit.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

FEW, MANY = 3, 10
MASTER = "bench"
OF_THE_BENCH = {
    "knowledge.Lore",
    "knowledge.GraphNode",
    "npcs.NPC",
    "npcs.Disposition",
    "npcs.DispositionChange",
}
"""Models whose rows `bench.pages` writes, through the services."""
ON_PAGES = (
    "worlds.ImportRun",
    "worlds.ImportedRow",
    "knowledge.Link",
    "knowledge.SavedFilter",
    "knowledge.EntryComment",
    "knowledge.EntryDraft",
    "episodes.Mention",
    "episodes.SessionNote",
    "episodes.LooseEnd",
    "episodes.SessionReport",
    "episodes.EpisodeVersion",
    "episodes.Step",
    "episodes.RecapSentence",
    "npcs.Secret",
    "npcs.Appearance",
    "art.PictureUse",
    "memories.CoreProposal",
)
"""Models without an admin of their own, whose rows pages show."""
NOT_PAGES = {
    "health-live": "no page",
    "health-ready": "no page",
    "set_language": "only POST",
    "invitation": "its token is shown once",
    "password_reset_confirm": "its token is sent by mail",
    "openid_connect_login": "leads to another server",
    "openid_connect_callback": "another server leads there",
    "picture": "a file",
    "picture-preview": "a file",
    "picture-thumbnail": "a file",
    "live": "a stream",
    "export-archive": "a file with every row",
    "export-vault": "a file with every row",
}


def test_no_page_takes_more_queries_with_ten_rows_than_with_three() -> None:
    """Each page is asked for by a superuser, and by a player who may see it."""
    worlds = [make_world("few", FEW), make_world("many", MANY)]
    master, player = Client(), Client()
    master.force_login(User.objects.get(username=MASTER))
    player.force_login(make_player(worlds))
    few, many = (dict(addresses(world)) for world in worlds)
    grown = {}
    for client, least in ((master, 100), (player, 20)):
        counts = {name: counts_of(client, few[name], many[name]) for name in few}
        answered = {name: both for name, both in counts.items() if both}
        assert len(answered) >= least, "the pages that answer with 200"
        grown |= {name: both for name, both in answered.items() if both[1] > both[0]}
    assert grown == {}


def counts_of(client: Client, few: str, many: str) -> tuple[int, int] | None:
    """Return the number of queries of a page at both addresses, if both answer with 200."""
    more, less = query_count(client, many), query_count(client, few)
    if more is None or less is None:
        return None
    if more <= less:
        return less, more
    # The first request of a page may fill caches.
    again = query_count(client, many)
    assert again is not None, f"{many} answered once with 200 and once not"
    return less, again


def query_count(client: Client, address: str) -> int | None:
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    return len(queries) if answer.status_code == 200 else None


def make_player(worlds: Sequence[World]) -> User:
    user = User.objects.create_user("player")
    for world in worlds:
        party = Party.objects.get(world=world, slug="party-1")
        Membership.objects.create(user=user, world=world, role="player", party=party)
    return user


# --- the rows


def make_world(slug: str, count: int) -> World:
    """Make a world with `count` rows of each model that a page lists."""
    if not User.objects.filter(username=MASTER):
        User.objects.create_superuser(MASTER)
    build_world(slug, entries=count, npcs=count)
    world = World.objects.get(slug=slug)
    maker = row_maker(world)
    labels = {model._meta.label for model in site._registry} - OF_THE_BENCH | set(ON_PAGES)
    for model in apps.get_models():
        if (label := model._meta.label) in labels:
            rows = maker.make(model, count)
            maker.shared.setdefault(label, rows[0])
    # All of them live in one place, which is their faction, too.
    place = Lore.objects.get(world=world, slug="entry-1")
    NPC.objects.filter(world=world).update(home_lore=place, faction_lore=place)
    fill_trash(world, count)
    return world


def proposal_about(npcs: Sequence[NPC]) -> dict[str, Any]:
    """A proposal with a line for each NPC in every section."""
    each = [{"kind": "npc", "ref": npc.slug, "name": npc.name} for npc in npcs]
    return {
        "language": "en",
        "summary": "They met.",
        "people": [{"text": one["name"], "candidates": [one], "times": 1} for one in each],
        "changes": [
            {"candidates": [one], "axis": "trust", "delta": 5, "reason": "So.", "quote": "So."}
            for one in each
        ],
        "reveals": [{"candidates": [one]} for one in each],
        "loose_ends": [{"text": f"Find {one['name']}."} for one in each],
    }


def body_about(npcs: Sequence[NPC]) -> dict[str, Any]:
    """A stored version of an episode that names each NPC in every section."""
    return {
        "summary_id": "of-the-test",
        "party_id": "party-0",
        "what": "They met.",
        "who": {"npcs": [npc.slug for npc in npcs]},
        "relations_delta": [{"npc": npc.slug, "delta": 5} for npc in npcs],
        "reveals": [{"npc": npc.slug} for npc in npcs],
        "loose_ends": [f"Find {npc.name}." for npc in npcs],
    }


def fill_trash(world: World, count: int) -> None:
    entries = [Lore(world=world, slug=f"old-{n}", title=f"Old {n}") for n in range(count)]
    save_all(entries)
    trash_lore(entries, by=MASTER)
    npcs = [NPC(world=world, slug=f"old-person-{n}", name=f"Old {n}") for n in range(count)]
    NPC.objects.bulk_create(npcs)
    trash_npcs(npcs, by=MASTER)


def row_maker(world: World) -> RowMaker:
    lore = list(Lore.objects.filter(world=world).order_by("slug"))
    npcs = list(NPC.objects.filter(world=world).order_by("slug"))
    edges = list(GraphEdge.objects.filter(world=world).order_by("pk"))
    shared = (
        *(world, Campaign.objects.get(world=world), Party.objects.filter(world=world).first()),
        *(User.objects.get(username=MASTER), lore[0], npcs[0], edges[0], edges[0].src),
        *(GraphRelation.objects.first(), ConflictRule.objects.first()),
    )

    def letters(number: int) -> str:
        return chr(65 + number // 26 % 26) + chr(65 + number % 26)

    def one_of(rows: Sequence[Any], number: int) -> Any:
        return rows[number % len(rows)]

    own = f"{world.slug}-{{}}".format
    versions = numbers(1)
    overrides: dict[str, Override] = {
        "episodes.SessionReport": lambda n: {
            "digest": own(n),
            "text": f"Report {n}.",
            "state": "open",
            "proposal": proposal_about(npcs),
        },
        "episodes.EpisodeVersion": lambda n: {"version": next(versions), "body": body_about(npcs)},
        "auth.User": lambda n: {"username": own(f"user-{n}")},
        "auth.Group": lambda n: {"name": own(n)},
        "worlds.GameSystem": lambda n: {"slug": own(n)},
        "worlds.World": lambda n: {"slug": own(n)},
        "worlds.Membership": lambda n: {
            "user": User.objects.create_user(own(n)),
            "role": "gm",
            "party": None,
            "character": None,
        },
        "worlds.Invitation": lambda n: {
            "role": "gm",
            "party": None,
            "character": None,
            "token_hash": own(n),
        },
        "worlds.ApiKey": lambda n: {"prefix": own(n)},
        "worlds.Reveal": lambda n: {"subject_kind": "lore", "subject_id": one_of(lore, n).pk},
        "knowledge.EntryDraft": lambda n: {"entry": None},
        "knowledge.EntryComment": lambda n: {"lore": lore[0]},
        "knowledge.LoreProposal": lambda n: {
            "entry": {"title": f"Proposed {n}", "body": "Text."},
            "state": "open",
            "lore": one_of(lore, n),
        },
        "knowledge.GraphRelation": lambda n: {
            "code": f"{world.slug.upper()}_{letters(n)}",
            "stored_as": None,
        },
        "knowledge.ConflictRule": lambda n: {"code": own(n), "form": "single", "other": None},
        "knowledge.Contradiction": lambda n: {
            "first": one_of(edges, n),
            "second": one_of(edges, n + 1),
            "ended": None,
            "state": "open",
        },
        # Of the world itself: the books of a system that it does not play have no pages.
        "knowledge.Document": lambda n: {"system": None},
        "knowledge.Rule": lambda n: {
            "key": f"{world.slug}/rule-{n}",
            "campaign": None,
            "overrides": None,
        },
        "episodes.Mention": lambda n: {"lore": one_of(lore, n)},
        # Every second one is broken.
        "knowledge.Link": lambda n: {
            "source_kind": "lore",
            "source_id": one_of(lore, n).pk,
            "targets": [lore[1].pk, npcs[0].pk][: n % 2 * 2],
            "state": ("unresolved", "resolved")[n % 2],
        },
        "knowledge.GraphEdge": lambda n: {
            "src": edges[0].src,
            "dst": one_of([edge.src for edge in edges[1:]], n),
            "src_kind": "Character",
            "dst_kind": "Character",
            "relation_id": "KNOWS",
            "source_ref": own(n),
            "replaces": None,
        },
        "worlds.ImportRun": lambda n: {"state": "done"},
        "npcs.Secret": lambda n: {"position": n},
        "npcs.Appearance": lambda n: {"npc": one_of(npcs, n)},
        "art.PictureUse": lambda n: {"lore": one_of(lore, n), "npc": None},
        "memories.Reflection": lambda n: {"number": n, "done_at": timezone.now()},
    }
    return RowMaker(overrides, {row._meta.label: row for row in shared if row})


# --- the pages


def addresses(world: World) -> Iterator[tuple[str, str]]:
    """The address of each page, with its name."""
    for model in site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        for query in ("", "?q=north") if site._registry[model].search_fields else ("",):
            address = reverse(f"admin:{name}_changelist") + query
            yield f"admin list of {model._meta.label} {query}", address
    known = known_arguments(world)
    for name, wanted in sorted(page_names(get_resolver()), key=itemgetter(0)):
        if name not in NOT_PAGES:
            kwargs = {
                each: known.get(f"{name} {each}", known.get(each, UNKNOWN.get(kind, "nothing")))
                for each, kind in wanted.items()
            }
            for query in QUERIES.get(name, ("",)):
                yield f"{name} {query}", reverse(name, kwargs=kwargs) + query


def page_names(
    resolver: URLResolver, outer: Mapping[str, type] | None = None
) -> Iterator[tuple[str, dict[str, type]]]:
    """Return the names of all pages, each with its arguments and their converters."""
    for each in resolver.url_patterns:
        own = {name: type(converter) for name, converter in each.pattern.converters.items()}
        arguments = {**(outer or {}), **own}
        if isinstance(each, URLPattern):
            if each.name:
                yield each.name, arguments
        elif not each.namespace:  # the admin and the API have one
            yield from page_names(each, arguments)


def known_arguments(world: World) -> dict[str, Any]:
    """The arguments of pages, by their name or by the page and their name. Those that are not here
    belong to addresses that are only posted to; they name nothing."""
    fact = GraphEdge.objects.filter(world=world, src__slug="npc-0").first()
    run = ImportRun.objects.filter(world=world).first()
    picture = Picture.objects.filter(world=world).first()
    card = ArtCard.objects.filter(world=world).first()
    proposal = LoreProposal.objects.filter(world=world).first()
    rule = Rule.objects.filter(world=world).first()
    people = (
        "npc",
        "npc-correct",
        "npc-merge",
        "npc-edit",
        "npc-delete",
        "npc-versions",
        "npc-trash",
    )
    entities = ("entity", "relation-add", "relation")
    return {
        "world": world.slug,
        "slug": "entry-1",
        "kind": "lore",
        **dict.fromkeys((f"{page} slug" for page in (*people, *entities)), "npc-0"),
        **dict.fromkeys((f"{page} slug" for page in OF_PARTIES), "party-0"),
        "session ref": Session.objects.filter(world=world).first().external_id,
        "episode ref": Episode.objects.filter(world=world).first().external_id,
        "party slug": "party-0",
        **dict.fromkeys((f"{page} ref" for page in SESSION_PAGES), session_of(world)),
        **dict.fromkeys((f"{page} ref" for page in EPISODE_PAGES), episode_of(world)),
        "session-report report": SessionReport.objects.filter(world=world, state="open").first().pk,
        **dict.fromkeys((f"{page} key" for page in ("rule", "house-rule-replacing")), rule.key),
        **dict.fromkeys(("import-run run", "import-progress run"), run.pk),
        "picture-edit picture": picture.pk,
        "relation fact": fact.pk,
        "proposal": proposal.pk,
        "art-card card": card.pk,
    }


OF_PARTIES = ("party", "play", "play-lookup", "play-scene", "prepare", "prepare-unknown")
SESSION_PAGES = (
    *("session", "session-edit", "session-after", "episode-new", "session-recap"),
    "session-report",
)
EPISODE_PAGES = ("episode", "episode-correct", "episode-erase")


def session_of(world: World) -> str:
    return str(Session.objects.filter(world=world).earliest("pk").external_id)


def episode_of(world: World) -> str:
    return str(Episode.objects.filter(world=world).earliest("pk").external_id)


UNKNOWN = {UUIDConverter: uuid4(), IntConverter: 1}
QUERIES = {
    "find": ("?q=north",),
    # What a question opens, a rule, a person or a place, depends on the rows that there are.
    "play": ("",),
    "play-lookup": ("?kind=npc&ref=npc-0", "?kind=thing&ref=entry-1"),
    "lore": ("", "?view=tree&folder=North", "?text=north&sort=-updated", "?tag=tag-1"),
    "links": ("?tab=broken", "?tab=unlinked", "?tab=orphans"),
    "editor-complete": ("?q=ba",),
    "editor-audiences": ("?q=p",),
    "relation-names": ("?q=per",),
    "link-choices": ("?name=entry",),
    "npc": ("?party=party-0",),
    "npc-merge": ("", "?other=npc-1"),
    "graph": ("", "?around=npc-0"),
    "pictures": ("", "?q=name"),
}
"""What is asked of the pages that search or filter."""
