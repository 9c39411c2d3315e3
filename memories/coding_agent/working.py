"""Working memory: the task under way. Every call is stored, so a crash loses nothing."""

from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from pydantic import Field, ValidationError

from memories.code_rules.rule import GLOBAL
from memories.coding_agent.episodes import (
    Hypothesis,
    Patch,
    Pivot,
    TaskDecision,
    TaskEpisode,
    TaskError,
    TaskRecord,
    TaskStep,
    ToolUse,
    utc_now,
)
from memories.coding_agent.stores.in_memory import InMemoryStore
from memories.coding_agent.stores.protocol import MemoryStore, StoreDamaged
from retrieval.errors import Conflict, Invalid
from retrieval.models import uuid7

EDITING_TOOLS = ("edit", "write", "search_replace")
# Errors more steps apart than this have a recovery between them.
RECOVERY_STEPS = 5
DESCRIPTION_LENGTH, REASON_LENGTH, PLAN_LENGTH = 50, 100, 200
OUTPUT_LENGTH, ERROR_LENGTH, PATCH_LENGTH = 4000, 1000, 20_000
# Folders that do not name a project.
SOURCE_FOLDERS = frozenset(
    {"src", "lib", "app", "tests", "test", "docs", "home", "root", "work", "usr", "var", "tmp"}
)
# Traits of an edit by what it adds; `preferences.coding_style` reads them from patch descriptions.
TRAITS = {"docstring": '"""', "type hint": "->", "constant": "_MAX", "extract": "def "}


class WorkingTask(TaskRecord):
    """A whole working memory, as it is stored."""

    task_id: str = Field(default_factory=lambda: str(uuid7()))
    description: str
    plan: list[str] = []
    project_id: str = ""
    steps_completed: list[TaskStep] = []
    hypotheses: list[Hypothesis] = []
    decisions: list[TaskDecision] = []
    active_files: list[str] = []
    active_symbols: list[str] = []
    started_at: datetime = Field(default_factory=utc_now)

    @property
    def edits(self) -> list[TaskStep]:
        return [
            step
            for step in self.steps_completed
            if step.tool_name in EDITING_TOOLS and step.success
        ]

    @property
    def failures(self) -> list[TaskStep]:
        return [step for step in self.steps_completed if not step.success]

    @property
    def tool_uses(self) -> list[ToolUse]:
        steps = self.steps_completed
        return [ToolUse(tool_name=step.tool_name, success=step.success) for step in steps]

    @property
    def errors(self) -> list[TaskError]:
        return [
            TaskError(
                error_type=step.error_type or "Error", message=step.error_message, step=step.number
            )
            for step in self.failures
        ]


class WorkingMemoryManager:
    """One task at a time per `name`. `resume()` loads what a crashed process left."""

    def __init__(self, store: MemoryStore | None = None, *, name: str = "working") -> None:
        self._store: MemoryStore = InMemoryStore() if store is None else store
        self._name = f"working:{name}"
        self._task: WorkingTask | None = None

    def init_task(
        self,
        description: str,
        plan: str | list[str] = "",
        *,
        project_id: str = "",
        replace: bool = False,
    ) -> WorkingTask:
        """Begin a task. Raise `Conflict` while another is unfinished, unless `replace` drops it."""
        if not description.strip():
            raise Invalid("A task needs a description.")
        if not replace and self._store.load_state(self._name) is not None:
            raise Conflict(
                "A task is under way: continue it (task_note) or end it (task_close) first."
            )
        steps = [plan] if isinstance(plan, str) else plan
        steps = [step.strip() for step in steps if step.strip()]
        self._task = WorkingTask(description=description.strip(), plan=steps, project_id=project_id)
        self.save()
        return self._task

    def resume(self) -> WorkingTask | None:
        """Return the unfinished task as last stored, or None. Raise `StoreDamaged` if it cannot be
        read."""
        state = self._store.load_state(self._name)
        try:
            self._task = None if state is None else WorkingTask.model_validate(state)
        except ValidationError as error:
            raise StoreDamaged(
                f"The unfinished task cannot be read: {error.error_count()} fields are wrong."
            ) from error
        return self._task

    @property
    def task(self) -> WorkingTask:
        task = self._task or self.resume()
        if task is None:
            raise Conflict("No task is under way: begin one first (task_begin).")
        return task

    @property
    def steps_completed(self) -> list[TaskStep]:
        return self.task.steps_completed

    @property
    def decisions(self) -> list[TaskDecision]:
        return self.task.decisions

    def save(self) -> None:
        self._store.save_state(self._name, self.task.model_dump(mode="json"))

    def record_step(
        self,
        tool_name: str,
        tool_input: dict[str, Any] | None = None,
        *,
        output: str = "",
        success: bool = True,
        error_type: str = "",
        error_message: str = "",
    ) -> TaskStep:
        """Record one call of a tool; an `error_type` makes it a failed step."""
        step = TaskStep(
            number=len(self.task.steps_completed) + 1,
            tool_name=tool_name,
            tool_input=tool_input or {},
            output=output[:OUTPUT_LENGTH],
            success=success and not error_type,
            error_type=error_type,
            error_message=error_message[:ERROR_LENGTH],
        )
        self.task.steps_completed.append(step)
        if step.file_path:
            add_once(self.task.active_files, step.file_path)
        self.save()
        return step

    def add_hypothesis(self, text: str, confidence: float = 0.5) -> Hypothesis:
        if not 0 <= confidence <= 1:
            raise Invalid(f"confidence is a number from 0 to 1, not {confidence!r}.")
        steps = len(self.task.steps_completed)
        hypothesis = Hypothesis(text=text, confidence=confidence, step=steps)
        self.task.hypotheses.append(hypothesis)
        self.save()
        return hypothesis

    def record_decision(self, description: str, rationale: str = "") -> TaskDecision:
        snapshot = {
            "current_step": len(self.task.steps_completed),
            "active_files": list(self.task.active_files),
        }
        decision = TaskDecision(
            description=description, rationale=rationale, context_snapshot=snapshot
        )
        self.task.decisions.append(decision)
        self.save()
        return decision

    def track_file(self, path: str) -> None:
        add_once(self.task.active_files, path)
        self.save()

    def track_symbol(self, symbol: str) -> None:
        add_once(self.task.active_symbols, symbol)
        self.save()

    def consolidate(
        self, *, outcome: str = "", success: bool = True, solution: str = ""
    ) -> TaskEpisode:
        """Store the task as an episode and empty the working memory."""
        task = self.task
        lines_added, lines_removed = self._calculate_line_changes()
        episode = TaskEpisode(
            id=UUID(task.task_id),
            task_id=task.task_id,
            project_id=self._get_project_id(),
            task=task.description,
            plan_summary=self._extract_plan_summary(),
            outcome=outcome,
            success=success,
            solution=solution,
            pivots=self._extract_pivots(),
            patches=self._extract_patches(),
            tools_used=task.tool_uses,
            errors=task.errors,
            hypotheses=[hypothesis.text for hypothesis in task.hypotheses],
            decisions=task.decisions,
            files_involved=task.active_files,
            symbols=task.active_symbols,
            steps_count=len(task.steps_completed),
            lines_added=lines_added,
            lines_removed=lines_removed,
            started_at=task.started_at,
        )
        # After a crash between storing and dropping, the next call finds the episode by the task's
        # id and does not store it twice.
        if record := self._store.get(episode.id):
            episode = TaskEpisode.from_record(record)
        else:
            self._store.add(episode.as_record())
        self._store.drop_state(self._name)
        self._task = None
        return episode

    # The design prescribes the names of the private methods (docs/agent-memory.md).

    def _get_project_id(self) -> str:
        """Return the given id, else the folder that most active files share, else "global"."""
        if self.task.project_id:
            return self.task.project_id
        folders = Counter(folder for path in self.task.active_files if (folder := top_folder(path)))
        return folders.most_common(1)[0][0] if folders else GLOBAL

    def _extract_plan_summary(self) -> str:
        """Return the plan on one line, cut to 200 characters."""
        summary = "; ".join(" ".join(step.split()) for step in self.task.plan)
        return summary if len(summary) <= PLAN_LENGTH else f"{summary[: PLAN_LENGTH - 1]}…"

    def _extract_pivots(self) -> list[Pivot]:
        """Return each recovery between errors more than five steps apart, and each decision."""
        recoveries = [
            Pivot(
                step_number=one.number + 1,
                description="Strategy change after errors",
                reason="Recovered from error sequence",
            )
            for one, other in pairwise(self.task.failures)
            if other.number - one.number > RECOVERY_STEPS
        ]
        decisions = [
            Pivot(
                step_number=decision.context_snapshot["current_step"],
                description=f"Decision: {decision.description[:DESCRIPTION_LENGTH]}",
                reason=decision.rationale[:REASON_LENGTH],
            )
            for decision in self.task.decisions
        ]
        return recoveries + decisions

    def _calculate_line_changes(self) -> tuple[int, int]:
        """Return lines added and removed by all edits."""
        return line_changes(self.task.edits)

    def _generate_patch_description(self, path: str, steps: list[TaskStep]) -> str:
        """Describe the edits of one file, with the traits that reveal a coding style."""
        old, new = joined_texts(steps)
        descriptions = [step.tool_input.get("description") for step in steps]
        traits = [trait for trait, sign in TRAITS.items() if new.count(sign) > old.count(sign)]
        verb = "write" if all(step.tool_name == "write" for step in steps) else "edit"
        parts = [f"{verb} {path} ({len(steps)} changes)", *map(str, filter(None, descriptions))]
        return "; ".join([*parts, *traits])

    def _extract_patches(self) -> list[Patch]:
        """Return one patch per edited file."""
        by_file: dict[str, list[TaskStep]] = {}
        for step in self.task.edits:
            by_file.setdefault(step.file_path, []).append(step)
        patches = []
        for path, steps in by_file.items():
            lines_added, lines_removed = line_changes(steps)
            before, after = joined_texts(steps)
            patch = Patch(
                file_path=path,
                description=self._generate_patch_description(path, steps),
                lines_added=lines_added,
                lines_removed=lines_removed,
                before=before[:PATCH_LENGTH],
                after=after[:PATCH_LENGTH],
            )
            patches.append(patch)
        return patches


def line_changes(edits: list[TaskStep]) -> tuple[int, int]:
    """Return lines added and removed: by how many each edit made its place longer or shorter."""
    changes = [step.line_change for step in edits]
    return sum(max(0, change) for change in changes), sum(max(0, -change) for change in changes)


def joined_texts(steps: list[TaskStep]) -> tuple[str, str]:
    """Return the old and the new texts of some edits."""
    return "\n".join(step.old_text for step in steps), "\n".join(step.new_text for step in steps)


def top_folder(path: str) -> str:
    """Return the first folder of `path` that names a project (not src, tests, home …), or ""."""
    folders = PurePosixPath(path.replace("\\", "/")).parts[:-1]
    return next(
        (
            folder
            for folder in folders
            if folder.strip("/.:") and folder.casefold() not in SOURCE_FOLDERS
        ),
        "",
    )


def add_once(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)
