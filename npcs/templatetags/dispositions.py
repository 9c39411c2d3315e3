"""Template filters and tags that show a disposition: word, number, direction, colour."""

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from npcs.chart import bar
from npcs.models import Axis, DispositionRules
from npcs.opinion_pages import page_of_opinion

register = template.Library()

WORDS = {
    "hostile": _("hostile"),
    "unfriendly": _("unfriendly"),
    "wary": _("wary"),
    "neutral": _("neutral"),
    "warm": _("warm"),
    "friendly": _("friendly"),
    "devoted": _("devoted"),
}
# Shapes as well as colours, because one in twelve men cannot tell red from green.
ARROWS = {
    "rising": ("▲", _("rising")),
    "falling": ("▼", _("falling")),
    "steady": ("■", _("steady")),
}


@register.filter
def word(label: str) -> Any:
    return WORDS.get(str(label), label)


def word_of_standing(standing: Any) -> Any:
    """Near zero, say whether that is a stranger or somebody of mixed feelings."""
    is_near_zero = standing.label in ("wary", "neutral", "warm")
    if standing.feelings == "mixed" and is_near_zero:
        return _("ambivalent")
    if standing.feelings == "none" and standing.label == "neutral":
        return _("stranger")
    return word(standing.label)


@register.filter
def axis_name(axis: str) -> Any:
    return dict(Axis.choices).get(axis, axis)


@register.filter
def rule_name(rule: str) -> Any:
    return dict(DispositionRules.Rule.choices).get(rule, rule)


@register.inclusion_tag("gm/parts/opinion.html")
def opinion(each: Any) -> dict[str, Any]:
    """Show an `npcs.opinions.Opinion`: word and number."""
    return {"label": each.label, "word": word(each.label), "score": each.score}


@register.filter
def opinion_page(entry: Any, viewer: Any) -> str:
    return page_of_opinion(viewer.world.slug, entry)


@register.inclusion_tag("gm/parts/regard.html")
def regard(standing: Any, size: str = "") -> dict[str, Any]:
    """Show a `DispositionOut` (or an `Apparent`, which has no number)."""
    arrow, direction = ARROWS[standing.direction]
    return {
        "label": standing.label,
        "word": word_of_standing(standing),
        "score": getattr(standing, "score", None),
        "pending": getattr(standing, "pending", 0),
        "arrow": arrow,
        "direction": direction,
        "size": size,
    }


@register.inclusion_tag("gm/parts/scale.html")
def scale(standing: Any) -> dict[str, Any]:
    """Show where a score lies between -100 and 100."""
    x, width = bar(standing.score)
    return {
        "x": x,
        "width": width,
        "score": standing.score,
        "label": standing.label,
        "word": word_of_standing(standing),
    }
