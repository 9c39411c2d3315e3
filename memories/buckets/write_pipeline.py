"""The write pipeline: gate → sort → importance → the same again? → bucket. Every event gets an outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.buckets.classifiers import Classifier, HybridClassifier, LLMClassifier, classify_event
from memories.buckets.events import Classification, DropReason, MemoryEvent, Outcome, Result
from memories.buckets.gate import Gate, SharedTokenBucket, admitted, drop_event
from memories.buckets.importance import MIN_IMPORTANCE, check_importance, importance_of
from memories.ledger.commit import Taken, take_in
from memories.ledger.plan import Particulars
from memories.models import Namespace
from memories.vectors import SiteSource, VectorSource
from retrieval.llm import get_llm


def site_classifier() -> Classifier:
    """Rules, and the language model of the settings where rules are not sure."""
    model = get_llm()
    return HybridClassifier(model=LLMClassifier(model) if model else None)


@dataclass(frozen=True)
class ClassifiedEvent:
    """An event on its way to its bucket."""

    event: MemoryEvent
    sorted_as: Classification
    importance: float

    @property
    def particulars(self) -> Particulars:
        event = self.event
        return Particulars(
            source=event.source,
            subject=event.subject,
            speaker=event.speaker,
            event_at=event.event_at,
            bucket=self.sorted_as.bucket,
            importance=self.importance,
            metadata=dict(event.metadata),
        )


@dataclass
class WritePipeline:
    """Takes events into the buckets of `namespace`: the same memories that `Memory.search` finds."""

    namespace: Namespace
    classifier: Classifier = field(default_factory=site_classifier)
    gate: Gate | None = None
    vectors: VectorSource = field(default_factory=SiteSource)
    dropped_below: float = MIN_IMPORTANCE

    def process(self, event: MemoryEvent) -> Outcome:
        return self.process_all([event])[0]

    def process_all(self, events: Sequence[MemoryEvent]) -> list[Outcome]:
        """Return one outcome per event, in their order: what each would have had alone. All are written together.
        Raise `Invalid` for an importance outside 0–1: then nothing is written."""
        for event in events:
            if event.importance is not None:
                check_importance(event.importance)
        outcomes = admitted(events, self.gate or SharedTokenBucket(self.namespace))
        kept: dict[int, ClassifiedEvent] = {}
        for position, event in enumerate(events):
            if position not in outcomes:
                sorted_event = self._sorted(event)
                if sorted_event.importance < self.dropped_below:
                    outcomes[position] = self._unimportant(sorted_event)
                else:
                    kept[position] = sorted_event
        outcomes |= self._written(kept)
        return [outcomes[position] for position in range(len(events))]

    def _sorted(self, event: MemoryEvent) -> ClassifiedEvent:
        sorted_as = classify_event(event, self.classifier)
        return ClassifiedEvent(event, sorted_as, importance_of(event, sorted_as))

    def _unimportant(self, item: ClassifiedEvent) -> Outcome:
        because = f"Importance {item.importance:.2f} is below {self.dropped_below:.2f}."
        return drop_event(item.event, DropReason.UNIMPORTANT, because)

    def _written(self, kept: dict[int, ClassifiedEvent]) -> dict[int, Outcome]:
        items = list(kept.values())
        taken = take_in(
            self.namespace,
            [item.event.content.strip() for item in items],
            [item.particulars for item in items],
            vectors=self.vectors,
        )
        return {
            place: _outcome(item, made)
            for (place, item), made in zip(kept.items(), taken, strict=True)
        }


def _outcome(item: ClassifiedEvent, taken: Taken) -> Outcome:
    return Outcome(
        item.event,
        Result.STORED if taken.is_new else Result.MERGED,
        memory_id=taken.memory,
        bucket=item.sorted_as.bucket,
        importance=item.importance,
        classification=item.sorted_as,
        because=""
        if taken.is_new
        else "Says the same as this memory, which has it as evidence now.",
    )
