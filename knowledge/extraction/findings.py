"""What is read from a sentence. Names refer to entities, or to names that the text introduces."""

from dataclasses import dataclass, field
from typing import Any, Literal

from knowledge.graph.models import GraphNode

FindingKind = Literal["fact", "alias", "death", "date", "entity"]


@dataclass(frozen=True, slots=True)
class TextSentence:
    """Characters [start, end) of the text."""

    text: str
    start: int
    end: int


@dataclass
class Finding:
    """One statement of a sentence. Of an entity that the world does not have, `GraphNode` is a row
    that is not saved.

    `value` is the date of a death or of the event `what` (born, founded …), as the text has it;
    `alias` another name of `node`.
    """

    kind: FindingKind
    sentence: TextSentence
    node: GraphNode
    other: GraphNode | None = None
    relation: str = ""
    label: str = ""
    alias: str = ""
    what: str = ""
    value: str = ""
    is_new: dict[str, bool] = field(default_factory=dict)

    def key(self) -> tuple[Any, ...]:
        """Equal for findings that say the same, wherever they stand."""
        other = self.other.pk if self.other else None
        return (
            *(self.kind, self.node.pk, self.relation, other, self.label),
            *(self.alias.casefold(), self.what, self.value if self.kind == "date" else ""),
        )
