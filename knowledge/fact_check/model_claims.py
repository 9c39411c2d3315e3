"""Parse a statement with the configured language model when the lexicons cannot. The facts still
decide the result.

The models have `BUDGET_SECONDS` in all, answers are kept, and after a failure they are left alone
for `REST_SECONDS`: a caller waits for a stalled model once.
"""

import hashlib
from pathlib import Path
from typing import Any, Literal

from django.core.cache import cache
from pydantic import BaseModel, ConfigDict, Field

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.fact_check.statement_parts import Tense
from knowledge.graph.entity_linking import EntityLinker
from retrieval.errors import LanguageModelDown
from retrieval.llm import AllowanceSpent, PurposeModel, in_tags

PROMPT = (Path(__file__).parent / "data" / "claim_prompt.md").read_text(encoding="utf-8")
KINDS = sorted(name for name, kind in claim_kinds().items() if kind.readings)


BUDGET_SECONDS, REST_SECONDS = 2.0, 30


class ModelClaim(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal[(*KINDS, "none")] = "none"  # type: ignore[valid-type]
    subject: str = Field("", max_length=200)
    object: str = Field("", max_length=200)
    negated: bool = False
    past: bool = False


def parse_claim_with_model(
    sentence: str, linker: EntityLinker, model: PurposeModel
) -> Claim | None:
    """Return the model's claim; None unless both of its names are mentioned, unambiguously, in
    the sentence. Raises `LanguageModelDown`."""
    nodes = {node.name: node for node in linker.mentioned_nodes(sentence)}
    if len(nodes) < 2:
        return None
    prompt = (
        f"Relations: {', '.join(KINDS)}\nNames: {', '.join(nodes)}\n"
        f"{in_tags('statement', sentence)}"
    )
    answer = ModelClaim.model_validate(_ask(prompt, model))
    a, b = nodes.get(answer.subject), nodes.get(answer.object)
    if answer.kind == "none" or a is None or b is None or a.pk == b.pk:
        return None
    kind = claim_kinds()[answer.kind]
    tense = Tense.PAST if answer.past else Tense.PRESENT
    return Claim(a, b, (kind,), is_negated=answer.negated, tense=tense)


def _ask(prompt: str, model: PurposeModel) -> dict[str, Any]:
    names = ",".join(each.model for each in model.models)
    resting = f"lore_assert:rests:{hashlib.sha256(names.encode()).hexdigest()}"
    if cache.get(resting):
        raise LanguageModelDown(f"{names}: failed a moment ago.")
    within = BUDGET_SECONDS / len(model.models)
    try:
        return model.generate_structured(
            PROMPT, prompt, ModelClaim, tries=1, within=within, reuse=True
        )
    except LanguageModelDown as error:
        if not isinstance(error, AllowanceSpent):
            cache.set(resting, value=True, timeout=REST_SECONDS)
        raise
