"""An agent's user's preferences, inferred from the work that was accepted."""

from collections import Counter, UserList
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memories.coding_agent.episodes import TaskEpisode

MAX_OBSERVATIONS = 2000
MANY_STEPS, CALLS_PER_STEP, MANY_FILES = 10, 3, 5


class Observations(UserList[str]):
    """Observed preferences, oldest first. What is appended is saved: the design's code appends.

    Of more than `MAX_OBSERVATIONS` the oldest are only counted (`earlier`): every save writes all.
    """

    def __init__(
        self,
        observations: Iterable[str] = (),
        save: Callable[["Observations"], None] | None = None,
        *,
        earlier: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        super().__init__(observations)
        self.save, self.earlier = save, Counter(earlier)

    def append(self, item: str) -> None:
        self.extend([item])

    def extend(self, other: Iterable[str]) -> None:
        """Add and save."""
        every = [*self.data, *other]
        self.earlier.update(every[:-MAX_OBSERVATIONS])
        self.data = every[-MAX_OBSERVATIONS:]
        if self.save is not None:
            self.save(self)


@dataclass
class UserPreferences:
    """`frequently_accepted` has one entry per observation ("naming:snake_case"), oldest first, the
    latest `MAX_OBSERVATIONS` of them."""

    frequently_accepted: Observations = field(default_factory=Observations)

    def counts(self) -> dict[str, int]:
        """Return the number of observations of each preference, most frequent first."""
        observed = self.frequently_accepted
        return dict((Counter(observed) + observed.earlier).most_common())


def coding_style(episode: TaskEpisode) -> list[str]:
    """Observe naming, comments and type hints in each patch."""
    observations = []
    for patch in episode.patches:
        if "snake_case" in patch.description or "_" in patch.file_path:
            observations.append("naming:snake_case")
        elif "camelCase" in patch.description:
            observations.append("naming:camelCase")
        if "docstring" in patch.description or '"""' in patch.description:
            observations.append("comment:docstring")
        if "type hint" in patch.description or "typing" in patch.description:
            observations.append("style:type_hints")
    return observations


def interaction(episode: TaskEpisode) -> list[str]:
    """Observe the search tool used most, batch or incremental work, and many files or few."""
    observations = []
    names = [tool.tool_name for tool in episode.tools_used]
    if searches := Counter(name for name in names if "search" in name.lower()):
        observations.append(f"tool:{searches.most_common(1)[0][0]}")
    if episode.steps_count > MANY_STEPS:
        is_batch = len(names) / episode.steps_count > CALLS_PER_STEP
        observations.append("interaction:batch" if is_batch else "interaction:incremental")
    if len(episode.files_involved) > MANY_FILES:
        observations.append("organization:multi_file")
    return observations
