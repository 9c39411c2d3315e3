"""Changes of mind: sentences that name a person and tell what they think now, or what the party
did to them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_site.session_reports.lexicon import AttitudeCue, ReportWords
from memory_site.session_reports.names import NamedSubject, ReportMentions
from memory_site.session_reports.people import candidate
from memory_site.session_reports.proposal import ProposedChange
from memory_site.session_reports.sentences import Sentence
from retrieval.text import KnownName, NameIndex

MOST_CHANGES = 40
ROLL = re.compile(r"\([^()]*\d[^()]*\)")
"""What the dice said: `(intimidation +1)` tells nobody's mind."""
CLAUSE_END = re.compile(r"[,;:.!?—–]")


@dataclass(frozen=True)
class CuedSentence:
    """A sentence with the cue that it holds, which begins at `place`; `sign` -1: a negation turns
    it round."""

    sentence: Sentence
    cue: AttitudeCue
    sign: int
    place: int


def proposed_changes(
    sentences: Sequence[Sentence],
    mentions: ReportMentions,
    words: ReportWords,
    *,
    members: Sequence[str],
) -> list[ProposedChange]:
    """Return one change for each person and axis: of several sentences the strongest."""
    party = NameIndex(KnownName(name, name) for name in members)
    best: dict[tuple[frozenset[int], str], ProposedChange] = {}
    before: Sentence | None = None
    for sentence in sentences:
        for cued in cues_in(sentence, words):
            people = owners_of_attitude(sentence, before, mentions, words, party=party)
            # Only an NPC has a mind that is kept; others are people of the lore.
            if not any(person.row("npc") for person in people):
                continue
            if cued.cue.deed and is_doer_named(cued, mentions, words, party=party):
                continue
            change = ProposedChange(
                candidates=[candidate(person) for person in people if person.row("npc")],
                certain=len(people) == 1,
                axis=cued.cue.axis,
                delta=cued.sign * cued.cue.delta,
                reason=sentence.quote,
                quote=sentence.quote,
            )
            key = frozenset(map(id, people)), change.axis
            if key not in best or abs(change.delta) > abs(best[key].delta):
                best[key] = change
        if mentions.people_in(sentence) or not words.of(sentence.text).pronoun.search(
            sentence.text
        ):
            before = sentence
    return list(best.values())[:MOST_CHANGES]


def cues_in(sentence: Sentence, words: ReportWords) -> Iterator[CuedSentence]:
    """Yield the first cue that counts in the sentence."""
    own = words.of(sentence.text)
    text = ROLL.sub(lambda roll: " " * len(roll[0]), sentence.text)
    for cue in own.attitudes:
        for found in cue.pattern.finditer(text):
            if cue.deed and own.reported.search(text[found.end() :]):
                continue
            if own.negation_follows:
                is_negated = bool(own.negation.search(text[found.end() :][:20]))
            else:
                is_negated = bool(own.negation.search(text[: found.start()][-40:]))
            if not is_negated or cue.flips:
                yield CuedSentence(sentence, cue, -1 if is_negated else 1, found.start())
                return


def is_doer_named(
    cued: CuedSentence, mentions: ReportMentions, words: ReportWords, *, party: NameIndex
) -> bool:
    """Whether the clause names the person as who does it: `Jory lied to the guild`."""
    sentence = cued.sentence
    own = words.of(sentence.text)
    for mention in mentions.by_sentence.get(sentence.start, ()):
        between = sentence.text[mention.end - sentence.start : cued.place]
        if not mention.is_of_person or mention.end - sentence.start > cued.place:
            continue
        if CLAUSE_END.search(between) or party.mentions(between, typos=False):
            continue
        acts = own.met_follows.match(sentence.text, mention.end - sentence.start)
        is_subject = bool(acts) if own.negation_follows else not mention.is_inflected
        if is_subject and not own.party.search(between):
            return True
    return False


def owners_of_attitude(
    sentence: Sentence,
    before: Sentence | None,
    mentions: ReportMentions,
    words: ReportWords,
    *,
    party: NameIndex,
) -> list[NamedSubject]:
    """Return the person of the sentence, or those among whom to choose. With two of them it has to
    speak of the party, too; a pronoun at its beginning is who the sentence before names."""
    people, own = mentions.people_in(sentence), words.of(sentence.text)
    if not people and before and own.pronoun.search(sentence.text):
        people = mentions.people_in(before)
        if len(people) != 1:
            return []
    if len(people) > 1 and not (
        own.party.search(sentence.text) or party.mentions(sentence.text, typos=False)
    ):
        return []
    return list(dict.fromkeys(thing for each in people for thing in each))
