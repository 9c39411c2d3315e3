"""The texts that proposals are read from: canon entries of lore, episodes, and threads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from episodes.lookup import find_episode, find_thread
from episodes.models import Episode, Thread
from knowledge.extraction.narrative import TITLES_OF_FILES
from knowledge.fact_proposal_model import FactProposal, LatestReading
from knowledge.models import Lore
from knowledge.upsert import find_lore_entry
from retrieval.errors import Invalid
from retrieval.text import fold_name, split_secrets
from worlds.audiences import Visibility
from worlds.models import Campaign, World

Source = FactProposal.Source
LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
MARKS = re.compile(r"(?m)^[ \t]*>[ \t]|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|^:::.*$")
"""Marks of lists, tables and headings stay: such lines are read apart."""


SAVE_WINDOW = 30
"""Seconds whose saves are read together: drafts are saved while somebody types, and an import saves
thousands."""


LONGEST_UNREAD = timedelta(days=1)
"""What was saved before and never read is read when somebody asks for it."""


@dataclass(frozen=True)
class ReadableText:
    """A text with what players may read of it. Both have the same length: places in one are places
    in the other. `quoted` is the text as it is stored."""

    kind: FactProposal.Source
    id: UUID
    ref: str
    version: int
    quoted: str
    whole: str
    open: str
    visibility: str = Visibility.GM
    known_to: tuple[str, ...] = ()
    saved_at: datetime | None = None
    """Of entries and episodes, which are read again when they are saved."""

    def with_markup(self, start: int, end: int) -> tuple[int, int]:
        """Return [start, end) with the links and the emphasis that it begins or ends in: of
        `[[Mira]] sings.` all, where the words alone begin after the brackets."""
        for link in LINK.finditer(self.quoted):
            if link.start() < start < link.end():
                start = link.start()
            if link.start() < end < link.end():
                end = link.end()
        while start and self._is_mark(start - 1):
            start -= 1
        while end < len(self.whole) and self._is_mark(end):
            end += 1
        return start, end

    def _is_mark(self, place: int) -> bool:
        return self.whole[place].isspace() and not self.quoted[place].isspace()


def text_of_entry(entry: Lore) -> ReadableText | None:
    """None for an entry of a campaign: the graph is canon. Of a licence or a manual of a vault
    nothing is read."""
    if entry.campaign_id:
        return None
    is_draft = entry.status == Lore.Status.DRAFT
    if fold_name(entry.title) in TITLES_OF_FILES:
        whole = players = _blank(entry.body)
    else:
        whole = _plain(entry.body)
        parts = split_secrets(entry.body)
        players = _plain("".join(_blank(text) if hidden else text for text, hidden in parts))
    return ReadableText(
        Source.LORE,
        entry.pk,
        entry.slug,
        entry.version,
        entry.body,
        whole,
        players,
        Visibility.GM if is_draft else entry.visibility,
        () if is_draft else tuple(entry.known_to),
        entry.updated_at,
    )


def text_of_episode(episode: Episode) -> ReadableText:
    """What is read in an episode stays with game masters until they decide otherwise."""
    text = episode.what
    version = getattr(episode, "version", 1) or 1
    return ReadableText(
        Source.EPISODE,
        episode.pk,
        episode.external_id,
        version,
        text,
        _plain(text),
        "",
        saved_at=episode.updated_at,
    )


def text_of_thread(thread: Thread) -> ReadableText:
    text = "\n".join(thread.steps.order_by("number").values_list("text", flat=True))
    return ReadableText(Source.THREAD, thread.pk, thread.external_id, 1, text, _plain(text), "")


def find_source(
    world: World, kind: str, ref: str, *, campaign: Campaign | None = None
) -> ReadableText:
    """Return the text; with `campaign`, to which the caller's key is bound, none of others. Raises
    `NotFound`, and `Invalid` for an entry of a campaign."""
    if kind == Source.EPISODE:
        return text_of_episode(find_episode(world, ref, campaign=campaign))
    if kind == Source.THREAD:
        return text_of_thread(find_thread(world, ref, campaign=campaign))
    source = text_of_entry(find_lore_entry(world, ref))
    if source is None:
        raise Invalid(_("Proposals are for canon: an entry of a campaign is not read."))
    return source


def texts_of_world(world: World) -> Iterator[ReadableText]:
    """Yield every text of a world; drafts of lore, too, for game masters."""
    for entry in Lore.objects.in_world(world).filter(campaign=None).order_by("pk").iterator():
        if source := text_of_entry(entry):
            yield source
    for episode in Episode.objects.in_world(world).not_retracted().order_by("pk").iterator():
        yield text_of_episode(episode)
    for thread in Thread.objects.filter(world=world, episode=None).order_by("pk").iterator():
        yield text_of_thread(thread)


MOST_TRIES = 3
"""Sweeps that try to read a text: one that cannot be read must not take their time for good."""


def unread_texts(now: datetime, *, most: int) -> Iterator[tuple[World, ReadableText]]:
    """Yield the entries and episodes of all worlds that were saved within the last day, long enough
    ago for their message, and were neither read since nor tried too often; at most so many of
    each."""
    is_settled = Q(unfinished=0) | Q(unfinished__gte=MOST_TRIES)
    read = LatestReading.objects.filter(
        is_settled, source_id=OuterRef("pk"), saved_at__gte=OuterRef("updated_at")
    )
    saved = {
        "updated_at__gte": now - LONGEST_UNREAD,
        "updated_at__lt": now - timedelta(seconds=3 * SAVE_WINDOW),
    }
    entries = Lore.objects.filter(~Exists(read), campaign=None, **saved)
    for entry in entries.select_related("world").order_by("updated_at", "pk")[:most]:
        if source := text_of_entry(entry):
            yield entry.world, source
    episodes = Episode.objects.not_retracted().filter(~Exists(read), **saved)
    for episode in episodes.select_related("world").order_by("updated_at", "pk")[:most]:
        yield episode.world, text_of_episode(episode)


def texts_saved(world: World, begin: datetime) -> Iterator[ReadableText]:
    """Yield the entries and episodes of a world that were saved last within `SAVE_WINDOW` seconds
    from `begin`."""
    saved = {"updated_at__gte": begin, "updated_at__lt": begin + timedelta(seconds=SAVE_WINDOW)}
    entries = Lore.objects.in_world(world).filter(campaign=None, **saved)
    for entry in entries.order_by("pk").iterator():
        if source := text_of_entry(entry):
            yield source
    episodes = Episode.objects.in_world(world).not_retracted().filter(**saved)
    for episode in episodes.order_by("pk").iterator():
        yield text_of_episode(episode)


def _plain(text: str) -> str:
    """Return the text with blanks for the marks of links and Markdown, so that it keeps its
    length."""

    def words_of_link(link: re.Match[str]) -> str:
        start = link.start(1) - link.start()
        return " " * start + link[1] + " " * (len(link[0]) - start - len(link[1]))

    return MARKS.sub(lambda mark: " " * len(mark[0]), LINK.sub(words_of_link, text))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
