"""Markdown to HTML or plain text. Text is stored as written and sanitised when it is shown."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import Any
from uuid import UUID

import nh3
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin

from retrieval.text import TextLink, find_links, replace_links, slugify

TAGS = {
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "hr",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
ATTRIBUTES = {
    "a": {"href", "title", "class", "data-card"},
    "div": {"aria-label", "class", "role", "tabindex"},
    "img": {"alt", "class", "loading", "referrerpolicy", "src", "title"},
    "span": {"class"},
    "ol": {"start"},
    "p": {"class"},
    **{f"h{level}": {"id"} for level in range(1, 5)},
}
LONGEST_FORMATTED = 200_000
"""Characters. Of texts that take the parser longest it reads 60,000 a second."""
FIRST_MARK, END_MARK = 0xF0000, "\U000ffffd"
"""Private characters that stand for the start of the nth link and for the end of one, while the
Markdown around them is parsed: `[[Name|words]]` in a table must not end its cell."""
MARK = re.compile(r"[\U000F0000-\U000FFFFD]")


@dataclass(frozen=True)
class ShownLink:
    """What a `[[link]]` becomes: an address, a CSS class, and the address of its hover card."""

    url: str
    css: str = "wikilink"
    card: str = ""


LinkResolver = Callable[[Sequence[TextLink]], Sequence[ShownLink | None]]
"""Says for all links of a text what to show; None is for plain words."""
PICTURE = re.compile(r"picture:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


CALLOUT = re.compile(r"\[!(?P<type>[^\]|\n]{1,60})(?:\|[^\]\n]{0,200})?\][+-]?[ \t]*(?P<title>.*)")
"""In `[!secret|left]-` the words after the bar are for style sheets, and the sign folds it."""
CALLOUT_MARK = re.compile(r"^((?:[ \t]*>)+[ \t]*)\[![^\]\n]{1,200}\][+-]?[ \t]*", re.MULTILINE)
AUDIENCE = re.compile(r"[^\s,]+:[^\s,]+")
SECRET_LINE = re.compile(r"^[ >]*:::+[ ]*secret[ ]+(.+)$", re.MULTILINE)


def audiences_in(markdown: str) -> set[str]:
    """Return the audiences that the secret blocks of a text name."""
    lines = SECRET_LINE.findall(markdown)
    return {each.casefold() for line in lines for each in AUDIENCE.findall(line)}


def render_secret(
    _renderer: RendererHTML, tokens: list[Token], at: int, _options: object, env: dict[str, Any]
) -> str:
    if tokens[at].nesting != 1:
        return "</div>\n"
    names: Mapping[str, str] = env.get("audiences", {})
    audiences = tokens[at].info.strip().removeprefix("secret").strip()
    who = AUDIENCE.sub(lambda each: names.get(each[0].casefold(), each[0]), audiences)
    named = f"{_('Secret')}: {who}" if who else _("Secret")
    return f'<div class="secret"><span class="tag gm">{escapeHtml(named)}</span>\n'


def heading_id(heading: str) -> str:
    """The anchor of a heading, as `[[Name#Heading]]` leads to it."""
    return f"h-{slugify(MARK.sub('', plain_text(heading)))}"


def mark_headings(state: StateCore) -> None:
    for token, content in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "heading_open":
            token.attrSet("id", heading_id(content.content))


def title_callouts(state: StateCore) -> None:
    """Show the title of a callout of Obsidian (`> [!rumour] At the inn`) instead of its mark."""
    for quote, paragraph, line in zip(
        state.tokens, state.tokens[1:], state.tokens[2:], strict=False
    ):
        if quote.type == "blockquote_open" and paragraph.type == "paragraph_open":
            line.children = with_title(line.children or [])


def with_title(words: list[Token]) -> list[Token]:
    opening = CALLOUT.match(words[0].content) if words and words[0].type == "text" else None
    if opening is None:
        return words
    ends = (at for at, word in enumerate(words) if word.type in ("softbreak", "hardbreak"))
    end = next(ends, len(words))
    first = words[0].copy(content=opening["title"])
    if not opening["title"] and end == 1:
        first = first.copy(content=opening["type"].strip().capitalize())
    strong = Token("strong_open", "strong", 1), Token("strong_close", "strong", -1)
    text = [Token("hardbreak", "br", 0), *words[end + 1 :]] if end < len(words) else []
    return [strong[0], first, *words[1:end], strong[1], *text]


def insert_links(state: StateCore) -> None:
    """Turn the marks of links in the text into tags."""
    links: list[ShownLink | None] = state.env.get("links", [])
    for token in state.tokens:
        if token.type == "inline" and token.children and MARK.search(token.content):
            token.children = [new for each in token.children for new in split_marks(each, links)]


def split_marks(token: Token, links: list[ShownLink | None]) -> list[Token]:
    if token.type != "text" or not MARK.search(token.content):
        return [token]
    result = []
    for is_mark, letters in groupby(token.content, lambda letter: bool(MARK.match(letter))):
        for piece in letters if is_mark else ["".join(letters)]:
            if not is_mark:
                result.append(token.copy(content=piece))
            elif piece == END_MARK:
                result.append(Token("link_close", "a", -1))
            elif (number := ord(piece) - FIRST_MARK) < len(links) and (link := links[number]):
                attributes: dict[str, Any] = {"href": link.url, "class": link.css}
                attributes |= {"data-card": link.card} if link.card else {}
                result.append(Token("link_open", "a", 1, attrs=attributes))
    return result


def render_table(_renderer: RendererHTML, tokens: list[Token], at: int, *_rest: object) -> str:
    """A wide table scrolls by itself, with the keyboard, too."""
    if tokens[at].nesting != 1:
        return "</table>\n</div>\n"
    name = escapeHtml(_("Table"))
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{name}">\n<table>\n'


def render_image(
    renderer: RendererHTML, tokens: list[Token], at: int, options: Any, env: dict[str, Any]
) -> str:
    """Show an uploaded picture of the world, or one at an https address; of others only the
    words."""
    image = tokens[at]
    alt = escapeHtml(renderer.renderInlineAsText(image.children or [], options, env))
    address = str(image.attrs.get("src", ""))
    picture = PICTURE.fullmatch(address)
    if picture and env.get("world"):
        # Whether it exists and may be seen is decided when it is asked for.
        address = reverse("picture-preview", args=[env["world"], UUID(picture[1])])
    elif not address.lower().startswith("https://"):
        return alt
    title = str(image.attrs.get("title", ""))
    shown = f' title="{escapeHtml(title)}"' if title else ""
    return (
        f'<img class="picture" src="{escapeHtml(address)}" alt="{alt}"{shown}'
        ' loading="lazy" referrerpolicy="no-referrer">'
    )


@cache
def markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    parser.add_render_rule("image", render_image)
    parser.add_render_rule("table_open", render_table)
    parser.add_render_rule("table_close", render_table)
    parser.core.ruler.push("mark_headings", mark_headings)
    parser.core.ruler.push("title_callouts", title_callouts)
    parser.core.ruler.push("insert_links", insert_links)
    return parser.use(container_plugin, "secret", render=render_secret)


def safe_html(
    markdown: str,
    links: LinkResolver | None = None,
    *,
    world: str = "",
    audiences: Mapping[str, str] = MappingProxyType({}),
) -> SafeString:
    """Return the Markdown as HTML without scripts, styles or foreign attributes.

    Images are uploaded pictures of the world with the slug `world` (`![words](picture:<id>)`) and
    those at https addresses.

    `[[Name]]` and `[[Name|words]]` become what `links` says, and without it their words;
    `:::secret` blocks are framed as what they are, with the names that `audiences` has for those
    who know them (`party:lanternbearers`).

    What follows the first 200,000 characters is shown as it is written: more would take seconds.
    """
    formatted, rest = cut_at_line(MARK.sub("", markdown), LONGEST_FORMATTED)
    text, shown = mark_links(formatted, links)
    html = nh3.clean(
        markdown_parser().render(text, {"links": shown, "world": world, "audiences": audiences})
        + (plain_block(rest) if rest else ""),
        tags=TAGS,
        attributes=ATTRIBUTES,
        link_rel="noopener nofollow ugc",
    )
    return SafeString(MARK.sub("", html))  # nosec B703 - cleaned above


def cut_at_line(text: str, longest: int) -> tuple[str, str]:
    """Return at most `longest` characters, up to the end of a line if there is one, and the
    rest."""
    if len(text) <= longest:
        return text, ""
    end = text.rfind("\n", 0, longest) + 1 or longest
    return text[:end], text[end:]


def plain_block(text: str) -> str:
    notice = _("This text is too long to be formatted as a whole. The rest is as it was written:")
    return f'<p class="notice">{escapeHtml(notice)}</p>\n<pre>{escapeHtml(text)}</pre>\n'


def mark_links(text: str, links: LinkResolver | None) -> tuple[str, list[ShownLink | None]]:
    """Return the text with its links as marked words, and what to show for each mark."""
    found = find_links(text) if links else []
    if not links or not found:
        return replace_links(text), []
    shown = list(links(found))
    numbers = {link.start: number for number, link in enumerate(found)}

    def mark(link: TextLink) -> str:
        number = numbers.get(link.start)
        if number is None or shown[number] is None or FIRST_MARK + number >= ord(END_MARK):
            return link.shown_words
        return f"{chr(FIRST_MARK + number)}{link.shown_words}{END_MARK}"

    return replace_links(text, mark), shown


IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
WEB_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)|<(https?://[^\s<>]+)>")
MARKS = re.compile(
    r"(\*\*|__|~~|`|^#{1,6} |^> |^:::.*$|^[ \t]*[-*+] (?=\S)|^\|?[ \t]*:?--[-|: \t]*$)",
    re.MULTILINE,
)
EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])|(?<!\w)_([^_\n]+)_(?!\w)")
TABLE_ROW = re.compile(r"^\|(.*)\|[ \t]*$", re.MULTILINE)


def plain_text(markdown: str) -> str:
    """Return the words of a Markdown text, for an excerpt."""
    text = IMAGE.sub(r"\1", replace_links(markdown))
    text = CALLOUT_MARK.sub(r"\1", text)
    text = MARKS.sub("", WEB_LINK.sub(_first_group, text))
    text = EMPHASIS.sub(_first_group, text)
    return TABLE_ROW.sub(lambda row: row[1].strip().replace("|", "·"), text)


def _first_group(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)
