"""The caller of a tool or endpoint, and its admission: key, scope, audience and rate limit."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.db import connection

from retrieval.errors import (
    AudienceAboveCap,
    Forbidden,
    Invalid,
    RateLimited,
    Unauthorized,
    WrongScope,
)
from worlds import keys
from worlds.audiences import (
    GM,
    PUBLIC,
    Audience,
    audience_of_character,
    audience_of_party,
    audiences_of_campaign,
    resolve_audience,
)
from worlds.lookup import find_exact, find_named_exactly
from worlds.models import ApiKey, Campaign, Character, Party, World

# One upsert checks the key, counts the call for all processes together, and tells by the key's row
# version whether it has changed since this process cached it. The table is unlogged: a crash of the
# database loses a minute of counts.
COUNT_CALL = """
INSERT INTO worlds_callcount AS counter (key_id, tool, minute, calls)
SELECT id, %(tool)s, date_trunc('minute', clock_timestamp()), 1
FROM worlds_apikey
WHERE id = %(key)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
ON CONFLICT (key_id, tool) DO UPDATE SET
    calls = CASE WHEN counter.minute = EXCLUDED.minute THEN counter.calls + 1 ELSE 1 END,
    minute = EXCLUDED.minute
RETURNING calls, 60 - floor(extract(second FROM clock_timestamp()))::int,
    (SELECT xmin::text || ctid::text FROM worlds_apikey WHERE id = key_id)
"""


GM_SCOPES = frozenset({"world:write", "admin"})
FOR_GMS = (
    "This operation is for programs of game masters: with a key for players call the tools "
    "(lore_search, npc_profile, …), GET /events or MCP, which answer for its audience."
)


class WrongWorld(Forbidden):
    code, title = "wrong_world", "The key is for another world"


class WorldMissing(Invalid):
    code, title = "world_missing", "Name a world"


@dataclass(frozen=True)
class Caller:
    """`audience` is whom the answer is for; it starts at the key's cap and can only be narrowed."""

    world: World
    audience: Audience = PUBLIC
    campaign: Campaign | None = None
    scopes: frozenset[str] = field(default_factory=frozenset)
    key: ApiKey | None = None
    namespace: str = ""
    request_id: str = ""

    @classmethod
    def gm(cls, world: World) -> "Caller":
        """The site itself or a game master acting in `world`."""
        return cls(world=world, audience=GM)

    @classmethod
    def with_key(cls, key: ApiKey, *, world_slug: str = "", request_id: str = "") -> "Caller":
        """The program that holds `key`, with all that the key may see. `world_slug` is the world
        that it names: an installation key has to. Raises `WrongWorld`, `NotFound`."""
        world = world_of(key, world_slug)
        return cls(
            world=world,
            audience=resolve_audience(world, Audience.parse(key.audience)),
            campaign=key.campaign,
            scopes=frozenset(key.scopes),
            key=key,
            namespace=key.namespace,
            request_id=request_id,
        )

    def as_audience(self, text: str | None) -> "Caller":
        """Narrow to the audience called `text`; raises `AudienceAboveCap` for one that the caller
        does not cover.

        The refusal does not depend on whether the party, character or NPC exists: only a game
        master learns that it does not.
        """
        if not text:
            return self
        audience = Audience.parse(text)
        if not self.audience.covers(audience):
            raise AudienceAboveCap(
                f"This key sees at most what {self.audience} may know: "
                "leave out `as`, or ask as public."
            )
        if self.audience.is_gm and audience.kind == "party":
            return self.as_party(audience.slug)
        if self.audience.is_gm and audience.kind == "character":
            return self.as_character(audience.slug)
        if audience.kind == "npc":
            # Whoever asks as an NPC asks its memory, not that of the key's agent.
            return replace(self, audience=audience, namespace="")
        if str(audience) == str(self.audience):
            return self
        return replace(self, audience=resolve_audience(self.world, audience))

    def as_party(self, reference: str) -> "Caller":
        """Narrow a game master to a party of the caller's campaign. Raises `NotFound`."""
        parties = Party.objects.filter(world=self.world).select_related("campaign")
        if self.campaign:
            parties = parties.filter(campaign=self.campaign)
        party = find_named_exactly(parties, reference, what="party")
        campaign = self.campaign or party.campaign
        return replace(self, audience=audience_of_party(party), campaign=campaign)

    def as_character(self, reference: str) -> "Caller":
        """Narrow a game master to a character, whose party is of the caller's campaign. Raises
        `NotFound`."""
        rows = Character.objects.filter(world=self.world).select_related("party__campaign")
        if self.campaign:
            rows = rows.filter(party__campaign=self.campaign)
        character = find_named_exactly(rows, reference, what="character")
        campaign = self.campaign or (character.party.campaign if character.party else None)
        return replace(self, audience=audience_of_character(character), campaign=campaign)

    @cached_property
    def audiences_of_campaign(self) -> frozenset[str]:
        return frozenset(audiences_of_campaign(self.campaign) if self.campaign else ())

    def shown_audiences(self, names: Iterable[str]) -> list[str]:
        """Return `names`, for a key that is bound to a campaign without the parties and characters
        of others."""
        if not self.campaign:
            return list(names)
        return [
            each for each in names if each.startswith("npc:") or each in self.audiences_of_campaign
        ]

    def require(self, scope: str) -> None:
        """Raise `WrongScope` unless the caller holds `scope` (`admin` holds all)."""
        if scope not in self.scopes and "admin" not in self.scopes:
            raise WrongScope(self._advice_on_scope(scope))

    def _advice_on_scope(self, scope: str) -> str:
        """Say which scope is missing, and how the caller gets at what it wants."""
        scopes = ", ".join(sorted(self.scopes)) or "none"
        missing = f"This needs a key with the scope {scope}; this key has {scopes}."
        if scope in GM_SCOPES and not self.audience.is_gm:
            return f"{missing} {FOR_GMS}"
        return (
            f"{missing} Ask whoever leads the world for one (the page API keys), or the operator: "
            f"manage.py make_key --world {self.world.slug} --scope {scope} --audience "
            f"{self.audience}."
        )


@dataclass(frozen=True)
class Allowance:
    """How many calls of one tool a key has left in this minute; `reset` is in seconds."""

    limit: int
    used: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "RateLimit-Reset": str(self.reset),
        }


def world_of(key: ApiKey, slug: str) -> World:
    """Return the world in which the holder of `key` asks: the key's own, or, with an installation
    key, the one of this slug."""
    if key.world is not None:
        if slug not in ("", key.world.slug):
            raise WrongWorld(f"This key is for the world {key.world.slug}: leave out `X-World`.")
        return key.world
    if not slug:
        raise WorldMissing(
            "This key is for the whole installation: name the world in the header `X-World`. "
            "GET /api/v1/worlds lists them."
        )
    worlds = World.objects.select_related("system")
    return find_exact(worlds, slug, what="world", key="slug", in_world=False)


def admit(caller: Caller, tool: str) -> tuple[Caller, Allowance | None]:
    """Count one call of `tool`; return the caller as its key is stored now, and what it has left.

    A caller without a key (the site itself) is not limited. Raises `Unauthorized` when the key was
    revoked or has expired, `RateLimited` when the minute is used up.
    """
    if caller.key is None:
        return caller, None
    key, allowance = count_call(caller.key, tool)
    if key is not caller.key:
        slug = "" if key.world_id else caller.world.slug
        fresh = Caller.with_key(key, world_slug=slug, request_id=caller.request_id)
        caller = replace(fresh, namespace=caller.namespace or fresh.namespace)
    return caller, allowance


def count_call(key: ApiKey, tool: str) -> tuple[ApiKey, Allowance]:
    """Count one call of `tool`; return the key as it is stored now, and what it has left. Raises
    as `admit` does."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CALL, {"key": key.pk, "tool": tool})
        row = cursor.fetchone()
    if row is None:
        raise Unauthorized(keys.BAD_KEY)
    used, reset, stamp = row
    if stamp != getattr(key, "stamp", None):
        # The key was written since this process read it: its scopes, audience and limit may be
        # others now.
        key = keys.reload_key(key)
    allowance = Allowance(key.calls_per_minute, used, reset)
    if used > allowance.limit:
        raise RateLimited(
            f"At most {allowance.limit} calls of {tool} a minute: wait {reset} seconds.",
            headers={**allowance.headers, "Retry-After": str(reset)},
        )
    return key, allowance
