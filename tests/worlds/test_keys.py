"""Keys: only the right text opens, and no longer than it should."""

from datetime import timedelta

import pytest
from django.utils import timezone

from retrieval.errors import Invalid, RateLimited, Unauthorized
from worlds import keys
from worlds.callers import Caller, admit
from worlds.models import ApiKey, CallCount, World


def test_the_text_of_a_key_opens_its_world_and_is_stored_nowhere(world: World) -> None:
    key, text = keys.create_key(world, name="engine")
    assert keys.verify(text).world == world
    assert text.split("_", 2)[2] not in str(ApiKey.objects.values().get(pk=key.pk))


def test_a_new_key_is_player_safe(world: World) -> None:
    key, _text = keys.create_key(world, name="engine")
    caller = Caller.with_key(key)
    assert (str(caller.audience), caller.scopes) == ("public", {"tools:read"})


@pytest.mark.parametrize(
    "text",
    ["", "m37_", "m37_abc", "sk-123", "m37_000000000000_wrong", "m37_é_x", "m37_a_" + "x" * 900],
)
def test_anything_else_is_refused(db: None, text: str) -> None:
    with pytest.raises(Unauthorized):
        keys.verify(text)


def test_a_wrong_secret_for_a_right_prefix_is_refused(world: World) -> None:
    _key, text = keys.create_key(world, name="engine")
    keys.verify(text)
    with pytest.raises(Unauthorized):
        keys.verify(text[:-1] + ("a" if text[-1] != "a" else "b"))


def test_an_expired_key_is_refused(world: World) -> None:
    _key, text = keys.create_key(
        world, name="engine", expires_at=timezone.now() - timedelta(seconds=1)
    )
    with pytest.raises(Unauthorized):
        keys.verify(text)


def test_a_key_that_another_process_revoked_ends_at_the_next_call(world: World) -> None:
    _key, text = keys.create_key(world, name="engine")
    caller = Caller.with_key(keys.verify(text))
    ApiKey.objects.update(revoked_at=timezone.now())
    with pytest.raises(Unauthorized):
        admit(caller, "rules_lookup")


def test_a_key_that_was_narrowed_elsewhere_is_read_again(world: World) -> None:
    _key, text = keys.create_key(
        world, name="engine", audience="gm", scopes=["tools:read", "world:write"]
    )
    caller = Caller.with_key(keys.verify(text))
    ApiKey.objects.update(audience="public", scopes=["tools:read"])
    admitted, _left = admit(caller, "rules_lookup")
    assert (str(admitted.audience), admitted.scopes) == ("public", {"tools:read"})


@pytest.mark.usefixtures("one_minute")
def test_the_minute_of_one_tool_runs_out_and_another_tool_goes_on(world: World) -> None:
    _key, text = keys.create_key(world, name="engine", calls_per_minute=2)
    caller = Caller.with_key(keys.verify(text))
    left = [admit(caller, "lore_search")[1] for _ in range(2)]
    assert [allowance.headers["RateLimit-Remaining"] for allowance in left if allowance] == [
        "1",
        "0",
    ]
    with pytest.raises(RateLimited) as refused:
        admit(caller, "lore_search")
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    admit(caller, "rules_lookup")


def test_a_new_minute_starts_a_new_count(world: World) -> None:
    _key, text = keys.create_key(world, name="engine", calls_per_minute=1)
    caller = Caller.with_key(keys.verify(text))
    admit(caller, "lore_search")
    CallCount.objects.update(minute=timezone.now() - timedelta(minutes=1))
    _caller, allowance = admit(caller, "lore_search")
    assert allowance is not None
    assert (allowance.used, allowance.headers["RateLimit-Remaining"]) == (1, "0")


def test_a_key_with_an_unknown_scope_cannot_be_made(world: World) -> None:
    with pytest.raises(Invalid):
        keys.create_key(world, name="engine", scopes=["root"])
