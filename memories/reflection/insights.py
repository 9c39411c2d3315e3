"""The insight of a cluster of episodes: by a language model, else the most typical episode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from memories import prompts
from memories.ingest.reconstruction import StructuredModel, ask
from memories.models import MemoryItem
from memories.prompts import unescape_tags
from memories.states import Maker
from retrieval.text import guess_language

# Bounds of the prompt, and of the summary without a model.
MAX_EPISODES, EPISODE_CHARACTERS = 30, 1000
SUMMARY_CHARACTERS = 400
# What happened several times matters a little more than each time alone.
REPETITION_BONUS = 0.1
SUMMARY = {
    "en": "Something like this happened {n} times, for example: {text}",
    "ru": "Похожих случаев: {n}. Один из них: {text}",
    "ko": "비슷한 일이 {n}번 있었다. 예를 들면: {text}",
}


class InsightAnswer(BaseModel):
    """One general lesson of several episodes."""

    insight: Annotated[str, Field(min_length=10, json_schema_extra={"maxLength": 600})]
    importance: float = Field(0.7, ge=0, le=1)


@dataclass(frozen=True)
class InsightDraft:
    """An insight before it is stored."""

    text: str
    importance: float
    made_by: Maker
    episodes: Sequence[MemoryItem]
    revised_ids: Sequence[UUID] = ()
    """Insights that it takes the place of."""


@dataclass(frozen=True)
class ReflectionGenerator:
    """Generates insights; call it with no transaction open. When the model fails, the insight is a
    summary by rules."""

    model: StructuredModel | None = None

    def generate(self, episodes: Sequence[MemoryItem]) -> InsightDraft:
        if self.model is not None:
            texts = [episode.text[:EPISODE_CHARACTERS] for episode in episodes[:MAX_EPISODES]]
            prompt = prompts.single_block_prompt("reflect", texts)
            answer = ask(self.model, prompt, InsightAnswer)
            if answer is not None:
                text = unescape_tags(answer.insight).strip()
                return InsightDraft(text, answer.importance, Maker.MODEL, episodes)
        mean = sum(episode.importance for episode in episodes) / len(episodes)
        importance = min(1.0, mean + REPETITION_BONUS)
        return InsightDraft(summarize(episodes), importance, Maker.RULES, episodes)


def summarize(episodes: Sequence[MemoryItem]) -> str:
    """Return how many there are and the most typical one, which is the first, in the language in
    which they are written: another may be set for the namespace."""
    language = guess_language(" ".join(episode.text for episode in episodes))
    text = " ".join(episodes[0].text.split())[:SUMMARY_CHARACTERS]
    return SUMMARY[language].format(n=len(episodes), text=text)
