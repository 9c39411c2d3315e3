"""What one commit writes, as plain values: observations, new memories, links and confirmations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID

from memories.classification.rules import rule_bucket, rule_importance
from memories.identity import Identity
from memories.models import Observation
from memories.similarity.resolve import MemoryLink
from memories.states import Bucket, Maker, State
from memories.vectors import Vectors
from retrieval.models import uuid7

REPLACED = "replaced by a newer memory"
OBSERVED_FIELDS = ("source", "subject", "speaker", "event_at", "in_world_at", "in_world_label")
"""Fields that an observation and the memories made of it have in common."""


@dataclass(frozen=True)
class Particulars:
    """What is known about a content beside its text. A moment without a time zone is in UTC. Raise
    TypeError or ValueError, naming the field, for a value that no memory can have."""

    source: str = ""
    subject: str = ""
    speaker: str = ""
    context: str = ""
    event_at: datetime | None = None
    in_world_at: float | None = None
    in_world_label: str = ""
    bucket: Bucket | None = None
    importance: float | None = None
    """None: the rules decide by the text (`sorted_for`)."""
    expires_at: datetime | None = None
    metadata: dict[str, object] = field(default_factory=dict)
    episode_id: UUID | None = None
    forgotten_from: float | None = None
    """The in-world day from which an NPC does not remember it any more; None: never."""
    label: str = ""
    """What it is indexed under if it is no turn of a conversation."""
    scope: str = ""
    tags: Sequence[str] = ()
    key: str = ""
    """The caller's own name for what the memory states: a new memory replaces that with its key."""
    names: Sequence[str] = ()
    """Names and aliases of what the memory is about: a question that names it finds it."""
    resolved: bool | None = None
    """Whether what it states is settled: a task done, a promise kept. None: not said."""
    supersedes: Sequence[UUID] = ()
    """Memories in use that the new one replaces."""
    turn_order: int | None = None
    """The place in its conversation of a turn that takes another one's; None: its end."""

    def __post_init__(self) -> None:
        for name in ("event_at", "expires_at"):
            self._set(name, _moment(getattr(self, name), name))
        if self.importance is not None and not 0 <= self.importance <= 1:
            raise ValueError(f"importance must be from 0 to 1, not {self.importance}")
        if self.bucket is not None:
            self._set("bucket", _bucket(self.bucket))
        self._set("supersedes", [*map(_memory_id, self.supersedes)])

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation, which has others before and after it."""
        return bool(self.speaker or self.context)

    @property
    def heading(self) -> str:
        """The context the text is indexed under: as given, else speaker and date."""
        date = f"({self.event_at:%d %B %Y})" if self.event_at else ""
        written = self.context or self.label
        return written or " ".join(filter(None, (self.speaker, date, self.in_world_label)))

    @property
    def labels(self) -> dict[str, object]:
        """The metadata as stored, with scope, tags, key, names and whether it is resolved."""
        given: dict[str, object] = {
            "scope": self.scope,
            "tags": list(self.tags),
            "key": self.key,
            "names": list(self.names),
        }
        labels = {name: value for name, value in given.items() if value}
        if self.resolved is not None:
            labels["resolved"] = self.resolved
        return {**self.metadata, **labels}

    @property
    def identity(self) -> Identity:
        return Identity.of(speaker=self.speaker, subject=self.subject, metadata=self.labels)

    def sorted_for(self, text: str) -> "Particulars":
        """Return these as a memory with this text is stored: with a bucket, an importance, and the
        labels among the metadata."""
        bucket = self.bucket or rule_bucket(text)
        importance = self.importance
        if importance is None:
            importance = rule_importance(text, bucket)
        return replace(self, bucket=bucket, importance=importance, metadata=self.labels)

    @classmethod
    def of_observation(cls, observation: Observation) -> "Particulars":
        return cls(**{name: getattr(observation, name) for name in OBSERVED_FIELDS})


def _moment(value: object, name: str) -> datetime | None:
    if value is not None and not isinstance(value, datetime):
        raise TypeError(f"{name} must be a datetime, not {type(value).__name__} {value!r}")
    return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def _bucket(value: object) -> Bucket:
    if value not in Bucket.values:
        raise ValueError(f"bucket must be one of {', '.join(Bucket.values)}, not {value!r}")
    return Bucket(value)


def _memory_id(value: object) -> UUID:
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError:
        raise ValueError(f"supersedes must hold ids of memories, not {value!r}") from None


@dataclass(frozen=True)
class NewObservation:
    """A raw content, stored as it came."""

    text: str
    about: Particulars
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True)
class NewMemory:
    """A memory to insert. It rests on `observation_ids`, stored or of the same plan; the commit
    adds those of the stored memories it replaces.

    `state` and `timestamp_ms` are given for imported rows only: by default the review policy and
    the clock decide.
    """

    text: str
    made_by: Maker
    about: Particulars = Particulars()
    observation_ids: Sequence[UUID] = ()
    payload: Mapping[str, object] = field(default_factory=dict)
    language: str = ""
    id: UUID = field(default_factory=uuid7)
    state: State | None = None
    timestamp_ms: int | None = None
    labels: Mapping[str, object] | None = None
    """The metadata as stored, if not those of `about`: with those of the memories it replaces."""

    @property
    def stored_about(self) -> Particulars:
        about = self.about.sorted_for(self.text)
        return about if self.labels is None else replace(about, metadata=dict(self.labels))


@dataclass(frozen=True)
class Plan:
    """Everything that one commit writes.

    A link's ends are stored memories or memories of the plan; links are in the order in which the
    newer ends were planned. `confirmations` maps a stored memory to further observations that say
    the same. Row i of `vectors` belongs to memory i; without vectors a memory is found by its words
    until it is embedded.
    """

    observations: Sequence[NewObservation] = ()
    memories: Sequence[NewMemory] = ()
    links: Sequence[MemoryLink] = ()
    confirmations: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)
    confirmed_abouts: Mapping[UUID, Particulars] = field(default_factory=dict)
    """What was given with the contents that confirm a stored memory: its `key` and `supersedes`
    count for that one."""
    vectors: Vectors | None = None
    by: str = ""
    reason: str = ""
    replace_reason: str = REPLACED
    replaceable: frozenset[State] = frozenset({State.ACTIVE})
    """States in which a stored memory may be linked, replaced or confirmed."""
    assumed_state: State | None = None
    """The state the planner expected for its new memories; a changed review policy makes the
    plan void."""

    @property
    def stored_ids(self) -> set[UUID]:
        """Memories the plan touches that exist already."""
        ends = {pk for link in self.links for pk in (link.older, link.newer)}
        return (ends | set(self.confirmations)) - {memory.id for memory in self.memories}
