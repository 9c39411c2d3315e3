"""No spoilers, by construction: what an audience may not know changes nothing that it is answered.

Every tool is asked thousands of generated questions, about half of them after hidden things by
name, id or word. The same questions are asked again after the rows that the audience may not know
of were deleted. The answers must be equal to the byte: hits, order, scores, ranks, counts,
candidates, errors. Tools that are listed later are asked too.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from django.db import transaction
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from episodes.models import Episode
from memories.witnesses.accounts import text_for
from memory_site import toolbox
from memory_site.asgi import Application
from memory_site.errors import problem_body
from memory_site.threads import run_in_thread
from npcs.models import NPC
from retrieval.errors import Problem
from tests.memory_site.api.channels import PlayerQuestions
from tests.memory_site.api.hidden_deeds import DEEDS
from tests.memory_site.api.secrets import (
    AUDIENCES,
    MARK,
    MARKS_OF,
    Asker,
    build,
    refresh_word_counts,
    remove_hidden,
    remove_world,
)
from tests.memory_site.api.serving import serve
from tests.memory_site.api.test_secrecy_of_changes import shown
from worlds import keys
from worlds.audiences import Audience, resolve_audience
from worlds.callers import Caller
from worlds.models import Campaign, World

CALLS = int(os.environ.get("SECRECY_CALLS", "100"))
"""For each of the six audiences and each of the two tests. `SECRECY_CALLS=850` asks ten thousand
together."""
SAMPLE = max(20, CALLS // 25)
pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600 + 2 * CALLS)]


@pytest.fixture(scope="module")
def told_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    from django.conf import settings

    settings.EMBEDDER = "hashing"
    # On a busy machine a re-ranking that is given up would make two answers differ.
    seconds, settings.RERANK_SECONDS = settings.RERANK_SECONDS, {"fast": 60.0, "careful": 60.0}
    with django_db_blocker.unblock():
        world = build("ferrymark-told")
        yield world
        remove_world(world)
    settings.RERANK_SECONDS = seconds


def answer(name: str, arguments: dict[str, Any], caller: Caller) -> str:
    """Return all that the caller gets to read, as text."""
    try:
        told = toolbox.call_tool(name, arguments, caller, via="test").as_json()
    except Problem as problem:
        told = problem_body(problem, "")
    return json.dumps(told, sort_keys=True, ensure_ascii=False)


def audience_of(world: World, text: str) -> Audience:
    return resolve_audience(world, Audience.parse(text))


def callers(world: World, audience: str) -> list[Caller]:
    """The audience outside of any campaign, and in the one that has overlays."""
    told = {"audience": audience_of(world, audience), "scopes": frozenset(["tools:read"])}
    return [
        Caller(world, **told),
        Caller(world, campaign=Campaign.objects.filter(world=world).first(), **told),
    ]


def foreign_marks(text: str, audience: str) -> list[str]:
    own = MARKS_OF.get(audience, set())
    return [mark for mark in re.findall(rf"{MARK}([a-z]+)\d+", text.lower()) if mark not in own]


def without_echo(text: str, arguments: Any) -> str:
    """Remove what the caller said from the answer: an error repeats it."""
    for said in re.findall(rf"{MARK}\w+", json.dumps(arguments)):
        text = text.replace(said, "")
    return text


def is_own_profile(tool: str, text: str) -> bool:
    """Whether it is what an NPC knows of itself: it feels what episodes made it feel, whoever may
    read those (docs/decisions/0187). The marks in it are checked."""
    return tool == "npc_profile" and bool(json.loads(text).get("private"))


@pytest.mark.parametrize("audience", AUDIENCES)
def test_what_is_hidden_changes_no_answer(told_world: World, audience: str) -> None:
    asker = Asker(told_world, seed=AUDIENCES.index(audience))
    asked = [
        (*asker.question(number), caller)
        for number in range(CALLS // 2)
        for caller in callers(told_world, audience)
    ]
    before = [answer(tool.name, arguments, caller) for tool, arguments, caller in asked]
    for (tool, arguments, _caller), text in zip(asked, before, strict=True):
        assert not foreign_marks(without_echo(text, arguments), audience), (
            tool.name,
            arguments,
            text,
        )
    with transaction.atomic():
        assert remove_hidden(told_world, audience_of(told_world, audience)) > 20
        for (tool, arguments, caller), text in zip(asked, before, strict=True):
            if not is_own_profile(tool.name, text):
                assert answer(tool.name, arguments, caller) == text, (tool.name, arguments)
        transaction.set_rollback(True)


def test_what_is_written_in_hiding_changes_no_answer(told_world: World) -> None:
    """The world before and after a game master wrote hidden things of every kind: two worlds that
    differ in nothing else, ids and times included."""
    asked = []
    for number, audience in enumerate(AUDIENCES):
        asker = Asker(told_world, seed=100 + number)
        questions = [asker.question(each) for each in range(CALLS // 2)]
        asked += [(*each, caller) for each in questions for caller in callers(told_world, audience)]
    before = [answer(tool.name, arguments, caller) for tool, arguments, caller in asked]
    with transaction.atomic():
        for deed in DEEDS:
            assert deed(told_world), deed.__name__
        refresh_word_counts()
        differing = {}
        for (tool, arguments, caller), text in zip(asked, before, strict=True):
            if (after := answer(tool.name, arguments, caller)) != text:
                differing[f"{tool.name} {arguments} {caller.audience}"] = text, after
        transaction.set_rollback(True)
    assert differing == {}


def test_what_is_written_in_hiding_changes_no_page_operation_resource_or_event(
    told_world: World, record_property: Any
) -> None:
    """The same two worlds, asked in every way that is no tool."""
    with transaction.atomic():
        asked = [
            (audience, question)
            for audience in AUDIENCES
            for question in PlayerQuestions(
                told_world, audience, caller=callers(told_world, audience)[0], most=CALLS // 12
            ).all()
        ]
        before = [question.ask() for _audience, question in asked]
        for deed in DEEDS:
            assert deed(told_world), deed.__name__
        refresh_word_counts()
        differing = {}
        for (audience, question), told in zip(asked, before, strict=True):
            if (after := question.ask()) != told:
                differing[f"{audience} {question.channel} {question.name}"] = shown(told, after)
        transaction.set_rollback(True)
    counts = Counter(question.channel for _audience, question in asked)
    record_property("questions", dict(counts))
    assert set(counts) == {"page", "endpoint", "resource", "completion", "prompt", "event"}
    assert not differing, "\n".join(f"{name}\n{text}" for name, text in differing.items())
    # Most questions are about rows that are hidden from whoever asks.
    assert sum(told[0] == 200 for told in before if isinstance(told, tuple)) > 0.05 * len(before)


def test_the_questions_do_find_things(told_world: World) -> None:
    """Else the test above would compare nothing with nothing."""
    asker = Asker(told_world, seed=99)
    caller = Caller(
        told_world,
        audience_of(told_world, "party:lanternbearers"),
        scopes=frozenset(["tools:read"]),
    )
    answers = [
        answer(tool.name, arguments, caller)
        for tool, arguments in (asker.question(n) for n in range(300))
    ]
    assert sum('"id"' in text for text in answers) > 80
    assert any(f"{MARK}lan" in text for text in answers)
    gm = Caller(told_world, Audience("gm"), scopes=frozenset(["tools:read"]))
    asker = Asker(told_world, seed=99)
    assert any(
        f"{MARK}gm" in answer(tool.name, ask, gm)
        for tool, ask in (asker.question(n) for n in range(100))
    )


def _door(world: World, audience: str) -> tuple[str, Asker]:
    """A committed key, so that the running site knows it too: it is made in another thread than the
    test's.
    """
    _key, text = keys.create_key(world, name="door", audience=audience, calls_per_minute=1_000_000)
    return text, Asker(world, seed=7)


def test_each_audience_is_told_what_it_may_know(told_world: World) -> None:
    """Marks of a character and of what all members know are read by those, and by nobody else."""
    asked = [("lore_search", {"query": f"{MARK}{word}"}) for word in ("nuri907", "each908")]
    asked += [("lore_search", {"query": f"{MARK}{word}"}) for word in ("nuri911", "nuri914")]
    for audience in AUDIENCES:
        answers = "".join(
            answer(tool, arguments, caller)
            for tool, arguments in asked
            for caller in callers(told_world, audience)
        )
        found = set(re.findall(rf"{MARK}([a-z]+)\d+", answers)) & {"nuri", "each"}
        assert found == MARKS_OF.get(audience, set()) & {"nuri", "each"}, audience


@pytest.mark.parametrize("audience", ["public", "party:lanternbearers", "character:nuri"])
async def test_the_doors_add_nothing_to_what_the_tools_tell(
    told_world: World, audience: str
) -> None:
    """A sample over HTTP and MCP, with a key of that cap: the same words as in process, so the same
    silence.
    """
    text, asker = await run_in_thread(lambda: _door(told_world, audience))
    questions = [asker.question(number) for number in range(SAMPLE)]
    with serve(Application()) as url:
        async with httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {text}"}, timeout=60
        ) as http:
            told = [
                (await http.post(f"{url}/api/v1/tools/{tool.name}", json=ask)).text
                for tool, ask in questions
            ]
            for path in ("tools/openai.json", "openapi.json"):
                told.append((await http.get(f"{url}/api/v1/{path}")).text)
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as mcp:
                for tool, ask in questions:
                    told.append((await mcp.call_tool(tool.name, ask)).model_dump_json())
                told.append((await mcp.list_resources()).model_dump_json())
    asked = [ask for _tool, ask in questions]
    for text_told, ask in zip(told, [*asked, {}, {}, *asked, {}], strict=True):
        assert not foreign_marks(without_echo(text_told, ask), audience), ask


def words_open_to(npc: NPC) -> set[str]:
    """The marked words of the episodes in which `npc` was, without what is kept from it there."""
    rows = Episode.objects.filter(appearances__npc=npc, retracted_at=None)
    texts = [text_for(what, {f"npc:{npc.slug}"}) for what in rows.values_list("what", flat=True)]
    return set(re.findall(rf"{MARK}[a-z]+\d+", " ".join(texts).lower()))


def test_an_npc_s_memory_tells_what_it_witnessed_alone(told_world: World) -> None:
    caller = Caller(told_world, Audience("gm"), scopes=frozenset(["agent:write"]))
    asker, found = Asker(told_world, seed=7), 0
    questions = [arguments for _tool, arguments in (asker.question(n) for n in range(40))]
    queries = [str(next(iter(each.values()), "rope")) for each in questions if each]
    for npc in NPC.objects.filter(world=told_world):
        own = words_open_to(npc)
        for query in queries[:12]:
            arguments = {"query": query[:500] or "rope", "as": f"npc:{npc.slug}"}
            for tool in ("archival_memory_search", "memory_ask"):
                text = without_echo(answer(tool, arguments, caller), arguments)
                marks = set(re.findall(rf"{MARK}[a-z]+\d+", text.lower()))
                assert marks <= own, (npc, query, marks - own)
                found += '"id"' in text
    assert found > 20


@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_other_audience_reads_the_memory_of_an_npc(told_world: World, audience: str) -> None:
    """Neither by asking as the NPC, nor by a key that names its namespace or the game master's; and
    an NPC that there is not is refused in the same words."""
    told = audience_of(told_world, audience)
    for slug in ("jory-fenn", "nobody-at-all"):
        caller = Caller(told_world, told, scopes=frozenset(["agent:write"]))
        asked = answer("archival_memory_search", {"query": "rope", "as": f"npc:{slug}"}, caller)
        assert '"status": 403' in asked, asked
        assert "hits" not in asked
    for namespace in ("npc:jory-fenn", "gm"):
        caller = Caller(told_world, told, scopes=frozenset(["agent:write"]), namespace=namespace)
        for tool in ("archival_memory_search", "memory_ask"):
            asked = answer(tool, {"query": "rope"}, caller)
            assert '"code": "not_own_memory"' in asked, asked
