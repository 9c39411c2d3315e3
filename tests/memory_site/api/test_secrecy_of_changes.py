"""A change that an audience may not know of changes nothing that it is answered: no body, no
`ETag`, no time, no count, no event, no cursor.

A party, a browser page and a member of the site read all that they can; then a game master changes
something hidden; then they read again. Only what they are told about the call itself may differ.
"""

import json
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from tests.conftest import ApiClient
from tests.memory_site.api.hidden_changes import ADA, CHANGES, PARTY, world_with_secrets
from worlds.models import Membership, Party, World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(560)]
VARYING = {"Date", "X-Request-ID", "RateLimit-Remaining", "RateLimit-Reset", "Set-Cookie"}
NONCES = re.compile(r"nonce-[^']+|nonce=\"[^\"]*\"|name=\"csrfmiddlewaretoken\" value=\"\w+\"")
QUESTIONS = [
    ("lore_search", {"query": "inn at the pier"}),
    ("lore_search", {"query": "trapdoor vault spy"}),
    ("rules_lookup", {"term": "rope"}),
    ("rules_lookup", {"rule_id": "house/rope"}),
    ("rules_lookup", {"rule_id": "house/plot"}),
    ("npc_profile", {"npc_id": "ada", "party_id": "lanternbearers"}),
    ("npc_profile", {"npc_id": "spy"}),
    ("npc_profile", {"npc_id": "ada", "about": "vault, water, spy"}),
    ("session_fetch", {"party_id": "lanternbearers"}),
    ("session_fetch", {"party_id": "lanternbearers", "query": "water"}),
    ("art_suggest", {"scene_id": "pier-night"}),
    ("art_suggest", {"scene_id": "pier-day"}),
    ("lore_assert", {"fact": "Ada Crane is in the Inn"}),
    ("lore_assert", {"fact": "Ada Crane is in the Inn", "at": 30}),
    ("lore_assert", {"fact": "Ada Crane is allied with Spy"}),
]


@pytest.fixture
def gm(world: World, lanternbearers: Party, gilded_oath: Party) -> ApiClient:
    return world_with_secrets(world)


class Reader:
    """Reads all that a party's key, a browser's key and a member of the site can."""

    def __init__(self, world: World, gm: ApiClient) -> None:
        key = {"audience": PARTY, "calls_per_minute": 1_000_000}
        self.player = ApiClient(world, scopes=["tools:read", "world:write"], **key).client
        origins = {"scopes": ["tools:read"], "origins": ["https://page.example.org"]}
        self.browser = ApiClient(world, **key, **origins).client
        self.member = Client(raise_request_exception=False)
        user = get_user_model().objects.create_user("pat")
        party = Party.objects.get(world=world, slug="lanternbearers")
        Membership.objects.create(user=user, world=world, role="player", party=party)
        self.member.force_login(user)
        pictures = [gm.picture, gm.hidden_picture]
        self.addresses = ["me", "systems", "tools/openai.json", "events", "events?limit=1"]
        graph = "world/graph/neighbors?entity=Ada Crane"
        self.addresses += [graph, f"{graph}&at=30", "world/graph/path?src=Ada Crane&dst=Inn"]
        self.addresses += ["events?kind=npc", "world/pictures", "world/pictures?limit=1&q=p"]
        self.addresses += [f"world/pictures/{each}" for each in pictures]
        self.addresses += [
            f"world/pictures/{each}/file?size={size}"
            for each in pictures
            for size in ("file", "thumbnail")
        ]
        pages = ["", "lore/", "lore/?sort=updated", "lore/?sort=-folder", "lore/?sort=visibility"]
        pages += ["lore/inn/", "lore/plot/", "card/lore/inn/", "card/npc/ada/", "card/npc/spy/"]
        pages += ["npcs/", "npcs/?sort=worst", "npcs/?sort=seen", "npcs/ada/", "npcs/spy/"]
        pages += ["sessions/", "episodes/rescue/", "parties/lanternbearers/", "graph/", "timeline/"]
        pages += ["rules/house/rope/", "rules/house/plot/", "search/?q=inn", "search/?q=plot"]
        pages += ["new/", "story/", "handouts/", "known/"]
        pages += [f"known/?show={each}" for each in ("places", "things", "secrets")]
        self.pages = [f"/w/{world.slug}/{page}" for page in pages]
        self.pages += [f"/w/{world.slug}/pictures/{each}/thumbnail/" for each in pictures]

    def read_api(self, client: Client) -> dict[str, Any]:
        commit_events()
        told = {path: comparable(client.get(f"/api/v1/{path}")) for path in self.addresses}
        for tool, ask in QUESTIONS:
            answer = client.post(f"/api/v1/tools/{tool}", ask, content_type="application/json")
            told[f"{tool} {ask}"] = comparable(answer)
        return told

    def read_elsewhere(self) -> dict[str, Any]:
        """What a page with a key in it and a member of the site read."""
        commit_events()
        told = {page: comparable(self.member.get(page)) for page in self.pages}
        return {**told, **self.read_api(self.browser)}


def commit_events() -> None:
    """Events can be read after the commit, which tests do not reach."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def comparable(answer: Any) -> tuple[int, str, dict[str, str]]:
    content = b"".join(answer) if answer.streaming else answer.content
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
    text = content.decode(errors="replace")
    if "json" in answer.get("Content-Type", ""):
        told = json.loads(content)
        for part in [told, told.get("key") or {}]:
            for name in ("instance", "request_id", "last_used_at"):
                part.pop(name, None)
        # These are of the whole text, with what was left out above.
        if told.get("key") or answer.status_code >= 400:
            headers.pop("ETag", None), headers.pop("Content-Length", None)
        text = json.dumps(told, ensure_ascii=False)
    headers = {name: NONCES.sub("", value) for name, value in headers.items()}
    return answer.status_code, NONCES.sub("", text), headers


@pytest.fixture
def reader(world: World, gm: ApiClient) -> Reader:
    return Reader(world, gm)


def test_a_hidden_change_changes_no_answer(gm: ApiClient, reader: Reader) -> None:
    elsewhere, told = reader.read_elsewhere(), reader.read_api(reader.player)
    leaks: dict[str, Any] = {}
    refused: dict[str, Any] = {}
    for name, change in CHANGES.items():
        status, answer = change(gm)
        if status >= 300:
            refused[name] = answer
        again = reader.read_api(reader.player)
        leaks |= {f"{name}: {key}": (told[key], again[key]) for key in differing(told, again)}
        told = again
    again = reader.read_elsewhere()
    leaks |= {key: (elsewhere[key], again[key]) for key in differing(elsewhere, again)}
    assert refused == {}
    assert not leaks, "\n".join(f"{name}\n{shown(*leaks[name])}" for name in leaks)


def shown(before: Any, after: Any) -> str:
    """The first place where two answers differ."""
    before, after = repr(before), repr(after)
    pairs = enumerate(zip(before, after, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), 0)
    return "\n".join(f"  {each[max(0, same - 80) : same + 80]}" for each in (before, after))


def differing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [key for key in after if before[key] != after[key]]


def test_the_reader_does_read(gm: ApiClient, reader: Reader) -> None:
    """Else the test above would compare nothing with nothing."""
    told = {**reader.read_elsewhere(), **reader.read_api(reader.player)}
    read = [name for name, (status, *_rest) in told.items() if status == 200]
    assert len(read) > len(told) * 0.6, sorted(set(told) - set(read))
    gm.put("world/npcs", {**ADA, "summary": "A short woman."})
    changed = differing(told, reader.read_api(reader.player))
    assert "npc_profile {'npc_id': 'ada', 'party_id': 'lanternbearers'}" in changed
    assert "events" in changed


def test_a_tag_of_the_game_masters_answer_tells_a_player_nothing(
    gm: ApiClient, reader: Reader
) -> None:
    """It is answered like a tag that there never was: neither 304 nor 412 tells that there is more
    than the player reads."""
    tags = {path: gm.client.get(f"/api/v1/{path}").get("ETag") for path in reader.addresses}
    assert sum(map(bool, tags.values())) > 0.8 * len(tags)
    wrong: dict[str, Any] = {}
    for client in (reader.player, reader.browser):
        for path, tag in tags.items():
            own = client.get(f"/api/v1/{path}").get("ETag")
            for name in ("If-None-Match", "If-Match"):
                told, never = (
                    comparable(client.get(f"/api/v1/{path}", headers={name: each}))
                    for each in (tag or '"1"', '"never"')
                )
                if own != tag and told != never:
                    wrong[f"{path} {name}"] = told[0], never[0]
    assert wrong == {}
