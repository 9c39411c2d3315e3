"""Let the configured language model read what the lexicons cannot. It only reads: the facts still decide."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode
from retrieval.llm import LanguageModel

PROMPT = (Path(__file__).parent / "data" / "reading.md").read_text(encoding="utf-8")
KINDS = sorted(name for name, kind in claim_kinds().items() if kind.readings)


class ModelClaim(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal[(*KINDS, "none")] = "none"  # type: ignore[valid-type]
    subject: str = Field("", max_length=200)
    object: str = Field("", max_length=200)
    negated: bool = False
    past: bool = False


def parse_claim_with_model(
    sentence: str, names: EntityLinker, model: LanguageModel
) -> Claim | None:
    """Return what the model read, if it stays within the sentence: both names must be mentioned there, unambiguously.
    Else None. Raises `LanguageModelDown`."""
    mentioned = _mentioned(sentence, names)
    if len(mentioned) < 2:
        return None
    said = model.generate_structured(PROMPT, _asked(sentence, list(mentioned)), ModelClaim)
    read = ModelClaim.model_validate(said)
    a, b = mentioned.get(read.subject), mentioned.get(read.object)
    if read.kind == "none" or a is None or b is None or a.pk == b.pk:
        return None
    return Claim(a, b, (claim_kinds()[read.kind],), negated=read.negated, past=read.past)


def _mentioned(sentence: str, names: EntityLinker) -> dict[str, GraphNode]:
    mentions = [mention for mention in names.mentions(sentence) if not mention.ambiguous]
    nodes = [names.by_id[mention.matches[0].key] for mention in mentions]  # type: ignore[index]
    return {node.name: node for node in nodes}


def _asked(sentence: str, known: list[str]) -> str:
    return f"Relations: {', '.join(KINDS)}\nNames: {', '.join(known)}\n<statement>{sentence}</statement>"
