"""Read what happened to something as a claim of the event with that name: `the Sable Pit collapsed`
is about the Collapse of the Sable Pit."""

from knowledge.fact_check.concepts import concepts_of
from knowledge.fact_check.lexicon import language_of, load_yaml
from knowledge.fact_check.prose_words import has_concept, stem_of
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import fold_name, name_words


def named_event(rest: str, linker: EntityLinker) -> GraphNode | None:
    """Return the only event whose name has the same content words as `rest`, a statement without
    its date."""
    language = language_of(rest)
    said = _content(rest, language)
    events = [
        node
        for node in linker.nodes
        if node.kind == NodeKind.EVENT
        if any(
            _is_same(said, _content(name, language))
            for name in (node.name, *node.aliases)
            if language_of(name) == language
        )
    ]
    return events[0] if len(said) > 1 and len(events) == 1 else None


def _content(text: str, language: str) -> frozenset[str]:
    light = {*map(fold_name, load_yaml("prose")[language]["light"])}
    words = (word.norm for word in name_words(text))
    return frozenset(stem_of(word) for word in words if word not in light)


def _is_same(said: frozenset[str], name: frozenset[str]) -> bool:
    if not all(has_concept(word, name) for word in said):
        return False
    return all(has_concept(word, said) for word in name) and any(map(concepts_of, said))
