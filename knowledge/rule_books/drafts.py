"""Drafts of an upload as rules of a game: long texts are cut by their headings, links and layout
that mean nothing outside of their tool become plain text. The same for every game."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import ImportProblem, LoreDraft
from knowledge.importers.run import ImportReading
from knowledge.markup_check import check_structure
from knowledge.models import Rule
from knowledge.rule_books.named_things import SectionThing, named_things
from knowledge.rule_books.unrelated_notes import is_about_files, is_history
from knowledge.schemas import LoreIn
from knowledge.srd.sections import split_by_heading
from retrieval.text import WORD, fold_name, language_of_open_text, replace_links, slugify

LONGEST_WHOLE = 3_000
"""Characters of a text that is one rule, whatever headings it has."""
LEAST_SECTION = 1_200
"""Characters: a shorter section stays one rule, with the headings in it."""
LONGEST_KEY, LONGEST_NAME, MOST_ALIASES = 120, 200, 50
Kind = Rule.Kind
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("condition", "состояние", "상태"), Kind.CONDITION),
    **dict.fromkeys(("spell", "cantrip", "power", "заклинание", "заклинания", "주문"), Kind.SPELL),
    **dict.fromkeys(
        (
            *("monster", "foe", "creature", "beast", "bestiary", "monstrosity"),
            *("чудовище", "чудовища", "монстр", "монстры", "бестиарий", "괴물", "몬스터"),
        ),
        Kind.MONSTER,
    ),
    **dict.fromkeys(("class", "класс", "직업", "클래스"), Kind.CLASS),
    **dict.fromkeys(("race", "ancestry", "kin", "species", "раса", "종족"), Kind.ANCESTRY),
    **dict.fromkeys(("background", "предыстория", "배경"), Kind.BACKGROUND),
    **dict.fromkeys(("feat", "talent", "черта", "재주"), Kind.FEAT),
    **dict.fromkeys(("equipment", "gear", "weapon", "armor", "снаряжение", "장비"), Kind.EQUIPMENT),
    **dict.fromkeys(("magic item", "relic", "artifact", "마법 물품"), Kind.MAGIC_ITEM),
    **dict.fromkeys(("skill", "навык", "기술"), Kind.SKILL),
    **dict.fromkeys(("rule", "collection", "chapter", "section"), Kind.SECTION),
}
"""What the word of a template or folder says about its rules, in the singular."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_TOP = re.compile(r"^#[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_EMBED = re.compile(r"!\[\[[^\[\]\n]{1,300}\]\]|!\[[^\[\]\n]{0,300}\]\([^()\s]{1,300}\)")
_ANCHOR = re.compile(r"\[([^\[\]\n]{1,300})\]\(#[^()\s]{0,300}\)")
_ANCHOR_LINE = re.compile(r"^[ \t]*\[[^\[\]\n]{1,300}\]\(#[^()\s]{0,300}\)[ \t]*$\n?", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^[ \t]*(?:- TOC[ \t]*|\{:[^{}\n]{0,200}\}[ \t]*)$\n?", re.MULTILINE)
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,20}(?:[ \t][^<>\n]{0,300})?/?>")
_CALLOUT = re.compile(r"^>[ \t]*\[![^\[\]\n]{1,80}\][-+]?[ \t]*(?P<title>.*)$")
_BLANK = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class RuleDraft:
    """A rule as its source has it. `path` is its id within the book, `where` its file."""

    path: str
    kind: Kind
    title: str
    body: str
    where: str
    breadcrumb: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    language: str = "en"
    is_private: bool = False
    data: dict[str, Any] = field(default_factory=dict)


def rules_of(reading: ImportReading) -> list[RuleDraft]:
    """Return the rules of an upload that was read without a mapping. A text with a broken fence is
    left out, and is one of the problems of the reading."""
    is_single = len(reading.drafts) == 1
    sections: list[tuple[RuleDraft, list[SectionThing]]] = []
    for draft in reading.drafts:
        if flaws := check_structure(draft.entry.body):
            reading.bundle.problems += [
                ImportProblem(draft.file, flaw.message, draft.body_line + flaw.line - 1)
                for flaw in flaws
            ]
            continue
        if not is_single and not draft.is_rule and is_about_files(draft):
            message = _("This is about the files of the book, no rule: it is left out.")
            reading.bundle.note(draft.file or draft.where, message)
            continue
        for rule in _rules_of_draft(draft, is_single=is_single):
            if any(map(is_history, (*rule.breadcrumb, rule.title))):
                continue
            # What comes from a format of rules has a rule for each thing already.
            sections.append((rule, [] if draft.is_rule else named_things(rule.body)))
    rules: dict[str, RuleDraft] = {}
    for rule in _with_things(sections):
        path = _free_path(rule.path, rules)
        rules[path] = replace(rule, path=path)
    return list(rules.values())


def _with_things(
    sections: Sequence[tuple[RuleDraft, Sequence[SectionThing]]],
) -> Iterator[RuleDraft]:
    """Yield each section, and after it the things in it, if it alone names most of them."""
    known = Counter(fold_name(section.title) for section, _things in sections)
    known.update(fold_name(thing.name) for _section, things in sections for thing in things)
    for section, things in sections:
        yield section
        own = [thing for thing in things if known[fold_name(thing.name)] == 1]
        # Names of which most stand elsewhere too, such as the levels in the table of each class,
        # are no names of things.
        if len(own) > len(things) / 2:
            yield from (_rule_of_thing(thing, section) for thing in things)


def _rule_of_thing(thing: SectionThing, section: RuleDraft) -> RuleDraft:
    """A thing inside a section as a rule of its own, so that its name finds it."""
    kind = _kind_in_title(section.title) or (Kind.MONSTER if thing.is_block else Kind.SECTION)
    return replace(
        section,
        path=f"{section.path}/{slugify(thing.name)}",
        kind=kind,
        title=thing.name,
        body=thing.text,
        breadcrumb=(*section.breadcrumb, section.title),
        aliases=(),
        language=language_of_open_text(thing.name, thing.text),
    )


def _rules_of_draft(draft: LoreDraft, *, is_single: bool) -> Iterator[RuleDraft]:
    entry = draft.entry
    slug = entry.slug or slugify(entry.title)
    body = plain_rules(entry.body)
    headings = _HEADING.findall(body)
    title = _own_heading(entry.title, headings, body) or _name_with_blanks(entry) or entry.title
    if is_single and len(body) > LONGEST_WHOLE:
        title = _title_in(body) or title
    aliases = [
        name for name in (*entry.aliases, entry.title) if fold_name(name) != fold_name(title)
    ]
    folders = tuple(part for part in draft.folder.split("/") if part)
    kind = _kind_of(draft, folders)
    shared: dict[str, Any] = {"where": draft.where, "is_private": draft.private}
    data = dict(entry.extra) if draft.is_rule else {}
    shared["data"] = data | ({"type": draft.template} if draft.template else {})
    # What comes from a format of rules is one thing, however long.
    if draft.is_rule or len(body) <= LONGEST_WHOLE or len(headings) < 2:
        if text := _without_first_heading(body, title):
            yield RuleDraft(
                slug,
                kind,
                title[:LONGEST_NAME],
                text,
                breadcrumb=folders,
                aliases=tuple(dict.fromkeys(aliases))[:MOST_ALIASES],
                language=entry.language or language_of_open_text(title, text),
                **shared,
            )
        return
    for section in split_by_heading(slug, title, body, above=folders, least=LEAST_SECTION):
        path = section.path.removeprefix("rules/")
        is_top = path == slug
        yield RuleDraft(
            path.removeprefix(f"{slug}/") if is_single else path,
            kind if is_top else Kind.SECTION,
            _plain_title(section.title)[:LONGEST_NAME],
            section.body,
            breadcrumb=tuple(_plain_title(above)[:LONGEST_NAME] for above in section.breadcrumb),
            aliases=tuple(dict.fromkeys(aliases))[:MOST_ALIASES] if is_top else (),
            language=entry.language or language_of_open_text(section.title, section.body),
            **shared,
        )


def plain_rules(text: str) -> str:
    """Return the text without what only its tool understands: links become words; pictures, tags
    of HTML, attributes and the marks of callouts go."""
    text = _ATTRIBUTES.sub("", _EMBED.sub("", text))
    text = _ANCHOR.sub(r"\1", _ANCHOR_LINE.sub("", text))
    text = replace_links(_TAG.sub("", _BREAK.sub(" ", text)))
    lines = [_plain_line(line) for line in _without_callouts(text.split("\n"))]
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


def _plain_line(line: str) -> str:
    return line.rstrip() if line.strip() else ""


def _without_callouts(lines: Sequence[str]) -> Iterator[str]:
    """Unquote callouts: `> [!spell] Bless` and the lines that follow it."""
    is_inside = False
    for line in lines:
        if callout := _CALLOUT.match(line):
            is_inside = True
            if callout["title"].strip():
                yield f"**{callout['title'].strip()}**"
                yield ""
        elif is_inside and line.startswith(">"):
            yield line[1:].removeprefix(" ")
        else:
            is_inside = False
            yield line


def _plain_title(title: str) -> str:
    return re.sub(r"[*_`]+", "", title).strip() or title


def _own_heading(name: str, headings: Sequence[str], body: str) -> str:
    """The first heading, if the text begins with it and it spells the name of the note as people
    write it: `Medium Brass Dragon` in `Medium-Brass-Dragon.md`."""
    if not headings or not _HEADING.match(body):
        return ""
    heading = _plain_title(headings[0])
    return heading if slugify(heading) == slugify(name) else ""


def _title_in(body: str) -> str:
    """The title that a book in one file begins with."""
    top = _TOP.match(body)
    return _plain_title(top[1]) if top else ""


def _name_with_blanks(entry: LoreIn) -> str:
    """The alias that is the title with blanks: files are often named with hyphens."""
    same = (name for name in entry.aliases if slugify(name) == slugify(entry.title))
    return next(same, "") if " " not in entry.title else ""


def _without_first_heading(body: str, title: str) -> str:
    first = _HEADING.match(body)
    is_title = first and fold_name(_plain_title(first[1])) == fold_name(title)
    return body[first.end() :].strip() if first and is_title else body


def _kind_of(draft: LoreDraft, folders: Sequence[str]) -> Kind:
    """The kind that the template says, else the nearest folder that says one."""
    for word in (draft.template, *reversed(folders)):
        if word in Kind:
            return Kind(word)
        if kind := KINDS.get(_singular(word)) or KINDS.get(word.casefold()):
            return kind
    return Kind.CUSTOM


def _kind_in_title(title: str) -> Kind | None:
    """The kind that a heading such as `100 Spells` names by one of its words."""
    words = (_singular(word) for word in reversed(WORD.findall(title)))
    return next((KINDS[word] for word in words if word in KINDS), None)


def _singular(word: str) -> str:
    name = word.casefold().replace("-", " ").replace("_", " ").strip()
    name = name.removesuffix(" descriptions")
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-2] if name.endswith(("sses", "xes")) else name.removesuffix("s")


def _free_path(path: str, rules: dict[str, RuleDraft]) -> str:
    free, number = path[:LONGEST_KEY], 1
    while free in rules:
        number += 1
        free = f"{path[: LONGEST_KEY - 4]}-{number}"
    return free
