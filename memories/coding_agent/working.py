"""Working memory: what an agent knows about the task under way. Every call is stored, so that a crash loses nothing."""

from collections import Counter
from datetime import UTC, datetime
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
)
from memories.coding_agent.stores.protocol import MemoryStore, StoreDamaged
from retrieval.errors import Conflict, Invalid
from retrieval.models import uuid7

EDITING_TOOLS = ("edit", "write", "search_replace")
RECOVERED_AFTER = 5
DESCRIPTION_LENGTH, REASON_LENGTH, PLAN_LENGTH = 50, 100, 200
SOURCE_FOLDERS = frozenset(
    {"src", "lib", "app", "tests", "test", "docs", "home", "root", "work", "usr", "var", "tmp"}
)


class WorkingTask(TaskRecord):
    """The whole of a working memory, as it is stored."""

    task_id: str = Field(default_factory=lambda: str(uuid7()))
    description: str
    plan: list[str] = []
    project_id: str = ""
    steps_completed: list[TaskStep] = []
    hypotheses: list[Hypothesis] = []
    decisions: list[TaskDecision] = []
    active_files: list[str] = []
    active_symbols: list[str] = []
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class WorkingMemoryManager:
    """One task at a time per `name`. `resume()` takes up what a crashed process left."""

    def __init__(self, store: MemoryStore, *, name: str = "working") -> None:
        self._store, self._name = store, f"working:{name}"
        self._task: WorkingTask | None = None

    def init_task(
        self,
        description: str,
        plan: str | list[str] = "",
        *,
        project_id: str = "",
        replace: bool = False,
    ) -> WorkingTask:
        """Begin a task. Raise `Conflict` while another is unfinished, unless it is to be replaced."""
        if not description.strip():
            raise Invalid("A task needs a description.")
        if not replace and self._store.load_state(self._name) is not None:
            raise Conflict(
                "A task is under way: close it first (task_close, or consolidate()), or go on with it (resume())."
            )
        steps = [plan] if isinstance(plan, str) else plan
        kept = [step.strip() for step in steps if step.strip()]
        self._task = WorkingTask(description=description.strip(), plan=kept, project_id=project_id)
        return self._kept()

    def resume(self) -> WorkingTask | None:
        """Return the unfinished task as it was last stored, or None."""
        found = self._store.load_state(self._name)
        try:
            self._task = WorkingTask.model_validate(found) if found is not None else None
        except ValidationError as error:
            raise StoreDamaged(
                f"The unfinished task cannot be read: {error.error_count()} fields are wrong."
            ) from error
        return self._task

    @property
    def task(self) -> WorkingTask:
        if self._task is None and self.resume() is None:
            raise Conflict("No task is under way: begin one first (task_begin, or init_task()).")
        assert self._task is not None
        return self._task

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
        """Note one call of a tool; an error makes it a failed step."""
        failed = not success or bool(error_type)
        step = TaskStep(
            number=len(self.task.steps_completed) + 1,
            tool_name=tool_name,
            tool_input=tool_input or {},
            output=output[:4000],
            success=not failed,
            error_type=error_type,
            error_message=error_message[:1000],
        )
        self.task.steps_completed.append(step)
        path = step.tool_input.get("file_path") or step.tool_input.get("path")
        if isinstance(path, str) and path:
            self._add_once(self.task.active_files, path)
        self._kept()
        return step

    def add_hypothesis(self, text: str, confidence: float = 0.5) -> Hypothesis:
        if not 0 <= confidence <= 1:
            raise Invalid(f"confidence is a number from 0 to 1, not {confidence!r}.")
        hypothesis = Hypothesis(
            text=text, confidence=confidence, step=len(self.task.steps_completed)
        )
        self.task.hypotheses.append(hypothesis)
        self._kept()
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
        self._kept()
        return decision

    def track_file(self, path: str) -> None:
        self._add_once(self.task.active_files, path)
        self._kept()

    def track_symbol(self, symbol: str) -> None:
        self._add_once(self.task.active_symbols, symbol)
        self._kept()

    def consolidate(
        self, *, outcome: str = "", success: bool = True, solution: str = ""
    ) -> TaskEpisode:
        """Make an episode of the task and store it; the working memory is empty afterwards.

        A crash between the two is harmless: the episode has the task's id, and consolidating again finds it there.
        """
        task = self.task
        added, removed = self._calculate_line_changes()
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
            patches=self._patches(),
            tools_used=_tools(task),
            errors=_errors(task),
            hypotheses=[hypothesis.text for hypothesis in task.hypotheses],
            decisions=task.decisions,
            files_involved=task.active_files,
            symbols=task.active_symbols,
            steps_count=len(task.steps_completed),
            lines_added=added,
            lines_removed=removed,
            started_at=task.started_at,
        )
        known = self._store.get(episode.id)
        if known is None:
            self._store.add(episode.as_record())
        self._store.drop_state(self._name)
        self._task = None
        return episode if known is None else TaskEpisode.from_record(known)

    def _get_project_id(self) -> str:
        """As given, else the folder most of the active files have in common, else "global"."""
        if self.task.project_id:
            return self.task.project_id
        found = Counter(name for path in self.task.active_files if (name := _project_folder(path)))
        return found.most_common(1)[0][0] if found else GLOBAL

    def _extract_plan_summary(self) -> str:
        """The plan's first steps, up to 200 characters."""
        summary = "; ".join(" ".join(step.split()) for step in self.task.plan)
        return summary if len(summary) <= PLAN_LENGTH else f"{summary[: PLAN_LENGTH - 1]}…"

    def _extract_pivots(self) -> list[Pivot]:
        """Recovery after errors more than five steps apart; and each decision."""
        failed = [step.number for step in self.task.steps_completed if not step.success]
        recovered = [
            Pivot(
                step_number=one + 1,
                description="Strategy change after errors",
                reason="Recovered from error sequence",
            )
            for one, other in pairwise(failed)
            if other - one > RECOVERED_AFTER
        ]
        decided = [
            Pivot(
                step_number=decision.context_snapshot["current_step"],
                description=f"Decision: {decision.description[:DESCRIPTION_LENGTH]}",
                reason=decision.rationale[:REASON_LENGTH],
            )
            for decision in self.task.decisions
        ]
        return recovered + decided

    def _calculate_line_changes(self) -> tuple[int, int]:
        """Lines added and removed: by how many lines each edit made its place longer or shorter."""
        changes = [line_change(step.tool_input) for step in self._edits()]
        return sum(max(0, change) for change in changes), sum(max(0, -change) for change in changes)

    def _generate_patch_description(self, path: str, steps: list[TaskStep]) -> str:
        """What was done to a file, in words that later tell its style."""
        new = "\n".join(str(step.tool_input.get("new_string", "")) for step in steps)
        old = "\n".join(str(step.tool_input.get("old_string", "")) for step in steps)
        said = [
            str(step.tool_input["description"])
            for step in steps
            if step.tool_input.get("description")
        ]
        traits = [trait for trait, sign in TRAITS.items() if new.count(sign) > old.count(sign)]
        verb = "write" if all(step.tool_name == "write" for step in steps) else "edit"
        return "; ".join([f"{verb} {path} ({len(steps)} changes)", *said, *traits])

    def _edits(self) -> list[TaskStep]:
        return [
            step
            for step in self.task.steps_completed
            if step.tool_name in EDITING_TOOLS and step.success
        ]

    def _patches(self) -> list[Patch]:
        by_file: dict[str, list[TaskStep]] = {}
        for step in self._edits():
            path = step.tool_input.get("file_path") or step.tool_input.get("path") or ""
            by_file.setdefault(str(path), []).append(step)
        return [self._patch(path, steps) for path, steps in by_file.items()]

    def _patch(self, path: str, steps: list[TaskStep]) -> Patch:
        changes = [line_change(step.tool_input) for step in steps]
        return Patch(
            file_path=path,
            description=self._generate_patch_description(path, steps),
            lines_added=sum(max(0, change) for change in changes),
            lines_removed=sum(max(0, -change) for change in changes),
            before="\n".join(str(step.tool_input.get("old_string", "")) for step in steps)[:20_000],
            after="\n".join(str(step.tool_input.get("new_string", "")) for step in steps)[:20_000],
        )

    def _add_once(self, names: list[str], name: str) -> None:
        if name not in names:
            names.append(name)

    def _kept(self) -> WorkingTask:
        task = self.task
        self._store.save_state(self._name, task.model_dump(mode="json"))
        return task


TRAITS = {"docstring": '"""', "type hint": "->", "constant": "_MAX", "extract": "def "}


def line_change(tool_input: dict[str, Any]) -> int:
    """New lines less old lines of one edit."""
    old, new = str(tool_input.get("old_string", "")), str(tool_input.get("new_string", ""))
    return (new.count("\n") + 1) - (old.count("\n") + 1)


def _project_folder(path: str) -> str:
    """The first folder of a path that is not a usual one (src, tests, home …)."""
    folders = PurePosixPath(path.replace("\\", "/")).parts[:-1]
    return next(
        (part for part in folders if part.strip("/.:") and part.casefold() not in SOURCE_FOLDERS),
        "",
    )


def _tools(task: WorkingTask) -> list[ToolUse]:
    return [
        ToolUse(tool_name=step.tool_name, success=step.success) for step in task.steps_completed
    ]


def _errors(task: WorkingTask) -> list[TaskError]:
    return [
        TaskError(
            error_type=step.error_type or "Error", message=step.error_message, step=step.number
        )
        for step in task.steps_completed
        if not step.success
    ]
