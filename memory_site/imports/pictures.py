"""Pictures of an import: in the text of an entry, and in its gallery."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone

from art.models import Picture
from art.pictures import place_picture, store_picture
from knowledge.importers.drafts import ImportProblem, LoreDraft
from knowledge.importers.files import Bundle
from knowledge.importers.markup import PLACEHOLDER
from knowledge.models import Lore
from memory_site.imports.report import WriteReport
from retrieval.errors import Problem
from retrieval.text import picture_targets, without_secrets
from worlds.models import ImportedRow, World

IN_TEXT = re.compile(rf"!\[([^\[\]\n]*)\]\({PLACEHOLDER}(\d+)\)")
LONGEST_ALT = 300


class PictureWriter:
    """Stores the pictures of drafts, each file once. A dry run stores none."""

    def __init__(
        self, world: World, bundle: Bundle, report: WriteReport, *, by: str, is_kept: bool
    ) -> None:
        self.world, self.bundle, self.report = world, bundle, report
        self.by, self.is_kept = by, is_kept
        self.pictures: dict[str, Picture | None] = {}
        self.new: dict[Any, ImportedRow] = {}

    def adopt(self, draft: LoreDraft) -> LoreDraft:
        """Return the draft with the addresses of its pictures in its text."""
        if PLACEHOLDER not in draft.entry.body:
            return draft

        def address(found: re.Match[str]) -> str:
            number = int(found[2])
            file = draft.pictures[number].file if number < len(draft.pictures) else ""
            if picture := self._find_or_store(file, alt=found[1]):
                return f"![{found[1]}](picture:{picture.pk})"
            return f"*{found[1]}*" if found[1].strip() else ""

        body = IN_TEXT.sub(address, draft.entry.body)
        if body == draft.entry.body:
            return draft
        return replace(draft, entry=draft.entry.model_copy(update={"body": body}))

    def place(self, drafts: Iterable[LoreDraft], rows: Mapping[str, Lore]) -> None:
        """Put the pictures into the galleries of their entries."""
        for draft in drafts:
            entry = rows.get(draft.where)
            for wanted in draft.pictures if entry else ():
                if picture := self._find_or_store(wanted.file, alt=wanted.alt):
                    assert entry is not None
                    use = place_picture(
                        picture,
                        entry,
                        is_portrait=wanted.is_portrait,
                        # The gallery must not show players what only a secret shows.
                        is_hidden=wanted.is_hidden
                        or (not wanted.is_portrait and is_secret(picture, entry.body)),
                    )
                    if row := self.new.get(picture.pk):
                        row.before = {"uses": [*(row.before or {}).get("uses", []), str(use.pk)]}

    def _find_or_store(self, name: str, *, alt: str) -> Picture | None:
        file = self.bundle.pictures.get(name.lower())
        if file is None or not self.is_kept:
            return None
        if file.name not in self.pictures:
            self.pictures[file.name] = None
            try:
                self.pictures[file.name] = self._store(file.name, file.read(), alt)
            except Problem as problem:
                self.report.problems.append(ImportProblem(file.name, problem.detail))
        return self.pictures[file.name]

    def _store(self, name: str, content: bytes, alt: str) -> Picture:
        started = timezone.now()
        short = " ".join(alt.split())[:LONGEST_ALT]
        picture = store_picture(self.world, content, name=name, alt=short, by=self.by)
        # A file that was uploaded before is the stored picture.
        outcome = "created" if picture.created_at >= started else "unchanged"
        self.report.add("picture", picture, outcome, name=picture.name, source=name)
        if outcome == "created":
            self.new[picture.pk] = self.report.rows[-1]
        return picture


def is_secret(picture: Picture, text: str) -> bool:
    """Whether `text` shows the picture, and only in its secrets."""
    is_shown = picture.pk in picture_targets(text)
    return is_shown and picture.pk not in picture_targets(without_secrets(text))
