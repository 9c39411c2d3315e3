"""The addresses of every named page of the site, read from the URL conf, with rows of a world in
them. A new page is among them by itself; one with a row in its address that is not yet here needs
it in `rows_in_addresses`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from art.models import ArtCard, Picture
from episodes.models import Episode
from episodes.report_models import SessionReport
from knowledge.editing_models import LoreProposal
from knowledge.graph.models import GraphEdge
from knowledge.lore_kinds import LoreKind
from knowledge.models import Rule
from worlds.archive_run import ArchiveRun
from worlds.models import ImportRun, World

QUERIES = {
    "find": ["?q=ferry", "?q=ferry&entry=Toll+House"],
    "graph": ["?around=mira-voss"],
    "link-choices": ["?name=Ferry", "?name=Nobody+at+all"],
    "links": ["?tab=unlinked", "?tab=orphans"],
    "lore": ["?view=tree", "?status=draft", "?text=zzz"],
    "lore-new": ["?kind=place", "?kind=biography"],
    "npc": ["?party=gilded-oath"],
    "play": ["?q=mira", "?q=grappled", "?q=lower+landing"],
    "session-recap": ["?for=lanternbearers"],
    "player-known": ["?show=places", "?show=things", "?show=secrets"],
    "pictures": ["?show=unused", "?show=deleted"],
}
"""What a page shows beside its plain address."""
NEEDS_QUERY = {"link-choices"}
DOWNLOADS = {"archive-file"}
"""Files that only a finished run has."""
OF_ANOTHER_SERVER = {
    *("openid_connect_login", "openid_connect_callback"),
    "socialaccount_login_error",
}
"""Addresses that lead to the server which signs people in, and back from it; a failure says 401."""
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
NO_ROW: dict[str, Any] = {"int": 1, "uuid": UUID(int=0)}
"""For pages that only take a POST, which answer before they look for the row."""
NO_WORD = {"kind": "change", "pk": "1", "ref": "1"}
"""The same, for parameters that are texts."""
Rows = dict[str, list[Any]]


@dataclass(frozen=True)
class SitePage:
    name: str
    address: str


def pages_of_site(rows: Rows) -> list[SitePage]:
    """Every named page, each address once."""
    pages = [
        SitePage(name, address)
        for name, route in named_routes(get_resolver())
        for address in addresses(name, route, rows)
    ]
    return list({page.address: page for page in pages}.values())


def pages_of_empty_world(world: World) -> list[SitePage]:
    names = ("world-home", "lore", "npcs", "sessions", "graph", "pictures", "recent", "inbox")
    return [SitePage(f"empty {name}", reverse(name, args=[world.slug])) for name in names]


def named_routes(resolver: URLResolver, start: str = "") -> Iterator[tuple[str, str]]:
    for each in resolver.url_patterns:
        route = start + str(each.pattern)
        if isinstance(each, URLPattern):
            if each.name and each.name not in DOWNLOADS | OF_ANOTHER_SERVER:
                yield each.name, route
        elif not each.namespace:  # the admin and the REST API have one
            yield from named_routes(each, route)


def addresses(name: str, route: str, rows: Rows) -> list[str]:
    """The addresses of a page, one for each row, and those of `QUERIES`."""
    given: list[dict[str, Any]] = [{}]
    for parameter in PARAMETER.finditer(route):
        kind, word = parameter.groups()
        part = PARAMETER.sub("", route[: parameter.start()]).strip("/").rpartition("/")[2]
        values = (
            rows.get(f"{part}/{word}") or rows.get(word) or [NO_ROW.get(kind) or NO_WORD.get(word)]
        )
        assert values != [None], f"no row for <{word}> in the address of the page {name}"
        given = [{**each, word: value} for each in given for value in values]
    plain = [reverse(name, kwargs=each) for each in given]
    if name in NEEDS_QUERY:
        return [plain[0] + query for query in QUERIES[name]]
    return plain + [plain[0] + query for query in QUERIES.get(name, [])]


def rows_in_addresses(world: World, *, token: str, reset: tuple[str, str]) -> Rows:
    """The values of parameters, by the part of the address before them and their name, or by their
    name alone. `token` is that of an invitation, `reset` is of a link that sets a password."""
    relation = GraphEdge.objects.believed_now().filter(src__world=world, src__slug="mira-voss")
    episodes = Episode.objects.in_world(world).not_retracted()
    archives, restorations = (
        list(ArchiveRun.objects.filter(kind=kind).values_list("pk", flat=True))
        for kind in (ArchiveRun.Kind.ARCHIVE, ArchiveRun.Kind.RESTORATION)
    )
    house_rule = Rule.objects.get(world=world)
    return {
        "guide/name": ["tools", "api-changelog"],
        "world": [world.slug],
        "lore/slug": ["long-names", "han-solbi"],
        "npcs/slug": ["mira-voss"],
        "own/slug": list(LoreKind.objects.filter(world=world).values_list("slug", flat=True)),
        "entities/slug": ["mira-voss"],
        "parties/slug": ["lanternbearers"],
        "sessions/ref": ["session-1"],
        "reports/report": list(
            SessionReport.objects.filter(world=world).values_list("pk", flat=True)
        ),
        "episodes/ref": [episodes.earliest("pk").external_id],
        "card/kind": ["lore"],
        "slug": ["toll-house"],
        "rules/key": [house_rule.key],
        "fact": [relation.earliest("pk").pk],
        "picture": [Picture.objects.filter(world=world, deleted_at=None).earliest("pk").pk],
        "art/card": [ArtCard.objects.filter(world=world).earliest("pk").pk],
        "import/run": list(ImportRun.objects.filter(world=world).values_list("pk", flat=True)),
        "archive/run": archives,
        "restore/run": restorations,
        "proposal": [LoreProposal.objects.get(world=world).pk],
        "kind": ["lore"],
        "token": [token],
        "uidb64": [reset[0]],
        "password/token": [reset[1]],
    }
