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


LISTS = ("tags", "names")
"""Labels of which two memories that become one have those of both."""


def united_labels(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of both with the tags and the names of both; of equal names of values the
    newer value counts."""
    labels = {**older, **newer}
    for name in LISTS:
        if both := [*texts_under(older, name), *texts_under(newer, name)]:
            labels[name] = list(dict.fromkeys(both))
    return labels


def texts_under(metadata: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a list in the metadata."""
    texts = metadata.get(name)
    # Imported metadata may hold anything under this name.
    return [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []


def would_lose_labels(older: Mapping[str, Any], newer: Mapping[str, Any]) -> bool:
    """Whether `older` has a label that is not in `newer`, which is to replace it."""
    return bool(
        older.keys() - newer.keys()
        or any(set(texts_under(older, name)) - set(texts_under(newer, name)) for name in LISTS)
    )
