"""Bring the glossary of a game system in step with the file, and find the names that it has for a rule."""

from collections import defaultdict
from collections.abc import Callable

from django.utils import timezone

from knowledge.glossary.terms import Term, read_terms
from knowledge.models import GlossaryTerm
from worlds.models import GameSystem


def load_glossary(system: GameSystem) -> int:
    """Write the terms of the file; terms that people added stay. Return how many rows were written."""
    stored = {
        (row.term, row.kind, row.language): row
        for row in GlossaryTerm.objects.filter(system=system)
    }
    fresh: list[GlossaryTerm] = []
    changed: list[GlossaryTerm] = []
    for term in read_terms():
        for language in term.names:
            names = term.all_phrases(language)
            row = stored.get((term.term, term.kind, language))
            if row is None:
                fresh.append(
                    GlossaryTerm(
                        system=system,
                        term=term.term,
                        kind=term.kind,
                        language=language,
                        names=names,
                    )
                )
            elif missing := [name for name in names if name not in row.names]:
                row.names, row.updated_at = [*row.names, *missing], timezone.now()
                changed.append(row)
    GlossaryTerm.objects.bulk_create(fresh, batch_size=500)
    GlossaryTerm.objects.bulk_update(changed, ["names", "updated_at"], batch_size=500)
    return len(fresh) + len(changed)


def rule_name_lookup() -> Callable[[str, str], list[str]]:
    """Return a function from a rule's title and kind to its names in other languages."""
    terms: dict[str, list[Term]] = defaultdict(list)
    for term in read_terms():
        terms[term.term.lower()].append(term)

    def names(title: str, kind: str) -> list[str]:
        return [
            name for term in terms[title.lower()] if term.may_name(kind) for name in term.all_names
        ]

    return names
