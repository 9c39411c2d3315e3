"""`manage.py demo`: the rules and the demo world, so that there is something to ask about."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError, call_command
from django.utils.translation import gettext as _

from knowledge.models import Rule
from memory_site.demo.load import load_demo
from retrieval.errors import Problem


class Command(BaseCommand):
    help = "Load the System Reference Document and the demo world. What exists is not changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--again", action="store_true", help="Give the demo's entries their own text back."
        )
        parser.add_argument(
            "--no-rules", action="store_true", help="Leave out the System Reference Document."
        )

    def handle(self, *_args: Any, again: bool, no_rules: bool, **_options: Any) -> None:
        if not no_rules and (again or not Rule.objects.exists()):
            self._import_rules()
        counts = load_demo(again=again)
        summary = ", ".join(f"{count} {name}" for name, count in counts.items())
        summary = summary or _("already loaded")
        self.stdout.write("  " + _("Demo world: %(summary)s") % {"summary": summary})

    def _import_rules(self) -> None:
        """The demo world is useful without the rules, so a package index that cannot be reached
        does not stop it.
        """
        try:
            call_command("import_srd", stdout=self.stdout)
        except (CommandError, Problem) as problem:
            warning = _("The rules were not imported: %(reason)s") % {"reason": problem}
            self.stderr.write(self.style.WARNING(warning))
