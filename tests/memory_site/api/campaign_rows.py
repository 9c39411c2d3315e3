"""What belongs to one campaign of a world: its rows, and the words by which an answer shows that it
comes from them."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model, Q

from knowledge.fact_proposal_model import FactProposal
from worlds.models import Campaign, Party, Reveal

FURTHEST = 3
"""Foreign keys from a row to its campaign: a step has a thread, the thread a party."""
NOT_PLAYED = {"AuditedCall", "Event", "CallCount", "WebhookProgress"}
"""Logs, which the site writes by itself."""
SHARED = {
    *("world", "system", "user", "invited_by", "npc", "other", "teller", "kept", "merged"),
    *("faction", "node", "src", "dst", "ended", "place_lore", "overrides"),
}
"""Foreign keys to what campaigns have in common."""
TELLING = {
    *("external_id", "title", "text", "what", "body", "reason", "quote", "note", "notes"),
    *("source_ref", "prompt_text", "name"),
}
"""Columns whose words are shown in answers."""
SHORTEST = 6
AUDIENCES = {"worlds.Party": "party", "worlds.Character": "character"}
Row = tuple[str, tuple[tuple[str, Any], ...]]


def paths_to_campaign(model: type[Model], steps: int = FURTHEST) -> Iterator[str]:
    """Yield the lookups that lead by foreign keys from a row of `model` to its campaign: of each
    key the shortest."""
    for field in model._meta.get_fields():
        if not (field.many_to_one or field.one_to_one) or field.auto_created:
            continue
        if field.name in SHARED or field.related_model is None:
            continue
        if field.related_model is Campaign:
            yield field.name
        elif steps > 1 and field.related_model is not model:
            target: Any = field.related_model
            further = sorted(paths_to_campaign(target, steps - 1), key=len)
            yield from (f"{field.name}__{path}" for path in further[:1])


def models_of_campaigns() -> dict[type[Model], list[str]]:
    found = {}
    for model in apps.get_models():
        name = model.__name__
        if name in NOT_PLAYED or name.startswith("Historical") or model is Campaign:
            continue
        if paths := list(paths_to_campaign(model)):
            found[model] = paths
    return found


MODELS = models_of_campaigns()


def rows_of(campaign: Campaign) -> list[Row]:
    """Return all rows that belong to `campaign`, with their values, also those that name it in
    words: reveals to its parties and characters, and what was read in its texts."""
    rows: list[Row] = list(read(Campaign, Q(pk=campaign.pk)))
    for model, paths in MODELS.items():
        belongs = Q()
        for path in paths:
            belongs |= Q(**{path: campaign.pk})
        rows += read(model, belongs)
    parties = Party.objects.filter(campaign=campaign)
    names = [f"party:{slug}" for slug in parties.values_list("slug", flat=True)]
    people = parties.values_list("characters__slug", flat=True)
    names += [f"character:{slug}" for slug in people if slug]
    rows += read(Reveal, Q(audience__in=names))
    ids = {value for _kind, values in rows for name, value in values if name == "id"}
    sources = [each for each in ids if isinstance(each, UUID)]
    rows += read(FactProposal, Q(source_id__in=sources, source_kind__in=["episode", "thread"]))
    return rows


def read(model: type[Model], belongs: Q) -> Iterator[Row]:
    names = [
        field.name
        for field in model._meta.concrete_fields
        if field.name not in ("embedding", "search_vector")
    ]
    label = model._meta.label
    for values in model._base_manager.filter(belongs).distinct().order_by("pk").values(*names):
        yield label, tuple(sorted((name, repr_of(value)) for name, value in values.items()))


def repr_of(value: Any) -> Any:
    return value if isinstance(value, str | UUID | int | None) else repr(value)


def words_of(rows: list[Row]) -> set[str]:
    """Return the ids and the texts of the rows, and the audiences that parties and characters
    are."""
    words = set()
    for label, values in rows:
        for name, value in values:
            if name == "slug" and label in AUDIENCES:
                words.add(f'"{AUDIENCES[label]}:{value}"')
            elif name == "id" and isinstance(value, UUID):
                words.add(str(value))
            elif name in TELLING and isinstance(value, str) and len(value) >= SHORTEST:
                words.add(value)
    return words
