"""`manage.py ask "…"`: search rules and lore in the terminal."""

import textwrap
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.presenters import HitOut, SearchAnswer
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.tools import lore_search, rules_lookup
from retrieval.errors import Problem
from worlds.callers import Caller
from worlds.lookup import find_world

WIDTH, LINES = 100, 8


class Command(BaseCommand):
    help = "Ask the rules and the lore of a world."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--world", help="Slug; default: the first world.")
        parser.add_argument(
            "--as",
            dest="audience",
            default="gm",
            help="gm, party:<id>, character:<id>, npc:<id> or public.",
        )
        parser.add_argument("--in", dest="domain", choices=["rules", "lore"], help="Only there.")
        parser.add_argument("-k", type=int, default=3, help="Hits of each kind.")
        parser.add_argument("--expand", action="store_true", help="Also lore one graph step away.")
        parser.add_argument("--explain", action="store_true", help="Print how each hit was found.")

    def handle(self, *_args: Any, question: str, domain: str | None, **options: Any) -> None:
        try:
            caller = Caller.gm(find_world(options["world"])).as_audience(options["audience"])
            explain = options["explain"] and caller.audience.is_gm
            shared: dict[str, Any] = {"k": options["k"], "explain": explain, "rerank": "fast"}
            if domain != "lore":
                rules = rules_lookup(RulesQuestion(term=question, **shared), caller)
                self._print(_("Rules"), rules)
            if domain != "rules":
                query = LoreQuestion(query=question, expand=options["expand"], **shared)
                heading = _("Lore of %(world)s") % {"world": caller.world}
                self._print(heading, lore_search(query, caller))
        except (Problem, ValueError) as problem:
            raise CommandError(str(problem)) from problem

    def _print(self, heading: str, answer: SearchAnswer) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(heading))
        if not answer.hits:
            self.stdout.write("  " + _("Nothing was found."))
        for number, hit in enumerate(answer.hits, 1):
            self._print_hit(number, hit)
        if answer.degraded:
            missing = _("Unavailable: %(legs)s") % {"legs": ", ".join(answer.degraded)}
            self.stdout.write("  " + self.style.WARNING(missing))
        if answer.explain:
            fields = answer.explain.model_dump(exclude_defaults=True, exclude={"near_misses"})
            explanation = ", ".join(f"{name}: {value}" for name, value in fields.items())
            self.stdout.write(f"  {explanation}")
        self.stdout.write("")

    def _print_hit(self, number: int, hit: HitOut) -> None:
        self.stdout.write(f"  {number}. {self.style.SUCCESS(hit.title)}  {hit.id}")
        source = (hit.source.document, hit.source.edition, hit.source.licence)
        scored_legs = [(name, leg) for name, leg in hit.legs.items() if leg.score is not None]
        legs = [f"{name} #{leg.rank or '–'} ({leg.score:.3f})" for name, leg in scored_legs]
        scores = " · ".join([f"{_('score')} {hit.score:.3f}", hit.match, *legs])
        about = (" › ".join(hit.headings), ", ".join(filter(None, source)), scores)
        text = textwrap.wrap(" ".join(hit.text.split()), WIDTH - 5)
        more = ["…"] if len(text) > LINES else []
        for line in [*filter(None, about), *text[:LINES], *more]:
            self.stdout.write(f"     {line}")
