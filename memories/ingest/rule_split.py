"""Splitting a text into facts without a language model."""

from retrieval.text import split_sentences

LEAST, MOST_FACTS = 4, 200


def split_by_rules(raw: str) -> list[str]:
    """Split a text at sentence ends and line breaks. A piece of less than four characters joins
    the one before it; a text with more than 200 pieces stays whole."""
    facts: list[str] = []
    for sentence in split_sentences(raw, at_line_breaks=True):
        piece = sentence.strip(" \t-•*")
        if facts and piece and len(piece) < LEAST:
            facts[-1] += f" {piece}"
        elif piece:
            facts.append(piece)
    return list(dict.fromkeys(facts)) if 0 < len(facts) <= MOST_FACTS else [raw]
