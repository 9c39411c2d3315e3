"""What a cluster of episodes teaches: a language model says it, or the most typical episode stands for all."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from memories import prompts
from memories.ingest.reconstruction import StructuredModel, ask
from memories.models import MemoryItem
from memories.prompts import unescape_tags
from memories.similarity.compare import parse_text
from memories.states import Maker

logger = logging.getLogger(__name__)

MOST_EPISODES, MOST_WORDS, MOST_CHARACTERS = 30, 5, 400
RAISED = 0.1
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


@dataclass(frozen=True)
class ReflectionGenerator:
    """Call it with no transaction open. A model that fails costs no insight: the summary is extracted instead."""

    model: StructuredModel | None = None
    language: str = "en"

    def generate(self, episodes: Sequence[MemoryItem]) -> InsightDraft:
        said = self._said(episodes)
        if said is not None:
            return InsightDraft(
                unescape_tags(said.insight).strip(), said.importance, Maker.MODEL, episodes
            )
        return InsightDraft(self._extracted(episodes), _importance(episodes), Maker.RULES, episodes)

    def _said(self, episodes: Sequence[MemoryItem]) -> InsightAnswer | None:
        if self.model is None:
            return None
        texts = [episode.text[:1000] for episode in episodes[:MOST_EPISODES]]
        return ask(self.model, prompts.single_block_prompt("reflect", texts), InsightAnswer)

    def _extracted(self, episodes: Sequence[MemoryItem]) -> str:
        counted = Counter(word for episode in episodes for word in parse_text(episode.text).words)
        shared = [word for word, times in counted.most_common() if times > len(episodes) / 2][
            :MOST_WORDS
        ]
        form = SUMMARY.get(self.language, SUMMARY["en"])
        text = " ".join(episodes[0].text.split())[:MOST_CHARACTERS]
        return form.format(n=len(episodes), words=", ".join(shared) or "–", text=text)


def _importance(episodes: Sequence[MemoryItem]) -> float:
    """A little above the episodes' mean: what happened several times matters more than once."""
    return min(1.0, sum(episode.importance for episode in episodes) / len(episodes) + RAISED)
