"""A call is admitted before its tool runs: a refused call costs no search and no embedding."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from knowledge import search
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site import toolbox
from retrieval.embedders import get_embedder
from retrieval.errors import Problem
from worlds import keys
from worlds.callers import Caller
from worlds.models import ApiKey, CallCount, World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("one_minute")]

SECRET = "The guild hides its ledgers under the wheel of the drowned mill."
Make = Callable[..., Callable[..., toolbox.ToolResult]]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was searched for to the end: the expensive part of a call."""
    done: list[Any] = []

    def noting(rows: Any, query: str, **more: Any) -> Any:
        result = original(rows, query, **more)
        done.append(query)
        return result

    original = search.search
    monkeypatch.setattr(search, "search", noting)
    return done


@pytest.fixture
def calling(world: World) -> Make:
    """Make a key; return a function that calls a tool with it, as a process does that has read the
    key before.
    """
    save_entry(
        Lore(
            world=world,
            slug="drowned-mill",
            title="Drowned Mill",
            kind="place",
            status="published",
            visibility="gm",
            body=SECRET,
        )
    )

    def make(**more: Any) -> Callable[..., toolbox.ToolResult]:
        _key, text = keys.create_key(world, name="engine", **{"audience": "gm", **more})

        def call(tool: str = "lore_search", **arguments: Any) -> toolbox.ToolResult:
            caller = Caller.with_key(keys.verify(text))
            return toolbox.call_tool(
                tool, arguments or {"query": "ledgers under the wheel"}, caller, via="rest"
            )

        return call

    return make


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(Problem) as problem:
        call(**arguments)
    return problem.value.code


def elsewhere(**changed: Any) -> None:
    """Change the key as another process would."""
    ApiKey.objects.update(**changed)


def shown(answered: toolbox.ToolResult) -> list[str]:
    return [hit.id for hit in answered.answer.hits]  # type: ignore[attr-defined]


def test_each_call_is_counted_and_told(calling: Make) -> None:
    call = calling(calls_per_minute=5)
    left = [answered.allowance.used for answered in (call(), call()) if answered.allowance]
    assert left == [1, 2]
    assert CallCount.objects.get().calls == 2


def test_over_the_limit_nothing_is_searched(calling: Make, searches: list[Any]) -> None:
    call = calling(calls_per_minute=1)
    call()
    assert refused(call) == "rate_limited"
    assert len(searches) == 1


def test_over_the_limit_that_is_said_before_what_else_is_wrong(calling: Make) -> None:
    call = calling(calls_per_minute=1)
    assert refused(call, query="") == "invalid"
    assert refused(call, query="") == "rate_limited"


def test_a_key_revoked_elsewhere_finds_nothing(calling: Make, searches: list[Any]) -> None:
    call = calling()
    call()
    elsewhere(revoked_at="2026-01-01T00:00:00Z")
    assert refused(call) == "unauthorized"
    assert len(searches) == 1


def test_a_key_narrowed_elsewhere_sees_no_more_than_it_may_now(calling: Make) -> None:
    call = calling()
    assert shown(call()) == ["drowned-mill"]
    elsewhere(audience="public")
    assert shown(call()) == []
    assert CallCount.objects.get().calls == 2


def test_within_a_transaction_it_holds_as_well(calling: Make, searches: list[Any]) -> None:
    call = calling(calls_per_minute=3)
    call()
    with transaction.atomic():
        elsewhere(audience="public")
        assert shown(call()) == []
        elsewhere(scopes=["agent:write"])
        assert refused(call) == "wrong_scope"
        assert refused(call) == "rate_limited"
    assert len(searches) == 2


def test_over_the_limit_nothing_is_embedded(calling: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    call = calling(calls_per_minute=1)
    call()
    asked: list[Any] = []
    model = type(get_embedder("lore").inner)
    embed = model.embed_query
    monkeypatch.setattr(
        model, "embed_query", lambda self, texts: asked.append(texts) or embed(self, texts)
    )
    assert refused(call, query="who keeps the bell of the ferry?") == "rate_limited"
    assert not asked
    elsewhere(calls_per_minute=9)
    call(query="who keeps the bell of the ferry?")
    assert len(asked) == 1


def test_a_key_widened_elsewhere_sees_what_it_may_now(calling: Make) -> None:
    call = calling(audience="public")
    assert shown(call()) == []
    elsewhere(audience="gm")
    assert shown(call()) == ["drowned-mill"]


def test_a_scope_given_elsewhere_counts_at_once(calling: Make) -> None:
    call = calling(scopes=["agent:write"])
    assert refused(call) == "wrong_scope"
    elsewhere(scopes=["tools:read"])
    assert shown(call()) == ["drowned-mill"]


def test_a_limit_raised_elsewhere_counts_at_once(calling: Make) -> None:
    call = calling(calls_per_minute=1)
    call()
    elsewhere(calls_per_minute=2)
    assert shown(call()) == ["drowned-mill"]
    assert refused(call) == "rate_limited"


@pytest.mark.parametrize("tool", ["lore_search", "archival_memory_insert", "lore_assert"])
def test_a_tool_is_not_run_for_a_call_over_the_limit(
    calling: Make, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    call = calling(calls_per_minute=1, scopes=["tools:read", "agent:write"], namespace="mira")
    monkeypatch.setattr(
        toolbox,
        "run_tool",
        lambda *_given: begun.append(tool) or (_ for _ in ()).throw(ValueError()),
    )
    for _time in range(2):
        refused(call, tool=tool, text="The bell is cracked.")
    assert begun == [tool]
