"""One task of an agent, from description to outcome: plain values that fit into JSON."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memories.coding_agent.stores.records import MemoryRecord
from memories.states import Bucket
from retrieval.models import uuid7

KIND = "episode"
# Changed lines from which an episode counts as a large change.
LARGE_CHANGE = 50


def utc_now() -> datetime:
    return datetime.now(UTC)


class TaskRecord(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskStep(TaskRecord):
    """One call of a tool and its result."""

    number: int
    tool_name: str
    tool_input: dict[str, Any] = {}
    output: str = ""
    success: bool = True
    error_type: str = ""
    error_message: str = ""
    at: datetime = Field(default_factory=utc_now)

    @property
    def file_path(self) -> str:
        return str(self.tool_input.get("file_path") or self.tool_input.get("path") or "")

    @property
    def old_text(self) -> str:
        return str(self.tool_input.get("old_string", ""))

    @property
    def new_text(self) -> str:
        return str(self.tool_input.get("new_string", ""))

    @property
    def line_change(self) -> int:
        """Lines after an edit less lines before it."""
        return self.new_text.count("\n") - self.old_text.count("\n")


class Hypothesis(TaskRecord):
    text: str
    confidence: float = Field(0.5, ge=0, le=1)
    step: int = 0


class TaskDecision(TaskRecord):
    description: str
    rationale: str = ""
    context_snapshot: dict[str, Any] = {}


class Pivot(TaskRecord):
    """A change of strategy within a task."""

    step_number: int
    description: str
    reason: str


class Patch(TaskRecord):
    file_path: str
    description: str = ""
    lines_added: int = 0
    lines_removed: int = 0
    before: str = ""
    after: str = ""


class ToolUse(TaskRecord):
    tool_name: str
    success: bool = True


class TaskError(TaskRecord):
    error_type: str
    message: str = ""
    step: int = 0


class TaskEpisode(TaskRecord):
    id: UUID = Field(default_factory=uuid7)
    task_id: str = ""
    project_id: str = "global"
    task: str
    plan_summary: str = ""
    outcome: str = ""
    success: bool = True
    solution: str = ""
    pivots: list[Pivot] = []
    patches: list[Patch] = []
    tools_used: list[ToolUse] = []
    errors: list[TaskError] = []
    hypotheses: list[str] = []
    decisions: list[TaskDecision] = []
    files_involved: list[str] = []
    symbols: list[str] = []
    steps_count: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    started_at: datetime = Field(default_factory=utc_now)
    ended_at: datetime = Field(default_factory=utc_now)

    @property
    def text(self) -> str:
        """The text that is searched: the task, its errors and the solution."""
        errors = "; ".join(
            f"{error.error_type}: {error.message}"[:200] for error in self.errors[:3]
        )
        patches = "; ".join(patch.description for patch in self.patches[:3] if patch.description)
        parts = [
            self.task,
            self.plan_summary,
            f"Errors: {errors}" if errors else "",
            self.solution,
            patches,
            self.outcome,
        ]
        return "\n".join(part for part in parts if part)

    @property
    def importance(self) -> float:
        """0.4–0.9: higher for a task that failed before it succeeded, or a large change."""
        return (
            0.4
            + 0.15 * bool(self.errors)
            + 0.15 * bool(self.errors and self.success)
            + 0.1 * bool(self.pivots)
            + 0.1 * (self.lines_added + self.lines_removed > LARGE_CHANGE)
        )

    def as_record(self) -> MemoryRecord:
        payload = {"kind": KIND, "episode": self.model_dump(mode="json")}
        return MemoryRecord(self.text, Bucket.EPISODIC, self.importance, payload, id=self.id)

    @classmethod
    def from_record(cls, record: MemoryRecord) -> "TaskEpisode":
        return cls.model_validate(record.payload["episode"])
