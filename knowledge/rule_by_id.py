"""A rule by its id: in full, without the document, or by its name."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q, QuerySet
from rapidfuzz import fuzz, process

from knowledge.house_rules import rule_in_force
from knowledge.models import Rule, RulePassage
from knowledge.name_matching import CERTAIN, name_index
from knowledge.searched_rows import RuleRows
from retrieval.errors import Ambiguous, NotFound
from worlds.callers import Caller

CANDIDATES = 5


def find_rule_and_override(rows: RuleRows, reference: str) -> list[Rule]:
    """Return the rule that answers for `reference`; after it the rule it replaces, if `reference`
    is the id of that one. Raises `NotFound` or `Ambiguous`."""
    caller = rows.caller
    known = Rule.objects.in_world(caller.world).in_campaign(caller.campaign)
    known = known.visible_to(caller.audience).select_related("document", "overrides")
    rule = find_rule(known, rows.known_rows(Rule), rows.answers(), reference)
    answer = rule_in_force(caller.world, rule, campaign=caller.campaign, audience=caller.audience)
    return [rule] if answer == rule else [answer, rule]


def texts_of(rule: Rule, caller: Caller) -> list[RulePassage]:
    visible = RulePassage.objects.visible_to(caller.audience).filter(rule=rule)
    return list(visible.order_by("position").only("text", "updated_at"))


def find_rule(
    known: "QuerySet[Rule]", rules: "QuerySet[Rule]", answers: Mapping[UUID, UUID], reference: str
) -> Rule:
    """Return the rule of `known` with this id, with or without its document, else the one of
    `rules` with this name; the name of a replaced rule means the one that answers."""
    rules = rules.select_related("document", "overrides")
    with_id = Q(key__iexact=reference) | Q(key__iendswith=f"/{reference}")
    rows = list(known.filter(with_id)[: CANDIDATES + 1])
    # A full id wins over longer ids that end with it.
    rows = [rule for rule in rows if rule.key.lower() == reference.lower()] or rows
    if len(rows) == 1:
        return rows[0]
    if rows:
        message = f"{reference!r} fits several rules: name one of them in full."
        raise Ambiguous(message, candidates=[rule.key for rule in rows[:CANDIDATES]])
    matches = name_index(rules, reference).find(reference)
    certain = {answers.get(match.key, match.key) for match in matches if match.how in CERTAIN}  # type: ignore[call-overload]
    if len(certain) == 1:
        return known.get(pk=certain.pop())
    tail = reference.rsplit("/", 1)[-1]
    tails = {key: key.rsplit("/", 1)[-1] for key in rules.values_list("key", flat=True)}
    similar = process.extract(tail, tails, scorer=fuzz.ratio, limit=CANDIDATES, score_cutoff=60)
    message = f"There is no rule {reference!r}. Look it up by `term`."
    raise NotFound(message, candidates=[key for _tail, _score, key in similar])
