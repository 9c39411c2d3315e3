"""What the words of a source mean here: tags, folders and templates are kinds, callouts are
secrets, fields are relations, aliases, dates and tags. What nobody decided is guessed."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from knowledge.importers.callouts import Callout, callout_types, replace_callouts
from knowledge.importers.drafts import LoreDraft, PictureDraft, RelationDraft
from knowledge.importers.entry_fields import (
    LONGEST_NAME,
    LONGEST_TAG,
    MOST_NAMES,
    guess_kind,
    json_value,
)
from knowledge.importers.markup import outside_code
from knowledge.schemas import LoreIn
from knowledge.text_relations import relations_in_text
from retrieval.text import DEEPEST_SECRET, find_links, string_list

AUDIENCES = re.compile(r"(?:(?:party|character|npc):[\w-]+ ?)+")
SECRET_CALLOUTS = [
    "secret",
    "npc-secret",
    "gm",
    "dm",
    "spoiler",
    "hidden",
    "dm-only",
    "gm-only",
    "gmonly",
    "keeper",
    "referee",
    "секрет",
    "тайна",
    "мастер",
    "спойлер",
    "비밀",
    "마스터",
    "스포일러",
]
ALIAS_FIELDS = [
    "alias",
    "aliases",
    "aka",
    "also-known-as",
    "nickname",
    "nicknames",
    "псевдоним",
    "псевдонимы",
    "прозвище",
    "прозвища",
    "другое-имя",
    "другие-имена",
    "также-известен-как",
    "также-известна-как",
    "별명",
    "별칭",
    "이명",
    "다른-이름",
]
DATE_FIELDS = ["date", "when", "in-world-date", "fc-date", "fc-display-name", "era", "дата", "날짜"]
PICTURE_FIELDS = [
    "image",
    "img",
    "portrait",
    "picture",
    "cover",
    "banner",
    "token",
    "изображение",
    "портрет",
    "그림",
    "초상",
]
RELATION_FIELDS = [
    "location",
    "home",
    "lives-in",
    "region",
    "located-in",
    "residence",
    "birthplace",
    "faction",
    "factions",
    "organization",
    "organisation",
    "guild",
    "member-of",
    "membership",
    "affiliation",
    "allegiance",
    "owner",
    "owned-by",
    "holder",
    "parent",
    "part-of",
    "ruler",
    "leader",
    "leads",
    "ally",
    "allies",
    "friend",
    "friends",
    "enemy",
    "enemies",
    "rival",
    "rivals",
    "spouse",
    "sibling",
    "siblings",
    "mother",
    "father",
    "child",
    "children",
    "family",
    "relatives",
    "husband",
    "wife",
    "brother",
    "sister",
    "son",
    "daughter",
    "parents",
    "cousin",
    "mentor",
    "apprentice",
    "apprentices",
    "commander",
    "owner-of",
    "sworn-to",
    "serves",
    "место",
    "место-жительства",
    "супруг",
    "супруга",
    "родители",
    "наставник",
    "ученики",
    "командир",
    "дом",
    "фракция",
    "владелец",
    "союзник",
    "союзники",
    "враг",
    "враги",
    "위치",
    "고향",
    "소속",
    "주인",
    "동료",
    "적",
]
MOST_CHOICES = 60
"""Words of one sort that a person is asked about; the most frequent ones."""


FIELD_USES = ("extra", "alias", "tag", "date", "relation", "picture")
GROUPS = ("template", "folder", "tag")
"""Where a word that names a kind may stand, the surest first."""


@dataclass(frozen=True)
class ImportMapping:
    """`kinds` by `template:…`, `folder:…` or `tag:…`; `callouts` by type: an audience such as `gm`
    or `party:<slug>`; `fields` by name: one of `FIELD_USES`. A word that is missing is guessed; an
    empty choice means that it says nothing."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    callouts: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    def apply(self, draft: LoreDraft) -> LoreDraft:
        """Return the draft as it is to be stored. An export of ours needs no interpretation."""
        if draft.is_exact:
            return draft
        entry = draft.entry
        use = FieldUse(aliases=list(entry.aliases), tags=list(entry.tags))
        for name, value in draft.fields.items():
            use.add(name, value, self.fields.get(name, guess_use(name, value)))
        values: dict[str, Any] = {
            "aliases": _fitting(use.aliases, entry.title, LONGEST_NAME),
            "tags": _fitting(use.tags, "", LONGEST_TAG),
            "body": outside_code(entry.body, self._secrets),
        }
        values |= _split_kind(self._kind_of(draft))
        if use.date and not entry.in_world_label:
            values["in_world_label"] = use.date[:120]
        if extra := {**entry.extra, **json_value(use.extra)}:
            values["extra"] = extra
        in_text = [
            RelationDraft(each.target, each.words, private=each.private, quote=each.quote)
            for each in relations_in_text(str(values["body"]))
        ]
        changed = {**entry.model_dump(exclude_unset=True), **values}
        return replace(
            draft,
            entry=LoreIn.model_validate(changed),
            relations=(*draft.relations, *use.relations, *in_text),
            pictures=(*draft.pictures, *use.pictures),
        )

    def _kind_of(self, draft: LoreDraft) -> str:
        for group, word in kind_words(draft):
            choice = self.kinds.get(f"{group}:{word.lower()}")
            if choice is None:
                choice = guess_kind(word)
            if choice:
                return choice
        return "custom"

    def _secrets(self, text: str, depth: int = 0) -> str:
        """Return `text` with the callouts that are secrets as blocks, also those in each other."""

        def audience(kind: str) -> str:
            return self.callouts.get(kind, guess_callout(kind))

        def block(callout: Callout) -> str:
            names, title = audience(callout.type), callout.title
            if AUDIENCES.fullmatch(title):  # as our own export writes it
                names, title = title, ""
            opening = f":::secret {names}" if names != "gm" else ":::secret"
            heading = f"**{title}**\n\n" if title else ""
            body = callout.body
            if depth < DEEPEST_SECRET:
                body = self._secrets(body, depth + 1)
            return f"{opening}\n{heading}{body}\n:::"

        return replace_callouts(text, lambda kind: bool(audience(kind)), block)


@dataclass
class FieldUse:
    """What the fields of one entry become."""

    aliases: list[str]
    tags: list[str]
    date: str = ""
    relations: list[RelationDraft] = field(default_factory=list)
    pictures: list[PictureDraft] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, value: Any, use: str) -> None:
        if use == "alias":
            self.aliases += names_in(value)
        elif use == "tag":
            self.tags += names_in(value)
        elif use == "date" and not isinstance(value, dict | list):
            self.date = self.date or str(value)
        elif use == "picture" and names_in(value):
            self.pictures.append(PictureDraft(names_in(value)[0], is_portrait=True))
        elif use == "relation" and names_in(value):
            words = name.replace("_", " ").replace("-", " ")[:80]
            self.relations += [
                RelationDraft(target, words, source=name) for target in names_in(value)
            ]
        else:
            self.extra[name] = value


def names_in(value: Any) -> list[str]:
    """The names in a field: targets of links, else the parts between commas."""
    if isinstance(value, list):  # an unquoted [[Name]] is a list in a list
        return [name for each in value for name in names_in(each)]
    if isinstance(value, dict) or value is None:
        return []
    text = str(value)
    names = [link.name for link in find_links(text)] or string_list(text.strip("![]"))
    return [name for name in names if 0 < len(name) <= LONGEST_NAME]


def kind_words(draft: LoreDraft) -> Iterator[tuple[str, str]]:
    """The words of a draft that may name its kind, as (group, word), the surest first."""
    if draft.template:
        yield "template", draft.template
    if draft.is_rule:
        return
    for part in reversed(draft.folder.split("/")):
        if part:
            yield "folder", part
    for tag in draft.entry.tags:
        yield "tag", tag.split("/")[0]


def guess_callout(kind: str) -> str:
    return "gm" if kind in SECRET_CALLOUTS else ""


def guess_use(name: str, value: Any) -> str:
    """How a field is used unless somebody decides: by its name, and whether it holds links."""
    word = name.strip().lower().replace("_", "-").replace(" ", "-")
    if word in ALIAS_FIELDS:
        return "alias"
    if word in DATE_FIELDS and isinstance(value, str):  # YAML's own dates are those of our calendar
        return "date"
    if word in PICTURE_FIELDS:
        return "picture"
    is_nested = isinstance(value, list) and any(isinstance(each, list) for each in value)
    has_links = is_nested or bool(find_links(str(value)))
    return "relation" if has_links or word in RELATION_FIELDS else "extra"


def _split_kind(choice: str) -> dict[str, Any]:
    """`custom:<slug>` is a kind of the world's own."""
    kind, _colon, slug = choice.partition(":")
    return {"kind": kind, "custom_kind": slug} if slug else {"kind": kind}


def _fitting(names: Iterable[str], title: str, longest: int) -> list[str]:
    different = dict.fromkeys(name for name in names if name and name != title)
    return [name for name in different if len(name) <= longest][:MOST_NAMES]


# --- what a person is asked


@dataclass(frozen=True)
class Choice:
    """A word of the source that can be mapped: how often it occurs, an example, the guess."""

    word: str
    count: int
    guess: str
    example: str = ""


@dataclass(frozen=True)
class Survey:
    kinds: Mapping[str, Sequence[Choice]]
    callouts: Sequence[Choice]
    fields: Sequence[Choice]


def survey(drafts: Iterable[LoreDraft]) -> Survey:
    """Return the words of the drafts that a mapping can decide on."""
    words: dict[str, Counter[str]] = {group: Counter() for group in GROUPS}
    callouts, fields = Counter[str](), Counter[str]()
    examples: dict[str, tuple[str, str]] = {}
    for draft in drafts:
        if draft.is_exact:
            continue
        for group, word in dict.fromkeys(kind_words(draft)):
            words[group][word.lower()] += 1
        callouts.update(callout_types(draft.entry.body))
        for name, value in draft.fields.items():
            fields[name] += 1
            examples.setdefault(name, (guess_use(name, value), str(value)[:80]))
    return Survey(
        kinds={
            group: [Choice(word, n, guess_kind(word) or "") for word, n in _most(counter)]
            for group, counter in words.items()
        },
        callouts=[Choice(kind, n, guess_callout(kind)) for kind, n in _most(callouts)],
        fields=[Choice(name, n, *examples[name]) for name, n in _most(fields)],
    )


def _most(counter: Counter[str]) -> list[tuple[str, int]]:
    return counter.most_common(MOST_CHOICES)
