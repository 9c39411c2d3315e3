"""Parse a statement with the configured language model when the lexicons cannot. The facts still
decide the result."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.graph.entity_linking import EntityLinker
from retrieval.llm import LanguageModel

PROMPT = (Path(__file__).parent / "data" / "claim_prompt.md").read_text(encoding="utf-8")
KINDS = sorted(name for name, kind in claim_kinds().items() if kind.readings)


class ModelClaim(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal[(*KINDS, "none")] = "none"  # type: ignore[valid-type]
    subject: str = Field("", max_length=200)
    object: str = Field("", max_length=200)
    negated: bool = False
    past: bool = False


def parse_claim_with_model(
    sentence: str, linker: EntityLinker, model: LanguageModel
) -> Claim | None:
    """Return the model's claim; None unless both of its names are mentioned, unambiguously, in
    the sentence. Raises `LanguageModelDown`."""
    nodes = {node.name: node for node in linker.mentioned_nodes(sentence)}
    if len(nodes) < 2:
        return None
    prompt = (
        f"Relations: {', '.join(KINDS)}\nNames: {', '.join(nodes)}\n"
        f"<statement>{sentence}</statement>"
    )
    answer = ModelClaim.model_validate(model.generate_structured(PROMPT, prompt, ModelClaim))
    a, b = nodes.get(answer.subject), nodes.get(answer.object)
    if answer.kind == "none" or a is None or b is None or a.pk == b.pk:
        return None
    kind = claim_kinds()[answer.kind]
    return Claim(a, b, (kind,), is_negated=answer.negated, is_past=answer.past)
