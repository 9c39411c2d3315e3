"""What the package of an edition of the SRD leaves out: the one of 5.2 has no spells, no rules of
play and nearly no monsters. A question about these finds other rules, so people are told."""

from collections import Counter
from collections.abc import Mapping

from django.db.models import Count, Q, QuerySet

from knowledge.models import Document, Rule
from knowledge.srd.source import PACKAGE
from worlds.models import World

EXPECTED = (Rule.Kind.SECTION, Rule.Kind.SPELL, Rule.Kind.MONSTER)
FEW = 10
"""A whole edition has hundreds of each."""


def counts_by_kind(document: Document) -> dict[Rule.Kind, int]:
    """Return how many rules of each kind a book has, most first."""
    return dict(_count_kinds(document.rules.all()).most_common())


def missing_kinds(document: Document, world: World | None = None) -> Mapping[Rule.Kind, int]:
    """Return the kinds of which an imported SRD has next to nothing, with their numbers, unless
    another book of the system that `world` plays by has them; none for any other book."""
    if not document.source.startswith(PACKAGE):
        return {}
    is_readable = Q(document__world=None) | Q(document__world=world)
    rules = Rule.objects.filter(is_readable, document__system=document.system_id, kind__in=EXPECTED)
    counts = _count_kinds(rules)
    own = _count_kinds(document.rules.filter(kind__in=EXPECTED))
    return {kind: own[kind] for kind in EXPECTED if counts[kind] < FEW}


def name_kinds(counts: Mapping[Rule.Kind, int]) -> str:
    """Return the kinds with their numbers, for people: `Spell 319, Monster 334`."""
    return ", ".join(f"{kind.label} {count}" for kind, count in counts.items())


def _count_kinds(rules: QuerySet[Rule]) -> Counter[Rule.Kind]:
    rows = rules.order_by().values_list("kind").annotate(count=Count("pk"))
    return Counter({Rule.Kind(kind): count for kind, count in rows})
