"""Load the glossary file into a game system, and look up the names of a rule in it."""

from collections import defaultdict
from collections.abc import Callable

from django.utils import timezone

from knowledge.glossary.terms import Term, read_terms
from knowledge.glossary_term import GlossaryTerm
from worlds.models import GameSystem


def load_glossary(system: GameSystem) -> int:
    """Write the terms of the file; return the number of changed rows. Names only grow."""
    terms = GlossaryTerm.objects.filter(system=system)
    rows = {(row.term, row.kind, row.language): row for row in terms}
    new_rows: list[GlossaryTerm] = []
    changed_rows: list[GlossaryTerm] = []
    for term in read_terms():
        for language in term.names:
            names = [*term.names[language], *term.phrases.get(language, ())]
            row = rows.get((term.term, term.kind, language))
            if row is None:
                values = {"term": term.term, "kind": term.kind, "language": language}
                new_rows.append(GlossaryTerm(system=system, names=names, **values))
            # Add only: names that people entered, and their order, stay.
            elif missing := [name for name in names if name not in row.names]:
                row.names, row.updated_at = [*row.names, *missing], timezone.now()
                changed_rows.append(row)
    GlossaryTerm.objects.bulk_create(new_rows, batch_size=500)
    GlossaryTerm.objects.bulk_update(changed_rows, ["names", "updated_at"], batch_size=500)
    return len(new_rows) + len(changed_rows)


def rule_name_lookup() -> Callable[[str, str], list[str]]:
    """Return a function from a rule's title and kind to its names in other languages."""
    terms: dict[str, list[Term]] = defaultdict(list)
    for term in read_terms():
        terms[term.term.lower()].append(term)

    def names(title: str, kind: str) -> list[str]:
        by_language = (t.names for t in terms[title.lower()] if t.may_name(kind))
        return [name for names in by_language for each in names.values() for name in each]

    return names
