"""What the party may have learned of: people and entries that it did not know, and the secrets of
what the report names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from knowledge.models import Lore, LorePassage
from memory_site.session_reports.lexicon import ReportWords
from memory_site.session_reports.names import NamedSubject, ReportMentions
from memory_site.session_reports.proposal import ProposedReveal, RevealSubject
from memory_site.session_reports.sentences import Sentence
from npcs.models import NPC, Secret
from retrieval.text import WORD, without_fences, word_stem
from worlds.audiences import audience_of_party
from worlds.models import Party, World

MOST_REVEALS, MOST_CHOICES = 40, 8
LEAST_SHARED, LEAST_SHARE = 3, 0.34
"""Word stems that a secret shares with the report, and their share of the secret's, from which it
is likely the one that was learned."""
SURE_SHARE = 0.6
SHORTEST_WORD = 4


@dataclass(frozen=True)
class HiddenSecret:
    """A secret of a thing that the party does not know."""

    subject: RevealSubject
    stems: frozenset[str]


def proposed_reveals(
    sentences: Sequence[Sentence], mentions: ReportMentions, words: ReportWords, *, party: Party
) -> list[ProposedReveal]:
    """Return first who and what was unknown to the party, then the secrets. `sentences` are those
    that are not for game masters alone."""
    things = mentions.things()
    lines = list(first_met(mentions, party))
    secrets = read_secrets(party, things)
    for number, sentence in enumerate(sentences):
        near = sentences[max(0, number - 1) : number + 2]
        # The secrets of what the sentence names, else of what is named just before it.
        options = _secrets_in([sentence], mentions, secrets)
        options = options or _secrets_in(near[: near.index(sentence)], mentions, secrets)
        if options:
            stems = stems_of(" ".join(each.text for each in near))
            is_told = bool(words.of(sentence.text).learned.search(sentence.text))
            if line := _choice(sentence, options, stems, is_told=is_told):
                lines.append(line)
    return _best_of_each(lines)[:MOST_REVEALS]


def reveals_of_quotes(
    told: Sequence[tuple[NamedSubject, str]], mentions: ReportMentions, *, party: Party
) -> list[ProposedReveal]:
    """Return the choice of secrets for each thing of which a quote tells something."""
    secrets = read_secrets(party, mentions.things())
    lines = []
    for thing, quote in told:
        options = secrets.get(id(thing), [])
        sentence = Sentence(quote, 0, len(quote))
        line = _choice(sentence, options, stems_of(quote), is_told=True) if options else None
        lines += [line] if line else []
    return _best_of_each(lines)[:MOST_REVEALS]


def _secrets_in(
    sentences: Sequence[Sentence],
    mentions: ReportMentions,
    secrets: dict[int, list[HiddenSecret]],
) -> list[HiddenSecret]:
    named = [t for s in sentences for m in mentions.by_sentence.get(s.start, ()) for t in m.things]
    return [secret for thing in dict.fromkeys(named) for secret in secrets.get(id(thing), ())]


def _choice(
    sentence: Sentence, options: Sequence[HiddenSecret], stems: frozenset[str], *, is_told: bool
) -> ProposedReveal | None:
    """Return the secrets of which the sentence may tell, the most similar first; None if it says
    nothing of learning and resembles none."""

    def share(secret: HiddenSecret) -> float:
        return len(secret.stems & stems) / max(1, len(secret.stems))

    ranked = sorted(options, key=share, reverse=True)
    best = ranked[0]
    shared = len(best.stems & stems)
    is_likely = shared >= LEAST_SHARED and share(best) >= LEAST_SHARE
    if not (is_told or (is_likely and share(best) >= SURE_SHARE)):
        return None
    subjects = [secret.subject for secret in ranked[:MOST_CHOICES]]
    return ProposedReveal(candidates=subjects, likely=is_likely, quote=sentence.quote)


def _best_of_each(lines: Sequence[ProposedReveal]) -> list[ProposedReveal]:
    """Return one line for each secret that is likely, and one for each choice among the same."""
    best: dict[Any, ProposedReveal] = {}
    for line in lines:
        first = line.candidates[0]
        every = frozenset((each.ref, each.secret) for each in line.candidates)
        best.setdefault((first.ref, first.secret) if line.likely else every, line)
    return list(best.values())


def first_met(mentions: ReportMentions, party: Party) -> Iterator[ProposedReveal]:
    """Yield the people and entries that the report names for certain and the party does not know
    of yet."""
    first: dict[UUID, tuple[NamedSubject, Sentence]] = {}
    for each in mentions.mentions:
        if len(each.things) == 1 and not each.sentence.is_hidden:
            row = each.things[0].first
            first.setdefault(row.id, (each.things[0], each.sentence))
    audience = audience_of_party(party)
    for model, kind in ((NPC, "npc"), (Lore, "lore")):
        rows: Any = model._default_manager.filter(pk__in=list(first), world=party.world_id)
        known = set(rows.visible_to(audience).values_list("pk", flat=True))
        for pk in rows.values_list("pk", flat=True):
            if pk not in known:
                thing, sentence = first[pk]
                subject = {"kind": kind, "ref": thing.ref, "name": thing.name}
                yield ProposedReveal(
                    candidates=[RevealSubject.model_validate(subject)],
                    likely=True,
                    quote=sentence.quote,
                )


def read_secrets(party: Party, things: Sequence[NamedSubject]) -> dict[int, list[HiddenSecret]]:
    """Return the secrets of each thing (by its `id()`) that the party does not know: four
    queries."""
    found: dict[int, list[HiddenSecret]] = {}
    rows = {row.id: (thing, row) for thing in things for row in thing.rows}
    world: World = party.world
    audience = audience_of_party(party)
    secrets = Secret.objects.filter(npc__in=list(rows), npc__deleted_at=None)
    known = set(secrets.visible_to(audience).values_list("pk", flat=True))
    for secret in secrets.order_by("position"):
        if secret.pk not in known:
            thing, row = rows[secret.npc_id]
            found.setdefault(id(thing), []).append(
                _hidden("npc", row.slug, thing.name, secret.position, secret.text)
            )
    passages = LorePassage.objects.filter(lore__in=list(rows), secret=True, world=world)
    known = set(passages.visible_to(audience).values_list("pk", flat=True))
    counts: dict[UUID, int] = {}
    ordered = passages.filter(lore__campaign=None).order_by("lore_id", "position")
    for pk, lore, text in ordered.values_list("pk", "lore_id", "text"):
        # Secrets are numbered by their order, known ones included, as an engine names them.
        counts[lore] = counts.get(lore, 0) + 1
        if pk not in known:
            thing, row = rows[lore]
            found.setdefault(id(thing), []).append(
                _hidden("lore", row.slug, thing.name, counts[lore], without_fences(text))
            )
    return found


def _hidden(kind: str, ref: str, name: str, number: int, text: str) -> HiddenSecret:
    fields = {"kind": kind, "ref": ref, "name": name, "secret": number, "text": text[:400]}
    return HiddenSecret(RevealSubject.model_validate(fields), stems_of(text))


def stems_of(text: str) -> frozenset[str]:
    """The stems of its words of four letters or more (of two, in Hangul)."""
    words = (match.group().casefold() for match in WORD.finditer(text))
    return frozenset(
        word_stem(word) for word in words if len(word) >= SHORTEST_WORD or _is_dense(word)
    )


def _is_dense(word: str) -> bool:
    return len(word) >= 2 and "가" <= word[0] <= "힣"
