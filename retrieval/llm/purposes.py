"""What a language model is asked for. Each purpose may have a model of its own."""

from enum import StrEnum


class Purpose(StrEnum):
    """A key of the setting `LLM_MODELS`, and the `purpose` of the calls that are recorded."""

    READING = "reading"
    """Reports of sessions and the steps of threads."""
    RECAP = "recap"
    MEMORY = "memory"
    """Splitting, sorting and merging what an agent remembers."""
    REFLECTION = "reflection"
    CHECKING = "checking"
    """Whether a statement or a memory is an answer: somebody waits for it."""
