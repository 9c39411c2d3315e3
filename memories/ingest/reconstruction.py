"""The model's three steps, each with up to three tries and a way to go on without it. Touches no
database.

Errors of these kinds are worth another try; when all tries fail, the step goes on as if there were
no model. Any other error is the caller's to see.
"""

import logging
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from memories import prompts
from memories.ingest.answers import (
    CoreUpdateResponse,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)
from memories.prompts import Prompt, unescape_tags
from retrieval.errors import LanguageModelDown
from retrieval.text import require_storable_text

logger = logging.getLogger(__name__)

TRIES = 3
RETRYABLE = (
    ValueError,
    TypeError,
    ConnectionError,
    TimeoutError,
    OSError,
)  # pydantic's errors are ValueErrors
Answer = TypeVar("Answer", bound=BaseModel)


class StructuredModel(Protocol):
    """What a language model has to offer; `memories.haema.LLMClient` and `retrieval.llm.client`
    both do."""

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[Any]
    ) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Reconstruction:
    """`memories` replace the related ones only if the model `succeeded`; else they are the
    contents as they came."""

    memories: list[str]
    succeeded: bool


def ask(model: StructuredModel, prompt: Prompt, answer: type[Answer]) -> Answer | None:
    """Return the model's answer, or None when three tries ended in retryable errors."""
    for attempt in range(1, TRIES + 1):
        try:
            raw = model.generate_structured(
                system_prompt=prompt.system, user_prompt=prompt.user, response_model=answer
            )
            return _well_formed(answer.model_validate(raw))
        except LanguageModelDown as problem:  # the site's model has had its tries
            logger.warning("%s: going on without: %s", answer.__name__, problem)
            return None
        except RETRYABLE as error:
            logger.debug("%s: try %d of %d failed: %s", answer.__name__, attempt, TRIES, error)
    logger.warning(
        "The language model gave no usable %s in %d tries: going on without", answer.__name__, TRIES
    )
    return None


def split_text(model: StructuredModel, raw: str) -> list[str]:
    """Take one raw text apart into facts; the text itself when the model cannot."""
    answer = ask(model, prompts.split_prompt(raw), PreMemorySplitResponse)
    return (unique_texts(answer.contents) if answer else []) or [raw]


def reconstruct(
    model: StructuredModel, *, related: list[str], contents: list[str]
) -> Reconstruction:
    """Ask once, and once more to refine an empty or incomplete answer; then take the contents as
    they came."""
    first = prompts.reconstruction_prompt(related=related, contents=contents)
    for prompt in (first, prompts.refinement_prompt(first)):
        answer = ask(model, prompt, MemoryReconstructionResponse)
        if answer and answer.coverage == "complete" and (memories := unique_texts(answer.memories)):
            return Reconstruction(memories, succeeded=True)
    return Reconstruction(contents, succeeded=False)


def updated_core(model: StructuredModel, *, core: str, memories: list[str]) -> str | None:
    """Return the whole new core, or None when nothing changes."""
    answer = ask(model, prompts.core_prompt(core=core, memories=memories), CoreUpdateResponse)
    if answer is None or not answer.should_update or not answer.core_markdown:
        return None
    return unescape_tags(answer.core_markdown).strip() + "\n"


def unique_texts(texts: list[str]) -> list[str]:
    """Trim, drop the empty and the repeated, keep the order."""
    trimmed = (unescape_tags(text).strip() for text in texts)
    return list(dict.fromkeys(text for text in trimmed if text))


def _well_formed(answer: Answer) -> Answer:
    """An answer that no database can hold is garbage, and garbage is worth another try."""
    for name, value in answer:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                require_storable_text(text, name)
    return answer
