"""What a person can decide about a contradiction, and what follows from each decision, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.labels import fact_sentence
from worlds.in_world_days import day_name

How = Contradiction.How


@dataclass(frozen=True)
class Option:
    """A decision, by its name in the form."""

    how: str
    label: str
    consequence: str


@dataclass(frozen=True)
class Case:
    """A contradiction with the decisions that are possible."""

    row: Contradiction
    options: list[Option]


def case_of(row: Contradiction, dates: dict[float, str]) -> Case:
    """Return `row` with its options. `dates` are the names of in-world days."""
    first = fact_sentence(row.first)
    if row.ended:
        options = _options_against_end(row, first, day_name(row.ended.until, dates))
    else:
        assert row.second is not None
        second = fact_sentence(row.second)
        options = [
            _keeping(How.KEEP_FIRST, first, second, row.first.since, dates),
            _keeping(How.KEEP_SECOND, second, first, row.second.since, dates),
            _both(),
            _retracting(How.RETRACT_FIRST, first),
            _retracting(How.RETRACT_SECOND, second),
        ]
    return Case(row, options)


def _keeping(
    how: How, kept: str, loser: str, since: float | None, dates: dict[float, str]
) -> Option:
    label = _("Keep “%(fact)s”") % {"fact": kept}
    if since is None:
        text = _("“%(fact)s” ends on the day that you give below.") % {"fact": loser}
    else:
        text = _(
            "“%(fact)s” ends on %(day)s, or on the day that you give below. If it began no "
            "earlier, it is retracted."
        ) % {"fact": loser, "day": day_name(since, dates)}
    return Option(how, label, text)


def _both() -> Option:
    text = _("Nothing changes, and these two are not reported again.")
    return Option(How.KEEP_BOTH, _("Keep both"), text)


def _retracting(how: How, fact: str) -> Option:
    text = _("It was never true. Facts that rest on it are flagged for review.")
    return Option(how, _("Retract “%(fact)s”") % {"fact": fact}, text)


def _options_against_end(row: Contradiction, fact: str, end: str) -> list[Option]:
    """The options for a fact about an entity after its end."""
    names = {"fact": fact, "name": row.ended, "day": end}
    return [
        Option(
            How.KEEP_FIRST,
            _("Keep “%(fact)s”") % names,
            _("%(name)s did not end on %(day)s: the end is removed.") % names,
        ),
        Option(
            How.KEEP_SECOND,
            _("%(name)s ended on %(day)s") % names,
            _(
                "“%(fact)s” ends then, or on the day that you give below. If it began later, it "
                "is retracted."
            )
            % names,
        ),
        _both(),
        _retracting(How.RETRACT_FIRST, fact),
    ]
