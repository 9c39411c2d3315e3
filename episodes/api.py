"""REST for engines: episodes, sessions, scenes with their scratch, threads, recaps."""

from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from ninja import Body, Path, Query, Router

from episodes import recaps, scenes, threads
from episodes.erasure import erase_episode
from episodes.field_types import ExternalId
from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.lookup import find_arc, find_episode, find_scene, find_session, find_thread
from episodes.models import Episode, Thread
from episodes.queries import present_episode
from episodes.schemas import (
    ConsolidateIn,
    EpisodeIn,
    EpisodeOut,
    EpisodePage,
    EpisodesIn,
    ErasureReport,
    IngestReport,
    RecapOut,
    RetractionIn,
    SceneIn,
    SceneOut,
    ScratchIn,
    SessionIn,
    SessionOut,
    StepsIn,
    ThreadList,
    ThreadOut,
)
from episodes.tasks import recap_session
from retrieval.tasks import embed_soon
from worlds.audiences import GM
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_campaign, find_party
from worlds.rest import NeedsKey, own_transaction, require_gm

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
AsQuery = Annotated[str | None, Query(alias="as", max_length=120)]
PAGE = 100


def name_of(caller: Caller) -> str:
    return str(caller.key or "site")[:150]


@router.post(
    "/episodes",
    operation_id="episode_ingest",
    summary="Record what happened",
    response=IngestReport,
)
def ingest(request: HttpRequest, summary: Body[EpisodeIn]) -> IngestReport:
    """The summary with all that follows from it: mentions, dispositions, reveals, in one
    transaction. The same version again changes nothing; a newer one replaces the older with its
    effects.
    """
    caller = require_gm(request)
    return _ingested(caller, summary)


@router.post(
    "/episodes/bulk", operation_id="episode_ingest_bulk", summary="Record many", response=BulkReport
)
def ingest_bulk(request: HttpRequest, batch: Body[EpisodesIn]) -> BulkReport:
    """Up to 500 summaries with a report on each; `atomic` writes all or none."""
    caller = require_gm(request)

    def write(item: Any) -> tuple[str, str]:
        report = _ingested(caller, EpisodeIn.model_validate(item))
        return report.summary_id, report.outcome

    return write_all(batch.episodes, write, atomic=batch.atomic)


@router.get(
    "/episodes", operation_id="episode_list", summary="Episodes, latest first", response=EpisodePage
)
def list_episodes(
    request: HttpRequest,
    party_id: Annotated[str | None, Query(max_length=200)] = None,
    cursor: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
) -> dict[str, Any]:
    """In the order in which they were first recorded; retracted ones are left out."""
    caller = require_gm(request)
    rows = (
        Episode.objects.in_world(caller.world)
        .in_campaign(caller.campaign)
        .not_retracted()
        .with_source()
        .order_by("-id")
    )
    if party_id:
        rows = rows.of_party(find_party(caller.world, party_id, caller.campaign))
    if cursor:
        rows = rows.filter(id__lt=cursor)
    page = list(rows[: limit + 1])
    following = str(page[limit - 1].id) if len(page) > limit else None
    return {
        "episodes": [present_episode(row, GM) for row in page[:limit]],
        "next_cursor": following,
    }


@router.get(
    "/episodes/{ref}", operation_id="episode_get", summary="One episode", response=EpisodeOut
)
def get_episode(request: HttpRequest, ref: Reference) -> EpisodeOut:
    """As it stands now, by its summary id."""
    return present_episode(_episode(require_gm(request), ref), GM)


@router.post(
    "/episodes/{ref}/retract",
    operation_id="episode_retract",
    summary="Take it back",
    response=IngestReport,
)
def retract(request: HttpRequest, ref: Reference, why: Body[RetractionIn]) -> IngestReport:
    """The episode and all its effects no longer count; its text stays as history."""
    caller = require_gm(request)
    return retract_episode(caller.world, _episode(caller, ref).external_id, reason=why.reason)


@router.post(
    "/episodes/{ref}/restore",
    operation_id="episode_restore",
    summary="Undo a retraction",
    response=IngestReport,
)
def restore(request: HttpRequest, ref: Reference) -> IngestReport:
    """The version that stood stands again, with its effects."""
    caller = require_gm(request)
    return restore_episode(caller.world, _episode(caller, ref).external_id)


@router.delete(
    "/episodes/{ref}",
    operation_id="episode_erase",
    summary="Delete it for good",
    response=ErasureReport,
)
def erase(request: HttpRequest, ref: Reference) -> ErasureReport:
    """Text, vector, versions, effects, history: nothing of it is left. To take back only what it
    did, retract it.
    """
    caller = require_gm(request)
    episode = _episode(caller, ref)
    return ErasureReport(
        summary_id=episode.external_id, rows=erase_episode(caller.world, episode.external_id)
    )


@router.put(
    "/sessions", operation_id="session_upsert", summary="Tell of a session", response=SessionOut
)
def upsert_session(request: HttpRequest, entry: Body[SessionIn]) -> SessionOut:
    """Create or change it by its id."""
    return SessionOut.of(scenes.upsert_session(require_gm(request).world, entry))


@router.put("/scenes", operation_id="scene_upsert", summary="Tell of a scene", response=SceneOut)
def upsert_scene(request: HttpRequest, entry: Body[SceneIn]) -> SceneOut:
    """Create or change it by its id."""
    return SceneOut.of(scenes.upsert_scene(require_gm(request).world, entry))


@router.post(
    "/scenes/{ref}/end", operation_id="scene_end", summary="End a scene", response=SceneOut
)
def end_scene(request: HttpRequest, ref: Reference) -> SceneOut:
    """Its working memory goes."""
    return SceneOut.of(scenes.end_scene(find_scene(require_gm(request).world, ref)))


@router.get(
    "/scenes/{ref}/scratch",
    operation_id="scratch_get",
    summary="Working memory",
    response=dict[str, Any],
)
def get_scratch(request: HttpRequest, ref: Reference) -> dict[str, Any]:
    """Everything jotted down for the scene."""
    return scenes.read_scratch(find_scene(require_gm(request).world, ref))


@router.put(
    "/scenes/{ref}/scratch/{key}",
    operation_id="scratch_put",
    summary="Jot down",
    response=dict[str, Any],
)
def put_scratch(
    request: HttpRequest, ref: Reference, key: Annotated[ExternalId, Path()], note: Body[ScratchIn]
) -> Any:
    """Kept until the scene ends."""
    scene = find_scene(require_gm(request).world, ref)
    scenes.write_scratch(scene, key, note.value)
    return scenes.read_scratch(scene)


@router.get("/threads", operation_id="thread_list", summary="Open threads", response=ThreadList)
def list_threads(
    request: HttpRequest, party_id: Annotated[str | None, Query(max_length=200)] = None
) -> dict[str, Any]:
    """The hundred that were added to last, without their steps."""
    caller = require_gm(request)
    rows = (
        Thread.objects.open().filter(world=caller.world).select_related("party", "scene", "episode")
    )
    if party_id:
        rows = rows.of_parties([find_party(caller.world, party_id, caller.campaign)])
    return {"threads": [threads.present_thread(threads.ThreadWindow(row)) for row in rows[:PAGE]]}


@router.post(
    "/threads/{thread_id}/steps",
    operation_id="thread_append",
    summary="Add steps",
    response=ThreadOut,
)
def append(
    request: HttpRequest, thread_id: Annotated[ExternalId, Path()], entry: Body[StepsIn]
) -> ThreadOut:
    """The thread is opened when it does not exist. A step id that was sent before is not written
    again.
    """
    thread = threads.append_steps(require_gm(request).world, thread_id, entry)
    return threads.present_thread(threads.read_thread(thread, last=len(entry.steps)))


@router.get(
    "/threads/{thread_id}", operation_id="thread_get", summary="Its last steps", response=ThreadOut
)
def get_thread(
    request: HttpRequest,
    thread_id: Reference,
    last: Annotated[int | None, Query(ge=1, le=500)] = None,
    tokens: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> ThreadOut:
    """Oldest first: the last `last`, or as many as fit into `tokens`."""
    thread = find_thread(require_gm(request).world, thread_id)
    return threads.present_thread(threads.read_thread(thread, last=last, tokens=tokens))


@router.post(
    "/threads/{thread_id}/consolidate",
    operation_id="thread_consolidate",
    summary="Make an episode",
    response=IngestReport,
)
@own_transaction
def consolidate(request: HttpRequest, thread_id: Reference, entry: Body[ConsolidateIn]) -> Any:
    """Sum the thread up as an episode and close it. Doing it again changes nothing."""
    caller = require_gm(request)
    report = threads.consolidate(caller.world, thread_id, entry, came_from=name_of(caller))
    embed_soon("episode")
    return report


@router.get(
    "/recaps/{level}/{ref}",
    operation_id="recap_get",
    summary="What happened, in short",
    response=RecapOut,
)
def get_recap(
    request: HttpRequest, level: recaps.Level, ref: Reference, as_: AsQuery = None
) -> RecapOut:
    """Of a scene, session, arc or campaign, for the game master or, with `as=party:<id>`, what its
    players know.
    """
    caller = require_gm(request).as_audience(as_)
    return recaps.get_recap(_subject(caller, level, ref), caller.audience)


@router.post(
    "/recaps/{level}/{ref}", operation_id="recap_build", summary="Recap anew", response=RecapOut
)
@own_transaction
def build_recap(
    request: HttpRequest, level: recaps.Level, ref: Reference, as_: AsQuery = None
) -> RecapOut:
    """Make and keep it: by the language model when one is configured, else from the episodes' own
    sentences.
    """
    caller = require_gm(request).as_audience(as_)
    return recaps.build_recap(_subject(caller, level, ref), caller.audience)


def _subject(caller: Caller, level: recaps.Level, ref: str) -> recaps.Subject:
    find: dict[recaps.Level, Any] = {
        recaps.Level.SCENE: find_scene,
        recaps.Level.SESSION: find_session,
        recaps.Level.ARC: find_arc,
        recaps.Level.CAMPAIGN: find_campaign,
    }
    subject: recaps.Subject = find[level](caller.world, ref)
    return subject


def _episode(caller: Caller, ref: str) -> Episode:
    return find_episode(caller.world, ref, campaign=caller.campaign)


def _ingested(caller: Caller, summary: EpisodeIn) -> IngestReport:
    with transaction.atomic():
        report = ingest_episode(
            caller.world, summary, came_from=name_of(caller), campaign=caller.campaign
        )
        if report.outcome in ("created", "replaced"):
            embed_soon("episode")
            _recap_soon(caller, summary)
    return report


def _recap_soon(caller: Caller, summary: EpisodeIn) -> None:
    """Without a language model a recap is made when it is read."""
    if settings.LLM_MODEL and summary.session_id:
        session = find_session(caller.world, summary.session_id)
        transaction.on_commit(lambda: recap_session.delay(str(session.pk)), robust=True)
