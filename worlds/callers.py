"""Who asks: the one context object that every tool gets beside its arguments."""

from dataclasses import dataclass, field, replace

from retrieval.errors import AudienceAboveCap, WrongScope
from worlds.audiences import GM, PUBLIC, Audience
from worlds.lookup import find_party
from worlds.models import ApiKey, Campaign, World


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
    def with_key(cls, key: ApiKey, *, request_id: str = "") -> "Caller":
        """The program that holds `key`, asking as much as the key may see."""
        return cls(
            world=key.world,
            audience=Audience.parse(key.audience),
            campaign=key.campaign,
            scopes=frozenset(key.scopes),
            key=key,
            namespace=key.namespace,
            request_id=request_id,
        )

    def as_audience(self, text: str | None) -> "Caller":
        """Narrow to the audience called `text`; raises `AudienceAboveCap` for anything the caller does not cover.

        The refusal does not depend on whether the party or NPC exists: only a game master is told that it does not.
        """
        if not text:
            return self
        asked = Audience.parse(text)
        if not self.audience.covers(asked):
            raise AudienceAboveCap(
                f"This key sees at most what {self.audience} may know: leave out `as`, or ask as public."
            )
        if self.audience.is_gm and asked.kind == "party":
            party = find_party(self.world, asked.slug, self.campaign)
            campaign = self.campaign or party.campaign
            return replace(self, audience=Audience("party", party.slug), campaign=campaign)
        return replace(self, audience=asked)

    def require(self, scope: str) -> None:
        """Raise `WrongScope` unless the caller holds `scope` (`admin` holds all)."""
        if scope not in self.scopes and "admin" not in self.scopes:
            raise WrongScope(
                f"This needs a key with the scope {scope}; this key has {', '.join(sorted(self.scopes)) or 'none'}."
            )
