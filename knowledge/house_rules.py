"""House rules: which rule of a world or campaign answers in the place of another.

Overrides form a chain: shared rule ← rule of the world ← rule of the campaign. So a campaign's rule
replaces the world's house rule where there is one, and the last rule of the chain answers.
"""

from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext as _

from knowledge.models import Rule
from retrieval.errors import Invalid, NotFound
from worlds.audiences import GM, Audience
from worlds.models import Campaign, World

LONGEST_CHAIN = 3


def rule_in_force(
    world: World, rule: Rule, *, campaign: Campaign | None = None, audience: Audience = GM
) -> Rule:
    """Return the rule that answers for `rule` in the campaign, as far as the audience may know."""
    house_rules = Rule.objects.filter(world=world).in_campaign(campaign).visible_to(audience)
    for _step in range(LONGEST_CHAIN):
        overrides = house_rules.filter(overrides=rule).select_related("document", "overrides")
        override = overrides.order_by(F("campaign").asc(nulls_last=True)).first()
        if override is None:
            break
        rule = override
    return rule


def rules_in_force(
    world: World, *, campaign: Campaign | None, audience: Audience
) -> dict[UUID, UUID]:
    """Return, for each rule that a house rule replaces in the campaign, the rule that answers, as
    far as the audience may know: one query."""
    house_rules = Rule.objects.filter(world=world).in_campaign(campaign).visible_to(audience)
    overrides = house_rules.exclude(overrides=None).order_by(F("campaign").asc(nulls_first=True))
    # A rule of the campaign comes last and wins over one of the world.
    answers = dict(overrides.values_list("overrides", "pk"))
    for _step in range(LONGEST_CHAIN - 1):
        answers = {rule: answers.get(answer, answer) for rule, answer in answers.items()}
    return answers


def find_rule_to_override(world: World, key: str, *, campaign: Campaign | None) -> Rule:
    """Return the rule with the id `key` as a new house rule may replace it. For a campaign this is
    the world's own version, where there is one. Raises `NotFound`."""
    rule = Rule.objects.in_world(world).filter(key=key).order_by(F("world").desc()).first()
    if rule is None:
        raise NotFound(
            _("There is no rule %(key)r that could be replaced: use its full id.") % {"key": key}
        )
    return rule_in_force(world, rule) if campaign else rule


def require_acyclic(rule: Rule) -> None:
    """Raise `Invalid` if `rule` would replace itself, or a rule of another campaign."""
    ancestor = rule.overrides
    while ancestor is not None:
        if ancestor.pk == rule.pk:
            raise Invalid(
                _("%(key)s cannot replace itself: choose another rule.") % {"key": rule.key}
            )
        if ancestor.campaign_id not in (None, rule.campaign_id):
            raise Invalid(
                _("%(key)s belongs to another campaign: replace a rule of this one.")
                % {"key": ancestor.key}
            )
        ancestor = ancestor.overrides


def move_campaign_overrides(rule: Rule) -> list[Rule]:
    """Return the campaigns' rules that replace what `rule`, a rule of the whole world, now
    replaces; they are changed to replace `rule`. The caller saves them."""
    if rule.overrides is None or rule.campaign is not None:
        return []
    rows = Rule.objects.select_for_update(of=["self"]).select_related("document")
    rules = list(rows.filter(world=rule.world, overrides=rule.overrides, campaign__isnull=False))
    for each in rules:
        each.overrides = rule
    return rules
