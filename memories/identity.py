"""What a memory is said by and about, beside its words; and the labels of two that are one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Identity:
    """Equal words of another speaker, scope, subject or key are another memory. "": not given."""

    speaker: str = ""
    subject: str = ""
    scope: str = ""
    key: str = ""

    @classmethod
    def of(cls, *, speaker: str, subject: str, metadata: Mapping[str, Any]) -> "Identity":
        labels = (str(metadata.get(name) or "") for name in ("scope", "key"))
        return cls(speaker, subject, *labels)

    def may_be_one_with(self, other: "Identity") -> bool:
        """Whether equal words are one memory: what two people say in the same words are two ("I
        never learned to swim"), and so is what holds in two scopes."""
        return self.speaker == other.speaker and self.may_contradict(other)

    def may_contradict(self, other: "Identity") -> bool:
        """Whether the two can be about the same thing. Two speakers may be; a subject or a key
        that only one of them has may be the other's, too."""
        pairs = ((self.subject, other.subject), (self.key, other.key))
        return self.scope == other.scope and not any(
            one and another and one != another for one, another in pairs
        )


def united_labels(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of both with the tags of both; of equal names the newer value counts."""
    labels = {**older, **newer}
    tags = [*_tags_of(older), *_tags_of(newer)]
    if tags:
        labels["tags"] = list(dict.fromkeys(tags))
    return labels


def _tags_of(metadata: Mapping[str, Any]) -> list[str]:
    tags = metadata.get("tags")
    # Imported metadata may hold anything under this name.
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def would_lose_labels(older: Mapping[str, Any], newer: Mapping[str, Any]) -> bool:
    """Whether `older` has a label that is not in `newer`, which is to replace it."""
    return bool(older.keys() - newer.keys() or set(_tags_of(older)) - set(_tags_of(newer)))
