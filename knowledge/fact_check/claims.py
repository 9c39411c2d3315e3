"""Parse a plain sentence into claims about entities: `Mira is allied with the Ferrymen's Guild`.

A sentence has to match a pattern as a whole. Everything else becomes an `UnparsedClaim` with the
reason.
"""

import re
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from knowledge.fact_check.durations import Duration, is_of_event, strip_duration
from knowledge.fact_check.event_claims import named_event
from knowledge.fact_check.lexicon import ClaimKind, Lexicon, claim_kinds, language_of, lexicon
from knowledge.fact_check.name_slots import described_mentions, joined_mentions, with_slots
from knowledge.fact_check.name_states import NameState, read_state
from knowledge.fact_check.role_parser import (
    Aspect,
    aspect_of,
    is_headship,
    read_headship,
    read_roles,
    read_succession,
)
from knowledge.fact_check.seniority import SIBLINGS, Seniority, said_seniority
from knowledge.fact_check.statement_parts import (
    SPACES,
    ClaimDate,
    Tense,
    strip_amount,
    strip_date,
    strip_negation,
    strip_tense,
    without,
    without_titles,
)
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import NameMention, fold_name, name_words

MAX_NAMES = 10
MAX_CLAUSES = 3
MUTUAL = frozenset(
    (
        "allied",
        "enemy",
        "knows",
        "married",
        "siblings",
        "cousin",
        "betrothed",
        "divorced",
        "relatives",
    )
)
"""Claims of which the order of the names says nothing."""
PRESENT = re.compile(r"\b(?:is|are|has|have|still|все еще|до сих пор|여전히|아직)\b")
SLOT = re.compile(r"(?<!\S)M\d\S*")


@dataclass(frozen=True)
class Claim:
    """`a` has to `b` the relation of one of `kinds`, or one that the sentence's own words
    (`label`) describe."""

    a: GraphNode
    b: GraphNode | None
    kinds: tuple[ClaimKind, ...] = ()
    label: str = ""
    is_negated: bool = False
    tense: Tense = Tense.PRESENT
    date: ClaimDate | None = None
    led: str = ""
    """Which word the name has that `a` leads, if `b` is not said."""
    is_now: bool = True
    """Whether its words say that it holds at present: `sailed with` does not, `is mate of` does."""
    says_more: bool = False
    """Where in a place, too: if the claim is true, the statement may not be."""
    is_passive: bool = False
    """Whether `b` may be the one who does what `label` says."""
    state: NameState | None = None
    """What is said of `a` alone."""
    is_of_any: bool = False
    """Whether one of the two is not a certain one: that there is another one refutes nothing."""
    amount: int | None = None
    """How much is owed, if it is said."""
    seniority: Seniority | None = None
    """Which of two siblings `a` is, if it is said."""
    duration: Duration | None = None
    """How long it lasted or has lasted, if it is said."""

    @property
    def is_past(self) -> bool:
        return self.tense != Tense.PRESENT


@dataclass(frozen=True)
class UnparsedClaim:
    """Why a sentence was not understood, and which names it may have meant."""

    reason: str
    candidates: tuple[str, ...] = ()
    is_model_down: bool = False


def parse_claim(sentence: str, linker: EntityLinker) -> Claim | UnparsedClaim:
    """Return the one claim of a sentence."""
    claims = parse_claims(sentence, linker)
    if isinstance(claims, UnparsedClaim) or len(claims) == 1:
        return claims if isinstance(claims, UnparsedClaim) else claims[0]
    return not_understood()


def parse_claims(sentence: str, linker: EntityLinker) -> list[Claim] | UnparsedClaim:
    """Return the claims of a sentence: one, or one for each name of `the son of Ada and Ben`."""
    return parse_mentions(sentence, joined_mentions(sentence, linker)[:MAX_NAMES], linker)


def parse_mentions(
    sentence: str, mentions: list[NameMention], linker: EntityLinker
) -> list[Claim] | UnparsedClaim:
    """Return the claims of a sentence that has these names."""
    language = lexicon(language_of(sentence))
    if unclear := next((mention for mention in mentions if mention.ambiguous), None):
        if claim := _match_event(sentence, linker, language):
            return [claim]
        candidates = tuple(match.name for match in unclear.matches[:5])
        reason = _("%(name)s can refer to several entities.") % {"name": f"“{unclear.text}”"}
        return UnparsedClaim(reason, candidates)
    if not mentions and not any(described_mentions(sentence, [], linker)):
        if claim := _match_event(sentence, linker, language):
            return [claim]
        reason = _("This statement contains no known name.")
        return UnparsedClaim(reason, tuple(linker.index.suggest(sentence)))
    nodes = [linker.node_of(mention) for mention in mentions]
    text = with_slots(sentence, mentions, nodes)
    if claim := match_patterns(text, nodes, language):
        return [claim]
    claims = [match_patterns(part, nodes, language) for part in _split_names(text, language)]
    if claims and all(claims):
        return [claim for claim in claims if claim]
    claim = (
        _match_described(sentence, mentions, linker, language)
        or _match_event(sentence, linker, language)
        or _match_succession(text, nodes, language)
        or _match_headship(sentence, mentions, linker, language)
        or _match_state(text, nodes, language)
    )
    parts = [claim] if claim else _match_clauses(text, nodes, language)
    claim = None if parts else _match_label(text, nodes, language)
    return parts or ([claim] if claim else not_understood())


def _match_clauses(text: str, nodes: list[GraphNode], language: Lexicon) -> list[Claim]:
    """Read `M0 leads M1 and lives in M2` as two claims, or none if a part is not understood."""
    parts = [part for part in language.clauses.split(text) if part]
    if not 1 < len(parts) <= MAX_CLAUSES:
        return []
    subject = SLOT.search(parts[0])
    claims = []
    for n, part in enumerate(parts):
        told = part if n == 0 or SLOT.match(part) or not subject else f"{subject[0]} {part}"
        told = language.pronouns.sub(subject[0], told, count=1) if subject and n else told
        claim = match_patterns(told, nodes, language) or _match_state(told, nodes, language)
        if claim is None and n == 0:
            return []
        if claim:
            claims.append(claim)
    # What is false in part is false; what is true in part may not be true.
    return claims if len(claims) == len(parts) else [replace(c, says_more=True) for c in claims]


def _match_state(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    """Read what is said of one name alone: `M0 was admiral`, `M0 has no brother`."""
    slots = SLOT.findall(text)
    if len(slots) != 1:
        return None
    node = nodes[int(slots[0][1])]
    text = SLOT.sub(lambda slot: "M0" + slot[0][2:], text)
    text, tense = strip_tense(text, language)
    text, date = strip_date(text, language)
    text, is_negated = strip_negation(text, language)
    state = None if date else read_state(text, node, language.language)
    if state is None:
        return None
    if tense in (Tense.NEVER, Tense.NO_LONGER):
        is_negated = False
    elif tense == Tense.PRESENT and language.past.search(text):
        tense = Tense.PAST
    return Claim(node, None, is_negated=is_negated != state.is_denied, tense=tense, state=state)


def _match_event(sentence: str, linker: EntityLinker, language: Lexicon) -> Claim | None:
    """Read `the pit collapsed in 533` as of the event with this name."""
    text = " ".join(word.norm for word in name_words(sentence))
    rest, date = strip_date(text, language)
    event = named_event(rest, linker) if date else None
    if event is None or date is None:
        return None
    return Claim(event, None, (claim_kinds()["happened"],), date=replace(date, role="during"))


def _match_succession(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    """Read `M0 was guildmaster before M1`."""
    pair = read_succession(text, language.language)
    if pair is None or any(nodes[n].kind != NodeKind.CHARACTER for n in pair):
        return None
    return Claim(nodes[pair[0]], nodes[pair[1]], (claim_kinds()["preceded"],))


def _match_headship(
    sentence: str, mentions: list[NameMention], linker: EntityLinker, language: Lexicon
) -> Claim | None:
    """Read `M0 is guildmaster`, without what is led."""
    mentions = [m for m in mentions if not is_headship(fold_name(m.text), language.language)]
    nodes = [linker.node_of(mention) for mention in mentions]
    text = with_slots(sentence, mentions, nodes)
    text, tense = strip_tense(text, language)
    text, date = strip_date(text, language)
    text, is_negated = strip_negation(language.titles.sub("", text), language)
    found = read_headship(text, language.language) if len(nodes) == 1 else None
    if found is None or nodes[0].kind != NodeKind.CHARACTER:
        return None
    aspect, of = found
    if tense == Tense.PRESENT and aspect == "states" and language.past.search(text):
        tense = Tense.PAST
    is_negated = is_negated and tense not in (Tense.NEVER, Tense.NO_LONGER)
    tense, date = _time_of(aspect, tense, date)
    kinds = (claim_kinds()["leads"],)
    return Claim(nodes[0], None, kinds, is_negated=is_negated, tense=tense, date=date, led=of)


def _match_described(
    sentence: str, mentions: list[NameMention], linker: EntityLinker, language: Lexicon
) -> Claim | None:
    """Read the sentence with `the queen` for the only queen."""
    for more in described_mentions(sentence, mentions, linker):
        nodes = [linker.node_of(mention) for mention in more]
        if claim := match_patterns(with_slots(sentence, more, nodes), nodes, language):
            return claim
    return None


def not_understood() -> UnparsedClaim:
    """Return the answer to a sentence that no pattern matches."""
    return UnparsedClaim(_("No such relation exists, or the statement contains an unknown name."))


def _split_names(text: str, language: Lexicon) -> list[str]:
    """Return `M0 is the son of M1 and M2` once with each of the two names."""
    match = language.conjunction.search(text)
    if match is None or "M2" not in text:
        return []
    ending = match.groupdict().get("ending") or ""
    names = (match["first"] + ending, match["second"] + ending)
    return [text[: match.start()] + name + text[match.end() :] for name in names]


def match_patterns(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    """Read a sentence without its titles; if it says nothing then, with those that are offices:
    `admiral` in `M0 is admiral M1` where M1 is a fleet."""
    plain, official = language.titles.sub("", text), without_titles(text, nodes, language)
    claim = _match_untitled(plain, nodes, language)
    return claim or (_match_untitled(official, nodes, language) if official != plain else None)


def _match_untitled(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    text, duration = strip_duration(text, language.language)
    text, tense = strip_tense(text, language)
    text, date = strip_date(text, language)
    text, is_negated = strip_negation(text, language)
    if tense in (Tense.NEVER, Tense.NO_LONGER):
        is_negated = False
    elif tense == Tense.PRESENT and language.past.search(text):
        tense = Tense.PAST
    text = without(text, language.ignorable)
    if duration and is_of_event(text, language.language) and nodes[0].kind == NodeKind.EVENT:
        kinds = (claim_kinds()["happened"],)
        return Claim(nodes[0], None, kinds, is_negated=is_negated, duration=duration)
    text, amount = strip_amount(text, language)
    claim = _match_kinds(text, nodes, language)
    if amount and (claim is None or claim.kinds[0].name not in ("owes", "creditor")):
        return None
    if claim and date and date.role == "during":
        tense, date = _time_of(aspect_of(text, claim.kinds[0].name, language.language), tense, date)
    if claim is None and (reading := read_roles(text, nodes, language.language)):
        kind = claim_kinds()[reading.claim]
        a, b = nodes[reading.a], nodes[reading.b]
        claim = Claim(a, b, (kind,), says_more=reading.says_more)
        tense, date = _time_of(reading.aspect, tense, date)
    if claim is None:
        return None
    is_of_siblings = any(kind.name in SIBLINGS for kind in claim.kinds)
    seniority = said_seniority(text) if is_of_siblings else None
    return replace(
        claim,
        is_negated=is_negated,
        tense=tense,
        date=date,
        seniority=seniority,
        amount=amount,
        duration=duration,
    )


def _time_of(
    aspect: Aspect, tense: Tense, date: ClaimDate | None
) -> tuple[Tense, ClaimDate | None]:
    """Return of which time `joined in 205` or `left` speaks."""
    if date and date.role == "during" and aspect != "states":
        date = replace(date, role="since" if aspect == "begins" else "until")
    elif aspect == "ends" and date is None and tense in (Tense.PRESENT, Tense.PAST):
        tense = Tense.NO_LONGER
    return tense, date


def _match_kinds(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    matches = {}  # a dict keeps the order of the patterns and drops repetitions
    for claim, pattern in language.patterns_for(text):
        if match := pattern.fullmatch(text):
            slots = {key: int(slot[1:]) for key, slot in match.groupdict().items() if slot}
            a, b = slots["a"], slots.get("b")
            kind = claim_kinds()[claim]
            if kind.allows(nodes[a].kind, None if b is None else nodes[b].kind):
                matches[claim, a, b] = kind
    pairs = list(dict.fromkeys((a, b) for _claim, a, b in matches))
    # Of a name that is not inflected, `M0 враждуют с M1` fits both orders, which say the same.
    if not pairs or (len(pairs) > 1 and not all(claim in MUTUAL for claim, _a, _b in matches)):
        return None
    a, b = pairs[0]
    matches = {key: kind for key, kind in matches.items() if key[1:] == (a, b)}
    second, kinds = None if b is None else nodes[b], tuple(matches.values())
    return Claim(nodes[a], second, kinds)


def _match_label(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    """Read `Heron Abbey is two hours on foot from Saltgate`: the words beside two names may be the
    label of a fact. Of one name only with a date: `M0 was built in 544`."""
    is_now = bool(PRESENT.search(text))
    text, tense = strip_tense(text, language)
    text, date = strip_date(text, language)
    text, is_negated = strip_negation(without_titles(text, nodes, language), language)
    is_negated = is_negated and tense not in (Tense.NEVER, Tense.NO_LONGER)
    slots = [int(slot[1]) for slot in _subject_first(SLOT.findall(text), language)]
    label = SPACES.sub(" ", SLOT.sub(" ", text)).strip()
    if (
        not label
        or len(slots) != len(set(slots))
        or len(slots) != (1 if date and len(nodes) == 1 else 2)
    ):
        return None
    between = re.fullmatch(r"M\d\S* (?:is |was |are |were )?([^M]+?) M\d\S*", text)
    return Claim(
        nodes[slots[0]],
        nodes[slots[1]] if len(slots) == 2 else None,
        label=between[1] if between else label,
        is_negated=is_negated,
        tense=tense,
        date=date,
        is_now=is_now,
        is_passive=bool(language.passive.search(text)),
    )


def _subject_first(slots: list[str], language: Lexicon) -> list[str]:
    """Return the slots with that of the subject first, where endings tell which one it is."""
    return sorted(slots, key=lambda slot: not language.subject.fullmatch(slot))
