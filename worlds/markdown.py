"""Markdown to HTML or plain text. Text is stored as written and sanitised when it is shown."""

import re
from functools import cache

import nh3
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin

from retrieval.text import replace_links

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
ATTRIBUTES = {"a": {"href", "title"}, "div": {"class"}, "span": {"class"}, "ol": {"start"}}


def render_secret(_renderer: RendererHTML, tokens: list[Token], at: int, *_rest: object) -> str:
    if tokens[at].nesting != 1:
        return "</div>\n"
    who = tokens[at].info.strip().removeprefix("secret").strip()
    named = f"{_('Secret')}: {who}" if who else _("Secret")
    return f'<div class="secret"><span class="tag gm">{escapeHtml(named)}</span>\n'


@cache
def markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    return parser.use(container_plugin, "secret", render=render_secret)


def safe_html(markdown: str) -> SafeString:
    """Return the Markdown as HTML without scripts, styles, images or foreign attributes.

    `[[Name]]` and `[[Name|words]]` are shown as their words; `:::secret` blocks are framed as what
    they are.
    """
    text = replace_links(markdown)
    html = nh3.clean(
        markdown_parser().render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        link_rel="noopener nofollow ugc",
    )
    return SafeString(html)


MARKS = re.compile(r"(\*\*|__|`|^#{1,6} |^> |^:::.*$)", re.MULTILINE)


def plain_text(markdown: str) -> str:
    """Return the words of a Markdown text, for an excerpt."""
    return MARKS.sub("", replace_links(markdown))
