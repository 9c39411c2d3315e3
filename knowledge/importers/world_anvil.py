"""A World Anvil export: a folder or zip with a JSON file per article, category, image and map.
Texts are BBCode."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.bbcode import SECRETS, bbcode_to_markdown
from knowledge.importers.drafts import LoreDraft, PersonDraft, RelationDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import (
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    link_to,
    secret_block,
    section,
)
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.markup import PictureCollector
from retrieval.errors import Invalid
from retrieval.text import string_list

Article = dict[str, Any]

KINDS = {
    "person": "character",
    **dict.fromkeys(
        ("location", "settlement", "landmark", "building", "geography", "map"), "place"
    ),
    **dict.fromkeys(("organization", "formation", "militaryformation"), "organization"),
    **dict.fromkeys(("item", "vehicle", "material"), "item"),
    **dict.fromkeys(("militaryconflict", "history", "report", "sessionreport"), "event"),
    "plot": "quest",
    "timeline": "timeline",
}
"""What the templates of World Anvil become; others keep their own word."""
NOT_ENTRIES = ("category", "image", "world", "user", "block", "subscribergroup", "manuscript")
PUBLIC = ("public",)
FOR_THE_AUTHOR = ("authornotes", "scrapbook", "gmnotes", "notes")
"""Fields that World Anvil shows to the author alone."""
LEADS = ("subheading", "content")
ENDS = ("footnotes", "fullfooter")
SIDES = ("sidebarcontent", "sidepanelcontenttop", "sidepanelcontent", "sidebarcontentbottom")
PICTURES = ("portrait", "cover", "image", "map")
ALIASES = ("nickname", "alternativename", "altname", "demonym", "acronym", "aliases")
HOMES = ("residence", "currentlocation", "currentresidence", "birthplace")
FACTIONS = ("organization", "organizations", "affiliations", "faction", "currentstatus")
META = (
    *("id", "uuid", "slug", "url", "title", "templateType", "template", "entityClass", "state"),
    *("isWip", "isDraft", "tags", "world", "author", "category", "icon", "excerpt", "snippet"),
    *("updateDate", "creationDate", "publicationDate", "notificationDate", "folderId", "editURL"),
    *("likes", "views", "wordcount", "css", "cssClasses", "displayCss", "position", "relations"),
    *("sections", "allowComments", "allowContentCopy", "showInToc", "isEmphasized", "coverIsMap"),
    *("displayAuthor", "displayChildrenUnder", "displayTitle", "displaySheet", "badge", "metadata"),
    *("articleNext", "articlePrevious", "isFeaturedArticle", "isAdultContent", "subscribergroups"),
    *("pins", "markers", "mapMarkers", "year", "displayDate", "date", "user", "owner", "gallery"),
)
LONGEST_FACT = 200
TEXT = re.compile(r"\n|\[/?\w|@\[")
SECRET_TAG = re.compile(rf"\[/?(?:{'|'.join(SECRETS)})[^\[\]\n]{{0,500}}\]", re.IGNORECASE)
SECRET = re.compile(r"\[secret:([\w-]{1,60})(?:\|[^\[\]\n]{0,200})?\]")


def is_world_anvil(file: SourceFile, _bundle: Bundle) -> int:
    articles = [each for each in articles_of(file.json())[:20] if isinstance(each, dict)]
    if not articles or not any(each.get("title") for each in articles):
        return 0
    if any("templateType" in each and "title" in each for each in articles):
        return 84
    return 82 if any("entityClass" in each for each in articles) else 0


def articles_of(content: Any) -> list[Any]:
    """The objects of a file: one, a list, or a list under `articles`."""
    if isinstance(content, dict):
        rows = content.get("articles") if "title" not in content else None
        return rows if isinstance(rows, list) else [content]
    return content if isinstance(content, list) else []


@dataclass
class ArticleIndex:
    """What articles refer to by an id. `titles` of an image is the file that holds it."""

    titles: dict[str, str] = field(default_factory=dict)
    categories: dict[str, Article] = field(default_factory=dict)
    secrets: dict[str, Article] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)

    def add(self, article: Article, bundle: Bundle) -> None:
        key, title = str(article.get("id") or ""), str(article.get("title") or "")
        kind = str(article.get("entityClass") or "").lower()
        if kind == "category":
            self.categories[key] = article
        elif kind == "image":
            self.titles[f"image:{key}"] = _file_of(article, bundle)
        elif kind == "secret":
            self.secrets[key] = article
        elif title:
            self.titles[key] = title
            if is_private(article):
                self.private.add(title)

    def folder_of(self, article: Article) -> str:
        """The path of the category that an article is in."""
        names: list[str] = []
        category = as_dict(article.get("category"))
        while category and len(names) < 20:
            whole = self.categories.get(str(category.get("id")), category)
            names.insert(0, str(whole.get("title") or "").replace("/", " "))
            category = as_dict(whole.get("parent"))
        return "/".join(filter(None, names))


def _file_of(image: Article, bundle: Bundle) -> str:
    """The file of an image: it is named by its title, the end of its address, or its id."""
    address = str(image.get("url") or "").rpartition("/")[2].partition("?")[0]
    names = (str(image.get("title") or ""), address, str(image.get("filename") or ""))
    for name in names:
        if found := bundle.pictures.get(name.lower()):
            return found.name
    return address or str(image.get("id") or "")


def is_private(article: Article) -> bool:
    """Whether only some may read it: an article for a group of subscribers is not for all."""
    state = str(article.get("state") or "public").lower()
    is_restricted = bool(article.get("isDraft") or article.get("subscribergroups"))
    return state not in PUBLIC or is_restricted


def read_world_anvil(bundle: Bundle) -> Iterator[LoreDraft]:
    """Private articles and what only their author sees stay GM only. Articles name each other by
    id, so all are read before the first text."""
    archive = ArticleIndex()
    found: list[tuple[SourceFile, str, Article]] = []
    for file in bundle.files:
        with bundle.problems_of(file.name):
            articles = articles_of(file.json())
            if not articles:
                raise Invalid(_("The file holds no articles of World Anvil."))
            for number, article in enumerate(articles, 1):
                where = file.name if len(articles) == 1 else f"{file.name}: {number}"
                with bundle.problems_of(where):
                    if not isinstance(article, dict) or not article.get("title"):
                        raise Invalid(_("This is no article with a title."))
                    archive.add(article, bundle)
                    found.append((file, where, article))
    used = {
        key
        for _file, _where, article in found
        for text in texts_of(article)
        for key in SECRET.findall(text)
    }
    for file, where, article in found:
        kind = str(article.get("entityClass") or "").lower()
        is_used_secret = kind == "secret" and str(article.get("id")) in used
        if kind not in NOT_ENTRIES and not is_used_secret:
            with bundle.problems_of(where):
                yield ArticleReader(bundle, file, article, archive).draft(where)


def texts_of(article: Article) -> Iterator[str]:
    """Every text of an article, in its sections as well."""
    for value in article.values():
        if isinstance(value, str):
            yield value
    for part in as_dict(article.get("sections")).values():
        yield str(as_dict(part).get("content") or "")


class ArticleReader:
    """Reads one article."""

    def __init__(
        self, bundle: Bundle, file: SourceFile, article: Article, archive: ArticleIndex
    ) -> None:
        self.bundle, self.file, self.article, self.archive = bundle, file, article, archive
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())
        self.names = {key.lower(): key for key in article}
        template = article.get("templateType") or article.get("template")
        kind = str(article.get("entityClass") or "")
        self.template = str(template or ("" if kind.lower() == "article" else kind) or "article")

    def draft(self, where: str) -> LoreDraft:
        article = self.article
        title = str(article["title"])
        for name in PICTURES:
            picture = as_dict(self._get(name))
            if picture:
                self.pictures.add(_file_of(picture, self.bundle), title, is_portrait=True)
        kind = KINDS.get(self.template.lower(), self.template)
        relations = list(self._relations())
        short, long = self._other_fields()
        is_hidden = is_private(article) or str(article.get("entityClass")).lower() == "secret"
        return make_draft(
            where,
            file=self.file.name,
            private=is_hidden,
            title=title,
            kind=kind,
            body=self._body(long),
            aliases=self._aliases(title),
            tags=string_list(article.get("tags")),
            folder=self.archive.folder_of(article),
            in_world_label=str(article.get("displayDate") or article.get("year") or "")[:120],
            source=f"worldanvil:{article.get('url') or article.get('id') or title}",
            fields=short,
            extra={"excerpt": article["excerpt"]} if article.get("excerpt") else {},
            person=self._person(relations) if kind == "character" else None,
            relations=tuple(relations),
            pictures=tuple(self.pictures.pictures),
            **({"status": "draft"} if article.get("isDraft") else {}),
        )

    def _get(self, name: str) -> Any:
        """A field by its name in lower case: versions of the export spell them differently."""
        return self.article.get(self.names.get(name, ""))

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            return ""
        whole = SECRET.sub(self._secret, value)
        return bbcode_to_markdown(whole, titles=self.archive.titles, pictures=self.pictures)

    def _secret(self, found: re.Match[str]) -> str:
        """The text of a secret, in one block: none of its own tags may end that."""
        text = str(self.archive.secrets.get(found[1], {}).get("content") or "")
        return f"[spoiler]{SECRET_TAG.sub('', text)}[/spoiler]"

    def _body(self, long: dict[str, str]) -> str:
        sections = {
            **{name: as_dict(part).get("content") for name, part in self._sections().items()},
            **long,
        }
        pins = [
            each for name in ("pins", "markers", "mapmarkers") for each in as_list(self._get(name))
        ]
        return join_blocks(
            [
                *(self._text(self._get(name)) for name in LEADS),
                *(
                    section(heading_of(name), self._text(text))
                    for name, text in sections.items()
                    if name.lower() not in (*LEADS, *ENDS, *SIDES, *FOR_THE_AUTHOR)
                ),
                "\n".join(filter(None, map(self._pin, pins))),
                *(self._text(self._get(name) or sections.get(name)) for name in (*SIDES, *ENDS)),
                *(
                    secret_block(section(heading_of(name), self._text(text)))
                    for name in FOR_THE_AUTHOR
                    if (text := self._get(name) or sections.get(name))
                ),
            ]
        )

    def _sections(self) -> Article:
        return as_dict(self.article.get("sections"))

    def _pin(self, pin: Any) -> str:
        about = as_dict(pin)
        target = str(as_dict(about.get("article")).get("title") or "")
        words = str(about.get("title") or about.get("name") or target)
        return f"- {link_to(target, words) if target else words}" if words else ""

    def _aliases(self, title: str) -> list[str]:
        names = [name for each in ALIASES for name in string_list(self._get(each))]
        parts = [str(self._get(each) or "") for each in ("firstname", "middlename", "lastname")]
        names.append(" ".join(filter(None, (part.strip() for part in parts))))
        return [name for name in dict.fromkeys(names) if name and name != title]

    def _other_fields(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The fields that are neither known nor references: short ones, and texts."""
        known = {*META, *(self.names[name] for name in self._known_names() if name in self.names)}
        rest = fields_except(self.article, *known)
        short: dict[str, Any] = {}
        long: dict[str, str] = {}
        for name, value in rest.items():
            if isinstance(value, str) and (len(value) > LONGEST_FACT or TEXT.search(value)):
                long[name] = value
            elif not list(references(value)):
                short[name] = value
        return short, long

    @staticmethod
    def _known_names() -> tuple[str, ...]:
        return (*LEADS, *ENDS, *SIDES, *FOR_THE_AUTHOR, *PICTURES, *ALIASES)

    def _relations(self) -> Iterator[RelationDraft]:
        for name, value in self.article.items():
            if name not in META and name.lower() not in self._known_names():
                yield from self._relations_in(name, value)
        for name, value in as_dict(self.article.get("relations")).items():
            yield from self._relations_in(name, as_dict(value).get("items", value))

    def _relations_in(self, name: str, value: Any) -> Iterator[RelationDraft]:
        for target in references(value):
            words = "part of" if name in ("articleParent", "parent") else heading_of(name).lower()
            title = str(self.archive.titles.get(str(target.get("id")), target["title"]))
            attitude = target.get("attitude")
            is_number = isinstance(attitude, int) and -100 <= attitude <= 100
            is_hidden = str(target.get("state") or "public").lower() not in PUBLIC
            yield RelationDraft(
                title,
                words[:80],
                attitude if is_number else None,
                private=is_hidden or title in self.archive.private,
            )

    def _person(self, relations: list[RelationDraft]) -> PersonDraft:
        # Players read these lines of a profile, so they name nothing private.
        def first(fields: tuple[str, ...]) -> str:
            names = {heading_of(name).lower().replace(" ", "") for name in fields}
            return next(
                (
                    each.target
                    for each in relations
                    if not each.private and each.words.replace(" ", "") in names
                ),
                "",
            )

        role = str(self._get("subheading") or self._get("profession") or "")
        summary = self._get("excerpt") or self._get("snippet")
        motivation = self._text(self._get("motivation"))
        has_secrets = ":::" in motivation
        return PersonDraft(
            role=role[:200] if not TEXT.search(role) else "",
            summary="" if ":::" in (text := self._text(summary)) else text,
            home=first(HOMES),
            faction=first(FACTIONS),
            goals=(motivation[:400],) if motivation and not has_secrets else (),
        )


def references(value: Any) -> Iterator[Article]:
    """The articles that a field names: objects with an id and a title."""
    for each in as_list(value):
        if (
            isinstance(each, dict)
            and each.get("title")
            and ("id" in each or "relationshipType" in each)
        ):
            yield each
