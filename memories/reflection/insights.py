"""The insight of a cluster of episodes: by a language model, else the most typical episode."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from memories import prompts
from memories.ingest.reconstruction import StructuredModel, ask
from memories.models import MemoryItem
from memories.prompts import unescape_tags
from memories.similarity.comparable_text import parse_text
from memories.states import Maker

# Bounds of the prompt, and of the summary without a model.
MAX_EPISODES, EPISODE_CHARACTERS = 30, 1000
MAX_WORDS, SUMMARY_CHARACTERS = 5, 400
# What happened several times matters a little more than each time alone.
REPETITION_BONUS = 0.1
SUMMARY = {
    "en": "{n} episodes alike ({words}). Typical: {text}",
    "ru": "{n} похожих эпизода ({words}). Пример: {text}",
    "ko": "비슷한 일화 {n}개 ({words}). 대표: {text}",
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
    language: str = "en"

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
        return InsightDraft(self.summarize(episodes), importance, Maker.RULES, episodes)

    def summarize(self, episodes: Sequence[MemoryItem]) -> str:
        """Return the most typical episode, with the words that more than half of them share."""
        counts = Counter(word for episode in episodes for word in parse_text(episode.text).words)
        common = [word for word, n in counts.most_common() if n > len(episodes) / 2][:MAX_WORDS]
        return SUMMARY.get(self.language, SUMMARY["en"]).format(
            n=len(episodes),
            words=", ".join(common) or "–",
            text=" ".join(episodes[0].text.split())[:SUMMARY_CHARACTERS],
        )
