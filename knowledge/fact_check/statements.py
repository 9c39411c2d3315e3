"""Read a statement: by the lexicons, else by the language model if there is one."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

from knowledge.fact_check.claims import (
    MAX_NAMES,
    Claim,
    UnparsedClaim,
    parse_claims,
    parse_mentions,
)
from knowledge.fact_check.descriptions import DescriptionReader
from knowledge.fact_check.model_claims import parse_claim_with_model
from knowledge.fact_check.name_slots import DescribedMention, joined_mentions
from knowledge.fact_check.relative_dates import with_dates_of_events
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.protocol import View
from retrieval.errors import LanguageModelDown
from retrieval.llm import Purpose, get_llm
from retrieval.text import NameMention

# `한솔비다` is short for `한솔비이다`, which ends in a particle of its own. Short it is only after
# a syllable without a final consonant: Unicode orders those by 28.
OPEN_SYLLABLES = "".join(chr(code) for code in range(ord("가"), ord("힣") + 1, 28)).replace(
    "이", ""
)
COLLOQUIAL = re.compile(r"(?<=[가-힣])이?(?:잖아|거든|지|야)(?:요)?(?=[.!?]?\s*$)")
"""Endings of speech after a name, as that of a statement."""
SHORT_COPULA = re.compile(rf"(?<=[{OPEN_SYLLABLES}])다(?=[.!]?\s*$)")


class StatementReader:
    """Reads statements about the entities that `view` shows."""

    def __init__(self, text: str, view: View) -> None:
        self.view = view
        self.text = unicodedata.normalize("NFC", text).strip()
        long_form = SHORT_COPULA.sub("이다", self.text)
        self.linker = EntityLinker.for_view(
            view, [self.text, long_form, COLLOQUIAL.sub("이다", self.text)]
        )
        colloquial = COLLOQUIAL.sub("이다", self.text)
        for form in (long_form, colloquial):
            if self._count_names(form) > self._count_names(self.text):
                self.text = form
        self.text = with_dates_of_events(self.text, self.linker, view)

    def _count_names(self, text: str) -> tuple[int, int]:
        """Return how many names a text has, and their length."""
        found = self.linker.index.mentions(text, typos=False)
        return len(found), sum(len(mention.text.removesuffix("이다")) for mention in found)

    def readings(self) -> Iterator[list[Claim] | UnparsedClaim]:
        """Yield what the lexicons read in it: by its names alone, then by descriptions, too."""
        yield parse_claims(self.text, self.linker)
        described = DescriptionReader(self.text, self.linker, self.view)
        mentions = joined_mentions(self.text, self.linker)[:MAX_NAMES]
        for more in described.readings(mentions):
            claims = parse_mentions(self.text, list(more), described.linker)
            yield claims if _is_definite(more) else _of_any(claims)

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


def _is_definite(mentions: Iterable[NameMention]) -> bool:
    return all(not isinstance(m, DescribedMention) or m.is_definite for m in mentions)


def _of_any(claims: list[Claim] | UnparsedClaim) -> list[Claim] | UnparsedClaim:
    if isinstance(claims, UnparsedClaim):
        return claims
    return [replace(claim, is_of_any=True) for claim in claims]
