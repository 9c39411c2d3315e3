"""Who asks: the one context object that every tool gets beside its arguments."""

from dataclasses import dataclass, field

from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import ApiKey, Campaign, World


@dataclass(frozen=True)
class Caller:
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
