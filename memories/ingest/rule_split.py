"""Text processing without a language model: the same steps, by rules."""

from retrieval.text import split_sentences

LEAST, MOST_FACTS = 4, 200


def split_by_rules(raw: str) -> list[str]:
    """Take a text apart at sentence ends and line breaks. Nothing is left out: a scrap joins the
    piece before it."""
    facts: list[str] = []
    for piece in filter(
        None, (piece.strip(" \t-•*") for piece in split_sentences(raw, at_line_breaks=True))
    ):
        if facts and len(piece) < LEAST:
            facts[-1] += f" {piece}"
        else:
            facts.append(piece)
    return list(dict.fromkeys(facts)) if 0 < len(facts) <= MOST_FACTS else [raw]
