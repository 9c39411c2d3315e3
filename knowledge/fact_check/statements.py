"""Read a statement: by the lexicons, else by the language model if there is one."""

import re
import unicodedata
from dataclasses import replace

from knowledge.fact_check.claims import Claim, UnparsedClaim, parse_claims
from knowledge.fact_check.model_claims import parse_claim_with_model
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.protocol import View
from retrieval.errors import LanguageModelDown
from retrieval.llm import Purpose, get_llm

# `한솔비다` is short for `한솔비이다`, which ends in a particle of its own. Short it is only after
# a syllable without a final consonant: Unicode orders those by 28.
OPEN_SYLLABLES = "".join(chr(code) for code in range(ord("가"), ord("힣") + 1, 28)).replace(
    "이", ""
)
SHORT_COPULA = re.compile(rf"(?<=[{OPEN_SYLLABLES}])다(?=[.!]?\s*$)")


class StatementReader:
    """Reads statements about the entities that `view` shows."""

    def __init__(self, text: str, view: View) -> None:
        self.view = view
        self.text = unicodedata.normalize("NFC", text).strip()
        long_form = SHORT_COPULA.sub("이다", self.text)
        self.linker = EntityLinker.for_view(view, [self.text, long_form])
        if self._count_names(long_form) > self._count_names(self.text):
            self.text = long_form

    def _count_names(self, text: str) -> int:
        return len(self.linker.index.mentions(text, typos=False))

    def read(self) -> list[Claim] | UnparsedClaim:
        """Read by the lexicons alone."""
        return parse_claims(self.text, self.linker)

    def read_with_model(self, unread: UnparsedClaim) -> list[Claim] | UnparsedClaim:
        """Read what the lexicons could not; `unread` if there is no model, or it cannot either."""
        # Candidates mean that a name was ambiguous; a model could only guess which one was meant.
        model = get_llm(Purpose.CHECKING, str(self.view.world.pk))
        if unread.candidates or model is None:
            return unread
        try:
            claim = parse_claim_with_model(self.text, self.linker, model)
        except LanguageModelDown:
            return replace(unread, is_model_down=True)
        return [claim] if claim else unread
