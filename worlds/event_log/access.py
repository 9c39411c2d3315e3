"""By what right a stream is open: it ends soon after the right does."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol, Self
from uuid import UUID

from worlds.keys import is_valid
from worlds.models import ApiKey


class Access(Protocol):
    """What the stream of events asks about whoever reads it, however the reader was
    authenticated."""

    @property
    def owner(self) -> str:
        """Whose streams are counted together."""

    @classmethod
    def find_ended(cls, accesses: Collection[Self]) -> set[Self]:
        """Return those of `accesses` whose right has ended or changed, by a fixed number of
        queries."""


@dataclass(frozen=True)
class KeyAccess:
    """An API key with the rights that it had when the stream was opened."""

    key_id: UUID
    rights: tuple[Any, ...]

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(key.pk, rights_of(key))

    @property
    def owner(self) -> str:
        return f"key:{self.key_id}"

    @classmethod
    def find_ended(cls, accesses: Collection[Self]) -> set[Self]:
        keys = ApiKey.objects.in_bulk({each.key_id for each in accesses})
        return {each for each in accesses if not each.is_unchanged(keys.get(each.key_id))}

    def is_unchanged(self, key: ApiKey | None) -> bool:
        return key is not None and is_valid(key) and rights_of(key) == self.rights


def rights_of(key: ApiKey) -> tuple[Any, ...]:
    """What decides on what the holder of `key` may read, and on which pages."""
    lists = tuple(key.scopes), tuple(key.origins)
    return key.secret_hash, key.world_id, key.campaign_id, key.audience, *lists
