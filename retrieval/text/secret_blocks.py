"""Secret blocks in Markdown: `:::secret [party:<slug> …]` up to the closing `:::`. Besides
parties, `character:<slug>` and `npc:<slug>` are audiences.

If the end of a secret is ambiguous, the later one counts: showing too little is the smaller fault.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from retrieval.text.words import guess_language

# A run of colons matches from its first one only: to try each would take quadratic time.
_OPENING = re.compile(r"(?<!:):::+[ \t]*secret\b", re.IGNORECASE)
_FENCE = re.compile(
    r"(?P<opens>^[> \t]*:::+[ \t]*\w|:::+[ \t]*secret\b)|(?P<closes>:::+)",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[> \t]*:::.*$", re.MULTILINE)
_CLOSING = re.compile(r"(?<!:):::+\s*\Z")
_AUDIENCE = re.compile(r"[ \t]*((?:party|character|npc):[^\s:]+)", re.IGNORECASE)

DEEPEST_SECRET = 8
"""How many secrets may lie inside each other."""

_BLOCK_NAME = re.compile(r"[> \t]*:::+[ \t]*(?P<name>\w*)(?P<after>(?!:::)\S)?")
_SLIP = re.compile(r"[> \t]*(?:(?:::[ \t]*|:)(?P<name>\w+)|(?P<wide>[:：]*：[:：]*)[ \t]*(?:\w|$))")
SECRET_WORDS = ("secret", "секрет", "тайна", "비밀", "hidden", "gm")
SAME_WORD = 75
"""From this similarity (0–100) on, a word is taken for a misspelt `secret`."""

JOINED_AUDIENCES = "&"
MOST_PAIRS = 100_000
"""Of the names of one secret and those of the secret around it."""

Flaw = Literal["", "misspelt", "unknown_block", "not_closed", "not_opened", "too_deep"]


class SecretBlock(NamedTuple):
    """A secret block taken apart; `head + body + tail` is its source. No audience: the GM alone."""

    head: str
    audiences: tuple[str, ...]
    body: str
    tail: str


class Fence(NamedTuple):
    """A fence of a text. `source` is its line; `rest` is what follows the audiences there."""

    line: int
    source: str
    flaw: Flaw
    audiences: tuple[str, ...] = ()
    rest: str = ""


def split_secrets(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (part, is_secret) in order, none of them empty. Joined, the parts give `text`."""
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        if start > at:
            yield text[at:start], False
        at = _end_of_secret(text, opening.end())
        yield text[start:at], True
    if text[at:]:
        yield text[at:], False


class CutText(NamedTuple):
    """A text whose secrets are cut out. `secrets` are their sources, each with its place in
    `open_text`."""

    open_text: str
    secrets: list[tuple[int, str]]


def cut_out_secrets(text: str) -> CutText:
    """Return the open text as its author would have written it without the secrets: where one
    stood, no more blank lines or spaces are left than the text around it has. Whoever may not know
    the secret would see its place otherwise, and passages would end there."""
    shown: list[str] = []
    secrets: list[tuple[int, str]] = []
    length, space, is_cut = 0, "", False
    for part, is_secret in split_secrets(text):
        if is_secret:
            secrets.append((length, part))
            is_cut = True
            continue
        words = part.strip()
        lead = part[: len(part) - len(part.lstrip())]
        gap = _gap_around(space, lead) if is_cut and shown else "" if is_cut else lead
        if words:
            shown.append(gap + words)
            length += len(shown[-1])
            gap = part[len(lead) + len(words) :]
        space, is_cut = gap, False
    return CutText("".join(shown) + ("" if is_cut or not shown else space), secrets)


def _gap_around(before: str, after: str) -> str:
    """Return the white space between the words on both sides of a secret."""
    newlines = max(before.count("\n"), after.count("\n"))
    if not newlines:
        return " " if before or after else ""
    indent = (after if "\n" in after else before).rpartition("\n")[2]
    return "\n" * newlines + indent


def without_secrets(text: str) -> str:
    """Return `text` without its secret blocks: what everyone may read who may read it at all."""
    return cut_out_secrets(text).open_text.strip()


def language_of_open_text(title: str, body: str) -> str:
    """Guess the language of an entry from what everyone may read of it: a secret in another
    language must not be told by it."""
    return guess_language(f"{title} {without_secrets(body)}")


def without_fences(text: str) -> str:
    """Return `text` with secrets in the open: only the lines of the fences are left out."""
    return _FENCE_LINE.sub("", text)


def parse_secret(raw: str) -> SecretBlock:
    """Take apart a part that `split_secrets` calls secret. Audiences are in lower case."""
    opening = _OPENING.match(raw)
    audiences, start = _read_audiences(raw, opening.end() if opening else 0)
    closing = _CLOSING.search(raw, start)
    end = closing.start() if closing else len(raw)
    return SecretBlock(raw[:start], audiences, raw[start:end], raw[end:])


def _read_audiences(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the audiences that follow `at`, in lower case, and where they end."""
    audiences: list[str] = []
    while audience := _AUDIENCE.match(text, at):
        audiences.append(audience[1].lower())
        at = audience.end()
    return tuple(dict.fromkeys(audiences)), at


def _end_of_secret(text: str, at: int) -> int:
    """Return the end of the block opened before `at`, nested blocks counted; or of the text."""
    depth = 1
    for fence in _FENCE.finditer(text, at):
        depth += 1 if fence["opens"] else -1
        if depth == 0:
            return fence.end()
    return len(text)


def names_in_both(one: Iterable[str], other: Iterable[str]) -> list[str]:
    """Return the `known_to` of what only those know who know a row with `one` and one with `other`.

    Besides the common names, a character of one and a party of the other are a name together:
    `character:mira&party:gulls` are for Mira as long as she is a member of the Gulls. Of more than
    100,000 pairs nobody is named, so that the game master alone knows it.
    """
    one, other = set(one), set(other)
    if len(one) * len(other) > MOST_PAIRS:
        return []
    rights = [set(name.split(JOINED_AUDIENCES)) for name in other]
    both = {
        JOINED_AUDIENCES.join(sorted({*name.split(JOINED_AUDIENCES), *right}))
        for name in one
        for right in rights
    }
    return sorted(_least(name for name in both if _is_somebody(name)))


def _is_somebody(name: str) -> bool:
    kinds = sorted(each.partition(":")[0] for each in name.split(JOINED_AUDIENCES))
    return len(kinds) == 1 or kinds == ["character", "party"]


def _least(names: Iterable[str]) -> Iterator[str]:
    known = set(names)
    return (
        name
        for name in known
        if JOINED_AUDIENCES not in name or not known & set(name.split(JOINED_AUDIENCES))
    )


def shown_names(known_to: Iterable[str]) -> list[str]:
    """Return `known_to` as people and programs read it: of a character and a party the character,
    who alone knows it."""
    return sorted({name.partition(JOINED_AUDIENCES)[0] for name in known_to})


def read_fences(text: str) -> list[Fence]:
    """Return the opening fences of `text` and every line that looks like a fence and is none, in
    order. Takes linear time for any text."""
    lines = text.split("\n")
    fences: list[Fence] = []
    open_fences: list[int | None] = []  # the number of a secret in `fences`, None for another block
    line, counted = 1, 0
    for match in _FENCE.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match["opens"] is None:
            if open_fences:
                open_fences.pop()
            elif lines[line - 1].lstrip("> \t").startswith(":::"):
                fences.append(Fence(line, lines[line - 1].strip(), "not_opened"))
            continue
        fence = _read_opening(text, match.start(), line=line, source=lines[line - 1].strip())
        if not fence.flaw and len(open_fences) >= DEEPEST_SECRET:
            fence = fence._replace(flaw="too_deep")
        # A block that is no secret ends at a `:::` as well, so that this one is not reported, too.
        open_fences.append(None if fence.flaw else len(fences))
        fences.append(fence)
    for number in open_fences:
        if number is not None:
            fences[number] = fences[number]._replace(flaw="not_closed")
    return sorted([*fences, *_slips(lines)], key=lambda fence: fence.line)


def _read_opening(text: str, at: int, *, line: int, source: str) -> Fence:
    block = _BLOCK_NAME.match(text, at)
    assert block
    if block["name"].lower() != "secret" or block["after"]:
        flaw: Flaw = "misspelt" if _is_like_secret(block["name"]) else "unknown_block"
        return Fence(line, source, flaw)
    end = text.find("\n", at)
    audiences, start = _read_audiences(text, block.end())
    return Fence(line, source, "", audiences, text[start : end if end >= 0 else None].strip())


def _slips(lines: list[str]) -> Iterator[Fence]:
    """Yield the lines that open a secret with too few colons, or have colons of full width, which
    Korean and Chinese keyboards type."""
    for number, line in enumerate(lines, start=1):
        slip = _SLIP.match(line)
        if slip and (len(slip["wide"] or "") > 1 or _is_like_secret(slip["name"] or "")):
            yield Fence(number, line.strip(), "misspelt")


def _is_like_secret(word: str) -> bool:
    return any(fuzz.ratio(word.lower(), known) >= SAME_WORD for known in SECRET_WORDS)
