"""One piece of an agent's work, from task to outcome: plain values that fit into JSON."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memories.coding_agent.stores.protocol import MemoryRecord
from memories.states import Bucket
from retrieval.models import uuid7

KIND = "episode"


def _now() -> datetime:
    return datetime.now(UTC)


class TaskRecord(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskStep(TaskRecord):
    """One call of a tool and what came of it."""

    number: int
    tool_name: str
    tool_input: dict[str, Any] = {}
    output: str = ""
    success: bool = True
    error_type: str = ""
    error_message: str = ""
    at: datetime = Field(default_factory=_now)


class Hypothesis(TaskRecord):
    text: str
    confidence: float = Field(0.5, ge=0, le=1)
    step: int = 0


class TaskDecision(TaskRecord):
    description: str
    rationale: str = ""
    context_snapshot: dict[str, Any] = {}


class Pivot(TaskRecord):
    """Where the work took another way."""

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
    started_at: datetime = Field(default_factory=_now)
    ended_at: datetime = Field(default_factory=_now)

    @property
    def text(self) -> str:
        """What is searched: the task, what went wrong, what was done about it."""
        errors = "; ".join(f"{seen.error_type}: {seen.message}"[:200] for seen in self.errors[:3])
        patches = "; ".join(patch.description for patch in self.patches[:3] if patch.description)
        parts = [
            self.task,
            self.plan_summary,
            errors and f"Errors: {errors}",
            self.solution,
            patches,
            self.outcome,
        ]
        return "\n".join(part for part in parts if part)

    @property
    def importance(self) -> float:
        """More for work that failed first and then succeeded, and for work that changed much."""
        value = (
            0.4
            + 0.15 * bool(self.errors)
            + 0.15 * bool(self.errors and self.success)
            + 0.1 * bool(self.pivots)
        )
        return min(1.0, value + 0.1 * (self.lines_added + self.lines_removed > 50))

    def as_record(self) -> MemoryRecord:
        payload = {"kind": KIND, "episode": self.model_dump(mode="json")}
        return MemoryRecord(self.text, Bucket.EPISODIC, self.importance, payload, id=self.id)

    @classmethod
    def from_record(cls, record: MemoryRecord) -> "TaskEpisode":
        return cls.model_validate(record.payload["episode"])
