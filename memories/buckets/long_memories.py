"""Long memories, such as recorded episodes, judged by their sentences: whether a text of a hundred
words answers a question shows in the one that does, and what judges answers was fitted to single
statements.
"""

from collections.abc import Sequence
from itertools import chain

from memories.buckets.question_fit import Candidate
from memories.search.question_map import map_question
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown
from retrieval.text import split_sentences

LONG_FROM = 40
"""Words of a memory that is judged by its sentences."""
MOST_LONG = 4
"""So many of the nearest long memories are read sentence by sentence."""
MOST_SENTENCES = 10
"""Of one memory; what is longer is read in as many parts of several sentences."""


def with_sentences(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the sentences of long ones in their place. Without the embedder, all
    stay whole."""
    is_long = [len(candidate.text.split()) >= LONG_FROM for candidate in candidates]
    has_vectors = any(candidate.cosine is not None for candidate in candidates)
    places = [place for place, long in enumerate(is_long) if long and has_vectors][:MOST_LONG]
    parts = {place: parts_of(candidates[place].text) for place in places}
    if not parts:
        return list(candidates)
    embedder, texts = get_embedder("memory"), list(chain.from_iterable(parts.values()))
    try:
        asked = map_question(embedder.name, embedder.embed_query([question])[0])
        vectors = dict(zip(texts, embedder.embed_words(texts), strict=True))
    except EmbedderDown:
        return list(candidates)
    judged = []
    for place, candidate in enumerate(candidates):
        if place in parts:
            judged += [Candidate(text, float(asked @ vectors[text])) for text in parts[place]]
        else:
            judged.append(candidate)
    return judged


def parts_of(text: str) -> list[str]:
    """Return the sentences of `text`, or, of more than `MOST_SENTENCES`, as many parts of it."""
    sentences = [each.strip() for each in split_sentences(text, at_line_breaks=True)]
    sentences = [each for each in sentences if each]
    size = -(-len(sentences) // MOST_SENTENCES) or 1
    return [" ".join(sentences[at : at + size]) for at in range(0, len(sentences), size)]
