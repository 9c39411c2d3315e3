"""Reports of sessions, read by rules: `python -m bench.session_reports [--misses]`.

`bench/data/session_reports.jsonl` holds 20 reports over the demo world in English, Russian and
Korean, written and labelled by somebody who had not seen the rules. Counts, over all reports: which
of the named people and places are recognised, and how many of the people that a review page ticks
beforehand are named at all; further which changes of mind, loose ends and new names are offered. At
the end it checks that reading has recorded nothing.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.scratch import connect

SET = Path(__file__).parent / "data" / "session_reports.jsonl"
LEAST_OVERLAP = 0.5
"""Share of the words of a labelled quote that a line has to hold to count as the same."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="Name what was not recognised.")
    options = parser.parse_args()
    connect("memory37_session_reports")
    from memory_site.demo.load import load_demo

    load_demo()
    reports = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    before, counts = rows_of_world(), {language: Counter[str]() for language in ("en", "ru", "ko")}
    for report in reports:
        counts[report["language"]] += measure(report, show_misses=options.misses)
    for language, count in (*counts.items(), ("all", sum(counts.values(), Counter()))):
        print_counts(language, count)
    print("rows recorded by reading:", rows_of_world() - before)


def measure(report: dict[str, Any], *, show_misses: bool) -> Counter[str]:
    from memory_site.session_pages.episode_lines import lines_of_proposal
    from memory_site.session_reports.propose import Report, propose_by_rules
    from worlds.models import Party

    slug = "gilded-oath" if "Gilded Oath" in report["factions"] else "lanternbearers"
    party = Party.objects.select_related("world", "campaign").get(
        slug=slug, world__slug="ferrymark"
    )
    start = time.perf_counter()
    proposal = propose_by_rules(Report(party, report["text"]))
    count = Counter[str](milliseconds=int(1000 * (time.perf_counter() - start)), reports=1)
    for name, lines in (("npcs", proposal.people), ("places", proposal.places)):
        offered = {each.name for line in lines for each in line.candidates}
        certain = {line.candidates[0].name for line in lines if len(line.candidates) == 1}
        wanted = set(report[name])
        count[name] += len(wanted)
        count[f"{name} recognised"] += len(wanted & offered)
        count[f"{name} certain"] += len(wanted & certain)
        if show_misses and wanted - offered:
            print(report["id"], name, "missed:", sorted(wanted - offered))
        if show_misses and certain - wanted:
            print(report["id"], name, "not labelled:", sorted(certain - wanted))
    ticked = [line for line in lines_of_proposal(proposal)["people"] if line.accepted]
    count["ticked"] += len(ticked)
    wrong = [line.choices[0][1] for line in ticked if line.choices[0][1] not in report["npcs"]]
    count["ticked, not labelled"] += len(wrong)
    count["changes"] += len(report["attitudes"])
    for label in report["attitudes"]:
        sign = 1 if label["direction"] == "warmer" else -1
        count["changes offered"] += any(
            any(each.name == label["npc"] for each in change.candidates)
            and (change.delta > 0) == (sign > 0)
            for change in proposal.changes
        )
    count["change lines"] += len(proposal.changes)
    texts = [each.text for each in proposal.loose_ends]
    count["loose ends"] += len(report["loose_ends"])
    count["loose ends offered"] += sum(
        any(overlap(label["quote"], text) >= LEAST_OVERLAP for text in texts)
        for label in report["loose_ends"]
    )
    count["loose end lines"] += len(texts)
    words = {word for name in report["new_names"] for word in name.split()}
    count["new name lines"] += len(proposal.new_names)
    count["new name lines right"] += sum(name in words for name in proposal.new_names)
    count["dates"] += report["in_world_date"] is not None
    count["dates found"] += any(
        date.in_world_label.startswith(report["in_world_date"] or "?") for date in proposal.dates
    )
    return count


def overlap(quote: str, text: str) -> float:
    from retrieval.text import WORD_OR_NUMBER

    words = set(WORD_OR_NUMBER.findall(quote.casefold()))
    return len(words & set(WORD_OR_NUMBER.findall(text.casefold()))) / max(1, len(words))


def rows_of_world() -> int:
    """How many rows there are of everything that an episode writes."""
    from episodes.models import Episode
    from episodes.report_models import LooseEnd, SessionReport
    from knowledge.graph.models import GraphEdge
    from npcs.models import Appearance, DispositionChange
    from worlds.models import Reveal

    models = (Episode, LooseEnd, SessionReport, GraphEdge, Appearance, DispositionChange, Reveal)
    return sum(model._default_manager.count() for model in models)


def print_counts(language: str, count: Counter[str]) -> None:
    def share(part: str, whole: str) -> str:
        return f"{count[part]}/{count[whole]} ({count[part] / max(1, count[whole]):.0%})"

    print(
        f"{language:4} people {share('npcs recognised', 'npcs')}, "
        f"certain {share('npcs certain', 'npcs')}; "
        f"places {share('places recognised', 'places')}; "
        f"ticked and not labelled {share('ticked, not labelled', 'ticked')}; "
        f"changes {share('changes offered', 'changes')} in {count['change lines']} lines; "
        f"loose ends {share('loose ends offered', 'loose ends')} in {count['loose end lines']}; "
        f"new names {share('new name lines right', 'new name lines')}; "
        f"dates {share('dates found', 'dates')}; "
        f"{count['milliseconds'] / max(1, count['reports']):.0f} ms"
    )


if __name__ == "__main__":
    main()
