"""No parser of long texts is slow for any text: each takes linear time, or cuts or refuses what
would take longer.

Texts repeat one or several signs that a parser might look for again and again. CI tries a part of
them; `HOSTILE_TEXTS=100` tries all, longer ones and random mixtures.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from episodes.summarize import source_sentences
from knowledge.extraction.text_reader import sentences_of as sentences_of_facts
from knowledge.importers.callouts import replace_callouts
from knowledge.importers.html import html_to_markdown
from knowledge.importers.markup import adopt_links, comments_to_secrets, without_block_ids
from knowledge.importers.statblocks import tables_of_stat_blocks
from knowledge.links.excerpts import excerpt, first_sentence
from knowledge.markup_check import check_structure
from knowledge.mentions.store import blocks_of
from knowledge.text_relations import relations_in_text
from memories.code_rules.detect import detect_code_rules_from_patch
from memories.core_policy import parse_core
from memories.ingest.rule_split import split_by_rules
from memories.similarity.comparable_text import parse_text
from memory_site.archive.vault import secrets_as_callouts
from memory_site.session_reports.sentences import sentences_of
from retrieval.errors import Problem
from retrieval.indexing import SourceEntry, chunk_entry
from retrieval.text import (
    clean_text,
    code_spans,
    cut_out_secrets,
    find_links,
    guess_language,
    name_words,
    names_in_both,
    parse_secret,
    read_fences,
    slugify,
    split_front_matter,
    split_secrets,
    split_sentences,
    text_phrase_keys,
)
from worlds.markdown import LONGEST_FORMATTED, ShownLink, plain_text, safe_html
from worlds.text_diff import lines_of_markers, merge_texts, word_diff

MIXED = int(os.environ.get("HOSTILE_TEXTS", "0"))
LENGTH = 100_000 if MIXED else 30_000
MOST_SECONDS = LENGTH / 60_000
"""Of CPU. What takes quadratic time takes far longer."""
SLOWER, TAKES = ("page", "front matter"), 4
"""Markdown and YAML are read in linear time, but slowly: of both only so much is read."""
UNITS = [
    'a ', 'A ', '1 ', '\n', '\n\n', 'a\n', '# a\n', '# \n', '- a\n', '  - a\n', '|a|b|\n',
    '|-|-|\n', '[[a]]', '[[a]]`x` ', '[[', '[[a|b]]<`', '`', '`` ` ', 'a ``b ', '```\n', '~',
    '~~~\n', '*', '**a', '_a ', '> a\n', ':::', ':::secret\n', ':::secret party:a\n:::\n',
    ':::secret party:a ', 'party:a character:b ', '![](', '[a](', '(', '<', '<a ', "<a b='",
    '<!--', '<p>', '&amp;', '{', '[', '{{', '@UUID[a]{', '\\', "'", '"', '«', '“', '? ', '. ',
    'Aa. ', 'Mr. ', 'é', '́', '가 ', 'Ёж ', '1. ', 'a: b\n', 'A: ', '=', '===\n', '---\n', '/',
    'http://a', 'a,b,', '\t', '\u200b', '— ', '"a" ', '{"a":', '<<<<<<< a\n', '=======\n',
    '---\na: ', '- - ', "x" * 60 + " ", '> [!a] b\n', '>' * 60 + '\n', '%%', '%%a\n', ' ^a\n',
]  # fmt: skip


def diff_of_an_edit(text: str) -> Any:
    return word_diff(text, f"{text[1 : len(text) // 2]}new{text[len(text) // 2 :]}")


def merge_of_two_edits(text: str) -> Any:
    third = len(text) // 3
    yours, stored = f"{text[:third]}q{text[third:]}", f"{text[: 2 * third]}\nz{text[2 * third :]}"
    return merge_texts(text, yours, stored, names=("yours", "stored"))


PARSERS: dict[str, Callable[[str], Any]] = {
    "chunks": lambda text: chunk_entry(SourceEntry("Inn", text), domain="lore"),
    "links": find_links,
    "code": code_spans,
    "secrets": lambda text: list(split_secrets(text)),
    "text without secrets": cut_out_secrets,
    "fences": read_fences,
    "one secret": parse_secret,
    "nested secrets": lambda text: list(blocks_of(text)),
    "audiences": lambda text: names_in_both(text.split(), [f"party:{n}" for n in range(2_000)]),
    "structure": check_structure,
    "markers of a merge": lines_of_markers,
    "relations": relations_in_text,
    "first sentence": first_sentence,
    "excerpt": lambda text: excerpt(text, "[[a]]"),
    "sentences": split_sentences,
    "sentences of lines": lambda text: split_sentences(text, at_line_breaks=True),
    "sentences with facts": sentences_of_facts,
    "sentences of a report": sentences_of,
    "sentences of a scene": lambda text: source_sentences(text, "scene"),
    "front matter": split_front_matter,
    "front matter, open": lambda text: split_front_matter(f"---\n{text}\n---\n"),
    "clean text": clean_text,
    "slug": slugify,
    "language": guess_language,
    "words of names": name_words,
    "keys of names": text_phrase_keys,
    "page": safe_html,
    "page with links": lambda text: safe_html(text, lambda links: [ShownLink("/")] * len(links)),
    "plain text": plain_text,
    "difference": diff_of_an_edit,
    "difference to the reverse": lambda text: word_diff(text, text[::-1]),
    "merge": merge_of_two_edits,
    "HTML": html_to_markdown,
    "HTML, closed at the end": lambda text: html_to_markdown(f"{text}>"),
    "comments": comments_to_secrets,
    "comments in a row": lambda text: comments_to_secrets(f"|{text}"),
    "callouts": lambda text: replace_callouts(text, lambda _type: True, lambda each: each.body),
    "ids of blocks": without_block_ids,
    "links of a vault": adopt_links,
    "stat blocks": tables_of_stat_blocks,
    "vault": secrets_as_callouts,
    "memories": split_by_rules,
    "core": parse_core,
    "a memory, 20,000 characters": lambda text: parse_text(text[:20_000]),
    "a change of code": lambda text: detect_code_rules_from_patch(
        text[:20_000], text[5_000:20_000] + "\nx = None"
    ),
}


def units(name: str) -> Iterator[str]:
    chosen = random.Random(name)
    yield from UNITS if MIXED else chosen.sample(UNITS, 12)
    for _number in range(MIXED):
        yield "".join(chosen.sample(UNITS, chosen.randint(2, 3)))


def seconds_of(parse: Callable[[str], Any], unit: str) -> float:
    text = (unit * (LENGTH // len(unit) + 1))[:LENGTH]
    began = time.process_time()
    with suppress(Problem):  # it says what is wrong
        parse(text)
    return time.process_time() - began


@pytest.mark.parametrize("name", PARSERS)
def test_no_parser_is_slow_for_a_hostile_text(name: str) -> None:
    most = MOST_SECONDS * (TAKES if name.startswith(SLOWER) else 1)
    taken = {unit: seconds_of(PARSERS[name], unit) for unit in units(name)}
    assert {unit: each for unit, each in taken.items() if each > most} == {}


def test_the_rest_of_a_long_text_is_shown_as_it_was_written() -> None:
    text = "**quay** " * (LONGEST_FORMATTED // 9) + "\n" + "**pier** <b> " * 10
    html = safe_html(text)
    assert html.count("<strong>quay</strong>") == LONGEST_FORMATTED // 9
    assert html.count("**pier** &lt;b&gt;") == 10
    assert "too long" in html
    assert "too long" not in safe_html("**quay**")


SLOW_ONCE = {
    "links": ["[[a]]`x` "],
    "code": ["`", "~"],
    "comments": ["<!--", "%%"],
    "comments in a row": ["<!--", "%%", "`"],
    "callouts": ["> [!a] b\n", ">"],
    "chunks": ["# a\n"],
    "front matter, open": ["[", "{"],
    "HTML": ["<a ", "<!--"],
    "nested secrets": [":::secret\n"],
    "vault": [":::secret\n"],
    "difference": ["a ", "a\n"],
    "difference to the reverse": ["a "],
    "merge": ["\n"],
    "a change of code": ["a\n"],
}
"""Texts that took quadratic time, or more levels of calls than Python has."""


@pytest.mark.parametrize(("name", "unit"), [(n, unit) for n in SLOW_ONCE for unit in SLOW_ONCE[n]])
def test_what_was_slow_once_is_read_in_a_moment(name: str, unit: str) -> None:
    assert seconds_of(PARSERS[name], unit) < MOST_SECONDS
