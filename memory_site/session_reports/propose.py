"""Propose an episode from a report by rules and the names of the world; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.utils.translation import gettext as _

from episodes.summarize import SourcedSentence, select_sentences
from memory_site.session_reports.attitudes import proposed_changes
from memory_site.session_reports.dates import dates_of_world
from memory_site.session_reports.facts import proposed_facts
from memory_site.session_reports.hidden_sentences import with_hidden
from memory_site.session_reports.learned import first_met, proposed_reveals
from memory_site.session_reports.lexicon import ReportWords
from memory_site.session_reports.names import ReportMentions, ThingIndex, read_things
from memory_site.session_reports.people import (
    main_place,
    misspelt_people,
    named_things,
    new_names,
    players_in,
)
from memory_site.session_reports.proposal import Proposal, ProposedLooseEnd
from memory_site.session_reports.sentences import (
    LONGEST_REPORT,
    Sentence,
    clean_report,
    sentences_of,
    windows_of,
)
from retrieval.errors import Invalid
from retrieval.text import guess_language
from worlds.models import Party

WHOLE_TEXT = 2_500
"""Characters up to which the summary is the report itself."""
SUMMARY_SENTENCES = 14
PER_WINDOW = 6
MOST_LOOSE_ENDS = 12
LONGEST_LOOSE_END = 400


@dataclass
class Report:
    """A report that is being read: its sentences and what they name. The notes from play are a part
    of it that is for game masters alone."""

    party: Party
    raw: str
    notes: Sequence[str] = ()
    text: str = field(init=False)
    notes_from: int = field(init=False)
    """Where the notes begin in `text`."""
    sentences: list[Sentence] = field(init=False)

    def __post_init__(self) -> None:
        told = clean_report(self.raw)
        self.notes_from = len(told)
        self.text = clean_report("\n\n".join([told, *self.notes]))
        require_report(self.text)
        members = [str(name) for name in self.party.members]
        sentences = sentences_of(self.text)
        self.sentences = with_hidden(
            sentences, self.text, self.words, members=members, hidden_from=self.notes_from
        )

    @cached_property
    def language(self) -> str:
        return guess_language(self.text)

    @property
    def words(self) -> ReportWords:
        return ReportWords(self.language)

    @cached_property
    def index(self) -> ThingIndex:
        things = read_things(self.party.world, self.text, campaign=self.party.campaign)
        return ThingIndex(things)

    @cached_property
    def mentions(self) -> ReportMentions:
        return self.index.mentions(self.text, self.sentences)

    @cached_property
    def open_sentences(self) -> list[Sentence]:
        """Those that are not for game masters alone."""
        return [each for each in self.sentences if not each.is_hidden]


def require_report(text: str) -> None:
    """Raise `Invalid` for a text that is empty or too long."""
    if not text:
        raise Invalid(_("Write what happened first: the text is empty."))
    if len(text) > LONGEST_REPORT:
        raise Invalid(
            _(
                "The text has %(count)s characters; %(most)s is the most. Cut it into two "
                "parts and make an episode of each."
            )
            % {"count": f"{len(text):,}", "most": f"{LONGEST_REPORT:,}"}
        )


def propose_by_rules(report: Report) -> Proposal:
    """Raises `Invalid` for an empty or too long text."""
    party, words, mentions = report.party, report.words, report.mentions
    sentences, members = report.sentences, [str(name) for name in party.members]
    every = Party.objects.filter(world=party.world).values_list("members", flat=True)
    heroes = {str(name) for names in every for name in names}
    dates, months = dates_of_world(party.world, sentences, report.language)
    known = [*members, party.name, party.world.name, *months]
    unknown = new_names(sentences, mentions, words, known=known)
    misspelt = misspelt_people(unknown, sentences, report.index)
    doubtful = {each.text for each in misspelt}
    hidden = [each for each in sentences if each.is_hidden]
    return Proposal(
        language=report.language,
        summary=summarize(report),
        notes="\n".join(each.plain for each in hidden),
        players=players_in(members, sentences, words),
        people=[*named_things(mentions, "person", words, without=heroes), *misspelt],
        places=named_things(mentions, "place", words),
        where=main_place(mentions),
        dates=dates,
        changes=proposed_changes(sentences, mentions, words, members=members),
        reveals=proposed_reveals(report.open_sentences, mentions, words, party=party),
        facts=proposed_facts(party.world, sentences, mentions, words),
        loose_ends=loose_ends_in(sentences, words),
        new_names=[name for name in unknown if name not in doubtful],
    )


def names_unknown_to(party: Party, text: str) -> list[str]:
    """Return the people and entries that a text names and the party does not know of."""
    mentions = Report(party, text[:LONGEST_REPORT]).mentions
    return [line.candidates[0].name for line in first_met(mentions, party)]


def summarize(report: Report) -> str:
    """Return a short report as it is, without what is for game masters alone; of a long one its
    most informative sentences."""
    sentences = report.open_sentences
    if len(report.text) <= WHOLE_TEXT:
        return join_sentences(report.text, sentences)
    material: list[SourcedSentence] = []
    for window in windows_of(sentences):
        candidates = [SourcedSentence(each.plain, (each.start,)) for each in window if each.plain]
        material += select_sentences(candidates, PER_WINDOW)
    return " ".join(each.text for each in select_sentences(material, SUMMARY_SENTENCES))


def join_sentences(text: str, sentences: Sequence[Sentence]) -> str:
    """Return the sentences with the paragraphs of the text."""
    parts: list[str] = []
    end = 0
    for each in sentences:
        if parts:
            parts.append("\n\n" if "\n" in text[end : each.start] else " ")
        parts.append(each.text)
        end = each.end
    return "".join(parts)


def loose_ends_in(sentences: Sequence[Sentence], words: ReportWords) -> list[ProposedLooseEnd]:
    """Return the sentences that leave something open: of many the last, in which a session ends."""
    found = [each for each in sentences if words.of(each.text).open.search(each.text)]
    texts = dict.fromkeys(each.plain[:LONGEST_LOOSE_END] for each in found[-MOST_LOOSE_ENDS:])
    return [ProposedLooseEnd(text=text, quote=text) for text in texts if text]
