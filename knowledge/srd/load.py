"""Write the SRD as rules of a game system, in one transaction."""

from collections import Counter
from collections.abc import Callable, Sequence

from django.db import transaction

from knowledge.entry_store import save_all
from knowledge.glossary.load import load_glossary, rule_name_lookup
from knowledge.models import Document, Rule
from knowledge.srd.render import render_rules
from knowledge.srd.rules_version import keys_changed_by_people, record_current
from knowledge.srd.sections import SrdRule
from knowledge.srd.source import PACKAGE, Edition, Tables
from retrieval.text import has_hangul
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
    keep_changes: bool = False,
) -> Counter[str]:
    """Write document, glossary and rules; count what was created, changed, unchanged, removed.
    `progress` gets the number of rules written so far and the number of all. With `keep_changes`
    rules that people edited, added or deleted stay as they are."""
    source = f"{PACKAGE} {tables.metadata.get('source_tag', '')}"
    values = {
        "title": edition.title,
        "publisher": "Wizards of the Coast LLC",
        "edition": edition.name,
        "licence": tables.metadata.get("license", "CC-BY-4.0"),
        "licence_url": "https://creativecommons.org/licenses/by/4.0/legalcode",
        "attribution": tables.metadata.get("attribution", ""),
        "source": source.strip(),
    }
    document, _new = Document.objects.update_or_create(
        system=system, world=None, slug=edition.slug, defaults=values
    )
    load_glossary(system)
    rows = Rule.objects.filter(document=document).select_related("document")
    rows_by_key = {rule.key: rule for rule in rows}
    own = keys_changed_by_people(document) if keep_changes else set()
    keys = {f"{document.slug}/{rule.path}": rule for rule in render_rules(tables.rows)}
    rules = [rule for key, rule in keys.items() if key not in own]
    names = rule_name_lookup()
    counts: Counter[str] = Counter()
    for start in range(0, len(rules), BATCH):
        batch = [
            _rule_row(rule, document, rows_by_key, _names_elsewhere(rule, names))
            for rule in rules[start : start + BATCH]
        ]
        counts.update(save_all(batch, reason=source))
        progress(min(start + BATCH, len(rules)), len(rules))
    surplus = set(rows_by_key) - set(keys) - own
    deletions = Rule.objects.filter(document=document, key__in=surplus).delete()[1]
    counts["removed"] = deletions.get("knowledge.Rule", 0)
    record_current(document)
    return counts


def _names_elsewhere(rule: SrdRule, names: Callable[[str, str], list[str]]) -> list[str]:
    """Return the names of `rule` in other languages; a level of a class, or its spells of a level,
    are called by both."""
    data = rule.data
    if "class" in data and "proficiency_bonus" in data:
        level = data["level"]
        forms = {"ru": f"{{}} {level} уровня", "ko": f"{level}레벨 {{}}"}
    elif data.get("spell_level"):
        level = data["spell_level"]
        forms = {"ru": f"заклинания {level} уровня: {{}}", "ko": f"{{}} {level}레벨 주문"}
    elif "spells" in data:
        forms = {"ru": "заговоры: {}", "ko": "{} 소마법"}
    else:
        return names(rule.title, rule.kind)
    classes = names(data["class"], "class")
    return [forms["ko" if has_hangul(name) else "ru"].format(name) for name in classes]


def _rule_row(
    source: SrdRule, document: Document, rows_by_key: dict[str, Rule], names: Sequence[str]
) -> Rule:
    key = f"{document.slug}/{source.path}"
    row = rows_by_key.get(key) or Rule(key=key, document=document)
    row.kind, row.title, row.body = source.kind, source.title, source.body
    row.breadcrumb, row.data = list(source.breadcrumb), source.data
    # Aliases that people added to the stored row stay.
    row.aliases = list(dict.fromkeys([*source.aliases, *names, *row.aliases]))
    return row
