"""`manage.py ask "…"`: what the rules and the lore say, in the terminal."""

import textwrap
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.answers import HitOut, SearchAnswer
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.tools import lore_search, rules_lookup
from retrieval.errors import Problem
from worlds.callers import Caller
from worlds.models import World

WIDTH, LINES = 100, 8


class Command(BaseCommand):
    help = "Ask the rules and the lore of a world."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--world", help="Slug; needed when there are several.")
        parser.add_argument(
            "--as", dest="audience", default="gm", help="gm, party:<id>, npc:<id> or public."
        )
        parser.add_argument(
            "--in", dest="domain", choices=["rules", "lore"], help="Ask only there."
        )
        parser.add_argument("-k", type=int, default=3, help="Hits of each kind.")
        parser.add_argument(
            "--expand",
            action="store_true",
            help="Also lore one step along the graph from what is named.",
        )
        parser.add_argument("--explain", action="store_true", help="Tell how each hit was found.")

    def handle(
        self, *_args: Any, question: str, domain: str | None, k: int, **options: Any
    ) -> None:
        try:
            caller = Caller.gm(world_called(options["world"])).as_audience(options["audience"])
            explain = options["explain"] and caller.audience.is_gm
            if domain != "lore":
                answer = rules_lookup(RulesQuestion(term=question, k=k, explain=explain), caller)
                self._tell(_("Rules"), answer, explain=explain)
            if domain != "rules":
                answer = lore_search(
                    LoreQuestion(query=question, k=k, explain=explain, expand=options["expand"]),
                    caller,
                )
                self._tell(
                    _("Lore of %(world)s") % {"world": caller.world}, answer, explain=explain
                )
        except (Problem, ValueError) as problem:
            raise CommandError(str(problem)) from problem

    def _tell(self, heading: str, answer: SearchAnswer, *, explain: bool) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(heading))
        if not answer.hits:
            self.stdout.write("  " + _("Nothing was found."))
        for number, hit in enumerate(answer.hits, 1):
            self._hit(number, hit)
        if answer.degraded:
            missing = _("Did not take part: %(legs)s") % {"legs": ", ".join(answer.degraded)}
            self.stdout.write("  " + self.style.WARNING(missing))
        if explain and answer.explain:
            told = answer.explain.model_dump(exclude_defaults=True, exclude={"near_misses"})
            self.stdout.write("  " + ", ".join(f"{name}: {value}" for name, value in told.items()))
        self.stdout.write("")

    def _hit(self, number: int, hit: HitOut) -> None:
        self.stdout.write(f"  {number}. {self.style.SUCCESS(hit.title)}  {hit.id}")
        where = " › ".join(hit.headings)
        source = ", ".join(
            filter(None, (hit.source.document, hit.source.edition, hit.source.licence))
        )
        for line in filter(None, (where, source, _legs(hit))):
            self.stdout.write(f"     {line}")
        shown = textwrap.wrap(" ".join(hit.text.split()), WIDTH - 5)
        more = ["…"] if len(shown) > LINES else []
        for line in [*shown[:LINES], *more]:
            self.stdout.write(f"     {line}")


def _legs(hit: HitOut) -> str:
    ranks = [
        f"{name} #{leg.rank or '–'} ({leg.score:.3f})"
        for name, leg in hit.legs.items()
        if leg.score is not None
    ]
    return f"{_('score')} {hit.score:.3f} · {hit.match}" + "".join(f" · {rank}" for rank in ranks)


def world_called(slug: str | None) -> World:
    worlds = World.objects.order_by("created_at")
    if slug:
        found = worlds.filter(slug=slug).first()
        if found is None:
            known = ", ".join(worlds.values_list("slug", flat=True)) or _("none")
            raise CommandError(
                _("There is no world %(slug)r. Known: %(known)s.") % {"slug": slug, "known": known}
            )
        return found
    first = worlds.first()
    if first is None:
        raise CommandError(_("There is no world yet: make demo, or add one in the admin."))
    return first
