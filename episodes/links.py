"""What episodes do for links: links in what happened and in notes, and the things that the text
names without a link."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from episodes.models import Episode
from episodes.schemas import EpisodeIn, IngestReport
from episodes.titles import title_of
from knowledge.link_models import Link
from knowledge.links.excerpts import excerpt
from knowledge.mentions.kinds import LinkedThing, NamedThing, SourceText
from knowledge.mentions.store import forget_sources, save_links_of
from worlds.audiences import Audience
from worlds.models import Party, World


class EpisodeLinks:
    kind = "episode"
    has_names = False

    def _rows(self, world: World, audience: Audience) -> Any:
        return Episode.objects.in_world(world).visible_to(audience).not_retracted()

    def named_things(self, *_args: Any, **_options: Any) -> Iterable[NamedThing]:
        return ()

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterator[LinkedThing]:
        rows = self._rows(world, audience).filter(pk__in=ids).with_source()
        for episode in rows:
            yield self._thing(episode, audience)

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None:
        rows = self._rows(world, audience).filter(external_id=slug).with_source()
        return next((self._thing(episode, audience) for episode in rows), None)

    def _thing(self, episode: Episode, audience: Audience) -> LinkedThing:
        label = " · ".join(filter(None, [episode.party.name, episode.in_world_label]))
        return LinkedThing(
            episode.pk,
            self.kind,
            episode.external_id,
            title_of(episode, audience),
            label,
            language=episode.language,
            visibility=episode.visibility,
        )

    def visible(self, links: QuerySet[Link], world: World, audience: Audience) -> QuerySet[Link]:
        rows = self._rows(world, audience)
        links = links.filter(source_kind=self.kind, source_id__in=rows.values("pk"))
        return links if audience.is_gm else links.filter(secret=False)

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        rows = Episode.objects.filter(pk__in={link.source_id for link in links})
        texts = dict(rows.visible_to(audience).values_list("pk", "text"))
        return {link.pk: excerpt(texts.get(link.source_id, ""), link.raw) for link in links}

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterator[SourceText]:
        rows = Episode.objects.in_world(world).not_retracted()
        rows = rows if ids is None else rows.filter(pk__in=ids)
        columns = ("pk", "what", "notes", "campaign")
        for pk, what, notes, campaign in rows.values_list(*columns):
            yield SourceText(pk, "what", what, with_names=True, campaign=campaign)
            yield SourceText(pk, "notes", notes, hidden=True, campaign=campaign)

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        return dict(Episode.objects.filter(pk__in=ids).values_list("pk", "campaign"))

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        """Rewrite links in the current texts. Stored versions stay as the engine sent them, so the
        engine's version and digest stay valid; the old name in them is an alias by then."""
        names = ("what", "notes", "text")
        changed = []
        for episode in Episode.objects.select_for_update().filter(world=world, pk__in=ids):
            before = [getattr(episode, name) for name in names]
            for name, text in zip(names, before, strict=True):
                setattr(episode, name, change(text))
            if before != [getattr(episode, name) for name in names]:
                episode.save(update_fields=[*names, "updated_at"])
                changed.append(episode.pk)
        save_links_of(world, self.kind, changed)
        return len(changed)

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> None:
        """Nothing: links do not name episodes."""


class EpisodeLinkRows:
    """The effect of an episode on links (`settings.EPISODE_EFFECTS`)."""

    def plan(self, _party: Party, _summary: EpisodeIn) -> None:
        return None

    def write(self, episode: Episode, _plan: None, _report: IngestReport) -> None:
        save_links_of(episode.world, EpisodeLinks.kind, [episode.pk])

    def withdraw(self, episode: Episode) -> None:
        forget_sources(EpisodeLinks.kind, [episode.pk])
