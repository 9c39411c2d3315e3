"""What a player can ask for beside the tools: pages of the site, operations that read, resources,
completions and prompts of MCP, and the log of events."""

import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from django.contrib.auth import get_user_model
from django.test import Client

from memory_site import mcp_prompts, mcp_resources
from memory_site.errors import problem_body
from memory_site.openapi import operations
from retrieval.errors import Problem
from tests.api_document import api_document
from tests.memory_site.api.secrets import Asker
from tests.memory_site.api.test_secrecy_of_changes import commit_events, comparable
from tests.memory_site.pages.test_players_see_no_secret import crawl
from worlds import keys
from worlds.callers import Caller
from worlds.models import Character, Membership, Party, World

STARTS = ("a", "b", "m", "s", "t", "fer", "к", "zqx", "")
ENDLESS = ("event_stream",)
OF_OWN_AGENT = "memory"
"""The tag of operations on the memories of the key's own agent."""


class Question(NamedTuple):
    channel: str
    name: str
    ask: Callable[[], Any]
    """Returns all that the player gets to read."""


class PlayerQuestions:
    """Makes questions of each channel for one audience, about things that it may know and about
    things that it may not. `caller` is a caller of that audience."""

    def __init__(self, world: World, audience: str, *, caller: Caller, most: int) -> None:
        self.world, self.audience, self.caller, self.most = world, audience, caller, most
        self.asker = Asker(world, seed=most)
        key = {"audience": audience, "calls_per_minute": 10_000_000}
        _key, text = keys.create_key(world, name=f"channels {audience}", **key)
        headers = {"Authorization": f"Bearer {text}"}
        self.key = Client(headers=headers, raise_request_exception=False)

    def all(self) -> Iterator[Question]:
        """Yield at most `most` questions of each channel."""
        channels = {
            "page": self.pages,
            "endpoint": self.endpoints,
            "resource": self.resources,
            "completion": self.completions,
            "prompt": self.prompts,
            "event": self.events,
        }
        for channel, questions in channels.items():
            found = list(questions())
            few = found if len(found) <= self.most else self.sample(found)
            yield from (Question(channel, name, ask) for name, ask in few)

    def sample(self, found: list[Any]) -> list[Any]:
        return random.Random(self.most).sample(found, self.most)

    def pages(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Each page that a game master finds, asked for by a player of the audience."""
        member = self.member()
        if member is None:
            return
        master = self.login("gm", role="gm")
        for address in crawl(master, f"/w/{self.world.slug}/", most=2 * self.most):
            yield address, lambda address=address: comparable(member.get(address))

    def member(self) -> Client | None:
        kind, _colon, slug = self.audience.partition(":")
        if kind == "party":
            party = Party.objects.get(campaign__world=self.world, slug=slug)
            return self.login(slug, role="player", party=party)
        if kind == "character":
            character = Character.objects.get(world=self.world, slug=slug)
            return self.login(slug, role="player", party=character.party, character=character)
        return None

    def login(self, name: str, **membership: object) -> Client:
        user = get_user_model().objects.create_user(f"{name} of {self.audience}")
        Membership.objects.create(user=user, world=self.world, **membership)
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return client

    def endpoints(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Each operation that reads, for names, ids and words of all kinds."""
        found = operations(api_document())
        for method, path, operation in found:
            is_own = any(OF_OWN_AGENT in tag for tag in operation["tags"])
            if method != "GET" or is_own or operation["operationId"] in ENDLESS:
                continue
            for _number in range(24):
                address = re.sub(r"{[^}]*}", lambda _part: self.reference(), path)
                needed = [
                    f"{each['name']}={self.reference()}"
                    for each in operation.get("parameters", ())
                    if each.get("in") == "query"
                    and (each.get("required") or self.asker.random.random() < 0.2)
                ]
                address = "?".join(filter(None, [address, "&".join(needed)]))
                yield address, lambda address=address: comparable(self.key.get(address))

    def reference(self) -> str:
        return quote(self.asker.random.choice(self.asker.any_name), safe="")

    def resources(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        kinds = {"lore": "lore", "npc": "npc", "episode": "episode", "rules": "rule"}
        for kind, model in kinds.items():
            for name in self.asker.names[model]:
                uri = mcp_resources.uri_of(kind, name)
                yield uri, lambda uri=uri: answered(mcp_resources.read, uri, self.caller)
        for cursor in (None, "npc/", "episode/", "lore/m", "npc/m"):
            yield (
                f"list {cursor}",
                lambda cursor=cursor: answered(mcp_resources.page, self.caller, cursor),
            )

    def completions(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        starts = {*STARTS, *(name[:3].lower() for name in self.asker.any_name)}
        for start in sorted(starts):
            for kind in mcp_resources.KINDS:
                yield (
                    f"{kind} {start}",
                    lambda kind=kind, start=start: answered(
                        mcp_resources.complete, kind, start, self.caller
                    ),
                )

    def prompts(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        parties, npcs = self.asker.names["party"], self.asker.names["npc"]
        asked: list[tuple[str, dict[str, str]]] = []
        asked += [(name, {"party": party}) for name in ("recap", "scene") for party in parties]
        asked += [("portrait", {"npc": npc}) for npc in npcs]
        asked += [("portrait", {"npc": npc, "party": parties[0]}) for npc in npcs]
        for name, arguments in asked:
            yield (
                f"{name} {arguments}",
                lambda name=name, arguments=arguments: answered(
                    mcp_prompts.get, name, arguments, self.caller
                ),
            )

    def events(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        kinds = ("", "npc", "lore", "rule", "episode", "scene", "fact", "reveal", "art")
        for kind in kinds:
            for limit in (1, 3, 500):
                address = f"/api/v1/events?limit={limit}&since=oldest"
                address += f"&kind={kind}" if kind else ""
                yield address, lambda address=address: comparable(self.events_at(address))

    def events_at(self, address: str) -> Any:
        commit_events()
        return self.key.get(address)


def answered(ask: Callable[..., Any], *arguments: Any) -> str:
    """Return what a reader gets as text, also where it is refused."""
    try:
        return str(ask(*arguments))
    except Problem as problem:
        return str(problem_body(problem, ""))
