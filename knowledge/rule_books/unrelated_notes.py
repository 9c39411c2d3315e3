"""Texts beside the rules of a book: how its files are licensed, changed and listed."""

import re

from knowledge.importers.drafts import LoreDraft
from retrieval.text import slugify

FILES = frozenset(
    ("readme", "contributing", "license", "licence", "code-of-conduct", "security", "authors")
)
"""Names of notes that collections of files have, whatever they are about."""
HISTORIES = (
    *("changelog", "change-log", "change-history", "release-notes"),
    *("revision-log", "revision-history", "version-history"),
)
LISTS = ("index", "contents", "toc")

_HEADING_OR_PICTURE = re.compile(r"#{1,6}[ \t].*|!\[.*")
_LINK_ALONE = re.compile(
    r"(?:[-*+|>\s]|\d+\.)*(?:\[\[[^\[\]\n]{1,300}\]\]|\[[^\[\]\n]{1,300}\]\([^()\n]{1,300}\))[*|\s]*"
)


def is_about_files(draft: LoreDraft) -> bool:
    """Whether a note is about the files of its book: a licence, a list of changes, or an index,
    which holds links and nothing else."""
    names = {slugify(draft.entry.title), slugify(draft.file.rsplit("/", 1)[-1].rsplit(".", 1)[0])}
    if names & FILES or any(name.endswith(HISTORIES) for name in names):
        return True
    return any(name.endswith(LISTS) for name in names) and _has_links_alone(draft.entry.body)


def is_history(title: str) -> bool:
    """Whether a section tells what has changed from version to version."""
    return slugify(title) in HISTORIES


def _has_links_alone(body: str) -> bool:
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    texts = [line for line in lines if not _HEADING_OR_PICTURE.fullmatch(line)]
    return all(map(_LINK_ALONE.fullmatch, texts))
