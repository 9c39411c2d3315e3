"""The rules and lore that a caller may know, as querysets and compiled for the search."""

from collections.abc import Callable
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.house_rules import rules_in_force
from knowledge.models import Lore, LorePassage, Rule, RulePassage
from knowledge.schemas import LoreFilters
from retrieval.search import CompiledRows, get_compiled_rows
from worlds.callers import Caller

OCCURRING = """
SELECT word FROM unnest(%(words)s::text[]) AS word WHERE EXISTS (
  SELECT FROM ({rows}) AS row WHERE row.search_vector @@ (
    SELECT string_agg(memory37_quoted(part), '&')::tsquery
    FROM unnest(tsvector_to_array(memory37_words(%(language)s, word))) AS part))
"""


class RuleRows:
    """The rules of a kind (empty: of all kinds) that a caller may know."""

    def __init__(self, caller: Caller, kind: str | None) -> None:
        self.caller, self.kind = caller, kind

    @cached_property
    def passages(self) -> CompiledRows:
        return self._compile("rule passages", lambda: self.visible_rows(RulePassage))

    @cached_property
    def rules(self) -> CompiledRows:
        return self._compile("rules", lambda: self.known_rows(Rule))

    @cached_property
    def own_rules(self) -> CompiledRows:
        """Those that are not shared by all worlds: an index has the names of the others."""
        return self._compile("own rules", lambda: self.known_rows(Rule).not_shared())

    def visible_rows(self, model: Any) -> Any:
        """The rows of `model` (rules or passages) that are in force."""
        caller = self.caller
        rows = model.objects.in_force(caller.world, caller.campaign, caller.audience)
        return self._of_kind(rows.visible_to(caller.audience))

    def known_rows(self, model: Any) -> Any:
        """The same with those that a house rule replaces: their names mean the house rule."""
        rows = model.objects.in_world(self.caller.world).in_campaign(self.caller.campaign)
        return self._of_kind(rows.visible_to(self.caller.audience))

    def answers(self) -> dict[UUID, UUID]:
        """The rules that answer for those that they replace, by the ids of the latter."""
        caller = self.caller
        return rules_in_force(caller.world, campaign=caller.campaign, audience=caller.audience)

    def _of_kind(self, rows: Any) -> Any:
        if not self.kind:
            return rows
        # A passage has the kind in its metadata, so that the search needs no join.
        kind: dict[str, Any] = {"kind": self.kind}
        return rows.filter(**kind) if rows.model is Rule else rows.filter(metadata__contains=kind)

    def _compile(self, name: str, make: "Callable[[], QuerySet[Any]]") -> CompiledRows:
        return compiled_rows(self.caller, (name, self.kind), make)


class LoreRows:
    """The lore that a caller may know. The filters of a question narrow the passages that it may
    find, not the entries that it may name."""

    def __init__(self, caller: Caller, filters: LoreFilters, *, with_drafts: bool) -> None:
        self.caller, self.filters, self.with_drafts = caller, filters, with_drafts

    @cached_property
    def passages(self) -> CompiledRows:
        return compiled_rows(
            self.caller,
            ("lore passages", self.filters.model_dump_json(), self.with_drafts),
            lambda: filter_passages(
                self._known_rows(LorePassage), self.filters, with_drafts=self.with_drafts
            ),
        )

    @cached_property
    def entries(self) -> CompiledRows:
        """Drafts only for game masters: what others find must not depend on them."""
        is_gm = self.caller.audience.is_gm
        return compiled_rows(
            self.caller,
            ("lore",),
            lambda: self._known_rows(Lore) if is_gm else self._known_rows(Lore).only_published(),
        )

    def _known_rows(self, model: Any) -> Any:
        rows = model.objects.in_world(self.caller.world).visible_to(self.caller.audience)
        return rows.known_in(self.caller.campaign, self.caller.audience)


def find_occurring(passages: CompiledRows, language: str, words: list[str]) -> set[str]:
    """Return those of `words` that a passage holds."""
    rows = passages.fetch(OCCURRING, ("search_vector",), words=words, language=language)
    return {word for (word,) in rows}


def compiled_rows(
    caller: Caller, key: tuple[Any, ...], make: "Callable[[], QuerySet[Any]]"
) -> CompiledRows:
    """Return the compiled rows of `make()`, cached: which rows there are depends on nothing but
    the caller and what `key` names."""
    world, campaign = caller.world, caller.campaign
    of_caller = (world.pk, world.system_id, campaign.pk if campaign else None, caller.audience)
    return get_compiled_rows((*key, *of_caller), make)


def filter_passages(passages: Any, filters: LoreFilters, *, with_drafts: bool = False) -> Any:
    """Apply the filters of a question; drafts are left out unless a game master asks for them."""
    conditions = Q() if with_drafts else Q(published=filters.status != "draft")
    kind = "kind" if filters.kind in Lore.Kind else "custom_kind"
    metadata = {kind: filters.kind, "tags": filters.tags}
    if metadata := {name: value for name, value in metadata.items() if value}:
        conditions &= Q(metadata__contains=metadata)
    if filters.language:
        conditions &= Q(language=filters.language)
    if (last := filters.in_world_to) is not None:
        conditions &= Q(lore__in_world_at__lte=last)
    # An entry with an end lasts until then; one without is a single day.
    if (first := filters.in_world_from) is not None:
        conditions &= Q(lore__in_world_at__gte=first) | Q(lore__in_world_until__gte=first)
    return passages.filter(conditions)
