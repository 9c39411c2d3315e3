"""The three calls of the language model, each with up to three tries and a result without it. No
database access.

`RETRYABLE` errors are tried again until the deadline; when all tries fail, the result is that of no
model. Any other error is raised to the caller. An answer counts only as far as it covers what it
was given (`coverage`).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from memories import prompts
from memories.ingest.answers import (
    CoreUpdateResponse,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)
from memories.ingest.rule_split import split_by_rules
from memories.prompts import Prompt, unescape_tags
from memories.similarity.coverage import missing_positions, without_inventions
from retrieval.errors import LanguageModelDown
from retrieval.llm import PurposeModel, TimeBudget
from retrieval.text import require_storable_text

logger = logging.getLogger(__name__)

TRIES = 3
# A validation error of Pydantic is a ValueError; failed connections and timeouts are OSErrors.
RETRYABLE = (ValueError, TypeError, OSError)
Answer = TypeVar("Answer", bound=BaseModel)


class StructuredModel(Protocol):
    """The interface that `memories.haema.LLMClient` and `retrieval.llm.client` implement."""

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[Any]
    ) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Reconstruction:
    """`memories` replace the related ones. `kept` are the positions of the contents that they leave
    out, which stay memories of their own: all, if there was no usable answer."""

    memories: list[str]
    kept: list[int]


def ask(
    model: StructuredModel,
    prompt: Prompt,
    answer: type[Answer],
    *,
    deadline: TimeBudget | None = None,
) -> Answer | None:
    """Return the model's answer, or None when three tries ended in retryable errors, when the
    deadline is over, or when the models of the settings were down a short while ago."""
    if isinstance(model, PurposeModel) and model.is_resting:
        logger.debug("%s: the model was down a short while ago: going on without", answer.__name__)
        return None
    for attempt in range(1, TRIES + 1):
        if deadline and deadline.is_over:
            logger.warning("%s: no time is left: going on without", answer.__name__)
            return None
        try:
            return _parse(call(model, prompt, answer, deadline=deadline), answer)
        except LanguageModelDown as problem:
            # The client of the settings has made its own tries already.
            logger.warning("%s: going on without: %s", answer.__name__, problem)
            return None
        except RETRYABLE as error:
            logger.debug("%s: try %d of %d failed: %s", answer.__name__, attempt, TRIES, error)
    logger.warning(
        "The language model gave no usable %s in %d tries: going on without", answer.__name__, TRIES
    )
    return None


def call(
    model: StructuredModel, prompt: Prompt, answer: type[BaseModel], *, deadline: TimeBudget | None
) -> dict[str, Any]:
    # A caller's own client has HAEMA's interface, which knows no deadline.
    options = {"deadline": deadline} if isinstance(model, PurposeModel) else {}
    return model.generate_structured(
        system_prompt=prompt.system, user_prompt=prompt.user, response_model=answer, **options
    )


def _parse(raw: Any, answer: type[Answer]) -> Answer:
    """Validate; text that the database cannot store is a ValueError, too."""
    parsed = answer.model_validate(raw)
    for name, value in parsed:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                require_storable_text(text, name)
    return parsed


def split_text(
    model: StructuredModel, raw: str, *, deadline: TimeBudget | None = None
) -> list[str]:
    """Split one raw text into facts; by rules when the model fails. The sentences that its answer
    does not cover are facts, too."""
    sentences = split_by_rules(raw)
    answer = ask(model, prompts.split_prompt(raw), PreMemorySplitResponse, deadline=deadline)
    facts = without_inventions(unique_texts(answer.contents), [raw]) if answer else []
    if not facts:
        return sentences
    return unique_texts([*facts, *(sentences[at] for at in missing_positions(sentences, facts))])


def reconstruct(
    model: StructuredModel,
    *,
    related_texts: Sequence[str],
    contents: Sequence[str],
    deadline: TimeBudget | None = None,
) -> Reconstruction:
    """Ask once, and once more to refine an answer that is empty, incomplete, invented in part or
    does not cover the contents. Return the one that covers most."""
    first = prompts.reconstruction_prompt(related=list(related_texts), contents=list(contents))
    best = Reconstruction([], kept=list(range(len(contents))))
    for prompt in (first, prompts.refinement_prompt(first)):
        answer = ask(model, prompt, MemoryReconstructionResponse, deadline=deadline)
        if answer is None or answer.coverage != "complete":
            continue
        all_texts = unique_texts(answer.memories)
        memories = without_inventions(all_texts, [*related_texts, *contents])
        kept = missing_positions(contents, memories)
        if memories and (not best.memories or len(kept) < len(best.kept)):
            best = Reconstruction(memories, kept)
        if memories and not kept and memories == all_texts:
            break
    return best


def updated_core(
    model: StructuredModel, *, core: str, memories: list[str], deadline: TimeBudget | None = None
) -> str | None:
    """Return the whole new core, or None when nothing changes."""
    prompt = prompts.core_prompt(core=core, memories=memories)
    answer = ask(model, prompt, CoreUpdateResponse, deadline=deadline)
    if answer is None or not answer.should_update or not answer.core_markdown:
        return None
    return unescape_tags(answer.core_markdown).strip() + "\n"


def unique_texts(texts: Sequence[str]) -> list[str]:
    """Strip the texts and drop empty and repeated ones, in their order."""
    return list(dict.fromkeys(filter(None, (unescape_tags(text).strip() for text in texts))))
