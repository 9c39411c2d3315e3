"""What an agent's user seems to like, read off the work that was accepted."""

from collections import Counter
from dataclasses import dataclass, field

from memories.coding_agent.episodes import TaskEpisode

MOST_KEPT = 2000
MANY_STEPS, CALLS_PER_STEP, MANY_FILES = 10, 3, 5


@dataclass
class UserPreferences:
    """`frequently_accepted` has one entry per sighting ("naming:snake_case"), oldest first."""

    frequently_accepted: list[str] = field(default_factory=list)

    def note(self, sightings: list[str]) -> None:
        self.frequently_accepted = [*self.frequently_accepted, *sightings][-MOST_KEPT:]

    def strongest(self, least: int = 1) -> dict[str, int]:
        """How often each was seen, most often first."""
        return {
            name: times
            for name, times in Counter(self.frequently_accepted).most_common()
            if times >= least
        }


def coding_style(episode: TaskEpisode) -> list[str]:
    """From each patch: naming, comments, type hints."""
    seen = []
    for patch in episode.patches:
        if "snake_case" in patch.description or "_" in patch.file_path:
            seen.append("naming:snake_case")
        elif "camelCase" in patch.description:
            seen.append("naming:camelCase")
        if "docstring" in patch.description or '"""' in patch.description:
            seen.append("comment:docstring")
        if "type hint" in patch.description or "typing" in patch.description:
            seen.append("style:type_hints")
    return seen


def interaction(episode: TaskEpisode) -> list[str]:
    """From the session: the search tool most used, batch or incremental, many files or few."""
    names = [tool.tool_name for tool in episode.tools_used]
    searching = Counter(name for name in names if "search" in name.lower())
    seen = [f"tool:{searching.most_common(1)[0][0]}"] if searching else []
    if episode.steps_count > MANY_STEPS:
        in_batches = len(names) / max(episode.steps_count, 1) > CALLS_PER_STEP
        seen.append("interaction:batch" if in_batches else "interaction:incremental")
    return [*seen, "organization:multi_file"] if len(episode.files_involved) > MANY_FILES else seen
