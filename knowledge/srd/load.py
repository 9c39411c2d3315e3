"""Write the SRD as rules: once, again without change, or not at all."""

from collections import Counter
from collections.abc import Callable, Sequence

from django.db import transaction

from knowledge.entry_store import save_all
from knowledge.glossary.load import load_glossary, names_of_rules
from knowledge.models import Document, Rule
from knowledge.srd.render import rules_of
from knowledge.srd.sections import Written
from knowledge.srd.source import PACKAGE, Edition, Tables
from worlds.models import GameSystem

BATCH = 200
SYSTEMS = {"5.1": ("dnd-5e", "Fifth edition"), "5.2": ("dnd-5e-2024", "Fifth edition (2024)")}

Progress = Callable[[int, int], None]


def game_system(edition: str = "5.1") -> GameSystem:
    slug, name = SYSTEMS[edition]
    return GameSystem.objects.get_or_create(slug=slug, defaults={"name": name})[0]


@transaction.atomic
def load_srd(
    edition: Edition,
    tables: Tables,
    *,
    system: GameSystem,
    progress: Progress = lambda _d, _n: None,
) -> Counter[str]:
    """Write document, glossary and rules in one transaction; count what was created, changed, unchanged, removed."""
    document = _document(edition, tables, system)
    load_glossary(system)
    stored = {
        rule.key: rule for rule in Rule.objects.filter(document=document).select_related("document")
    }
    wanted = list(rules_of(tables.rows))
    names = names_of_rules()
    counts: Counter[str] = Counter()
    for start in range(0, len(wanted), BATCH):
        batch = [
            _rule(each, document, stored, names(each.title, each.kind))
            for each in wanted[start : start + BATCH]
        ]
        counts.update(save_all(batch, reason=f"{PACKAGE} {tables.metadata.get('source_tag', '')}"))
        progress(min(start + BATCH, len(wanted)), len(wanted))
    gone = set(stored) - {f"{document.slug}/{each.path}" for each in wanted}
    counts["removed"] = (
        Rule.objects.filter(document=document, key__in=gone).delete()[1].get("knowledge.Rule", 0)
    )
    return counts


def _document(edition: Edition, tables: Tables, system: GameSystem) -> Document:
    said = {
        "title": edition.title,
        "publisher": "Wizards of the Coast LLC",
        "edition": edition.name,
        "licence": tables.metadata.get("license", "CC-BY-4.0"),
        "licence_url": "https://creativecommons.org/licenses/by/4.0/legalcode",
        "attribution": tables.metadata.get("attribution", ""),
        "source": f"{PACKAGE} {tables.metadata.get('source_tag', '')}".strip(),
    }
    return Document.objects.update_or_create(
        system=system, world=None, slug=edition.slug, defaults=said
    )[0]


def _rule(
    written: Written, document: Document, stored: dict[str, Rule], names: Sequence[str]
) -> Rule:
    """The rule as it should be stored; aliases that people added are kept."""
    key = f"{document.slug}/{written.path}"
    rule = stored.get(key) or Rule(key=key, document=document)
    rule.kind, rule.title, rule.body = written.kind, written.title, written.body
    rule.breadcrumb, rule.data = list(written.breadcrumb), written.data
    rule.aliases = list(dict.fromkeys([*written.aliases, *names, *rule.aliases]))
    return rule
