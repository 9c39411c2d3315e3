"""REST endpoints for episodes, sessions, scenes with their scratch, threads and recaps."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router

from episodes import recaps, threads
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
from worlds.rest import NeedsKey, check_match, expecting, own_transaction, require_gm, tag
from worlds.rest_rows import digest_of_answer, set_location, with_tag

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
AsQuery = Annotated[str | None, Query(alias="as", max_length=120)]
PAGE = 100


def name_of(caller: Caller) -> str:
    """The name of the caller in stored history."""
    return str(caller.key or "site")[:150]


@router.post(
    "/episodes", operation_id="episode_ingest", summary="Ingest an episode", response=IngestReport
)
def ingest(request: HttpRequest, response: HttpResponse, summary: Body[EpisodeIn]) -> IngestReport:
    """Store the summary with all its effects (mentions, dispositions, reveals) in one transaction.
    The same version again changes nothing; a newer one replaces the older with its effects.
    """
    caller = require_gm(request)
    rows = Episode.objects.in_world(caller.world).in_campaign(caller.campaign)
    rows = rows.filter(external_id=summary.summary_id)
    with expecting(request, rows.values_list("version", flat=True).first()) as version:
        report = ingest_and_embed(caller, summary, version)
    tag(response, rows.values_list("version", flat=True).first())
    if report.outcome == "created":
        set_location(response, f"world/episodes/{report.summary_id}")
    return report


@router.post(
    "/episodes/bulk",
    operation_id="episode_ingest_bulk",
    summary="Ingest many episodes",
    response=BulkReport,
)
def ingest_bulk(request: HttpRequest, batch: Body[EpisodesIn]) -> BulkReport:
    """Up to 500 summaries, with a report on each; `atomic` writes all or none."""
    write = partial(ingest_and_embed, require_gm(request))
    return write_all(batch.episodes, EpisodeIn, write, atomic=batch.atomic, id_field="summary_id")


@router.get("/episodes", operation_id="episode_list", summary="List episodes", response=EpisodePage)
def list_episodes(
    request: HttpRequest,
    party_id: Annotated[str | None, Query(max_length=200)] = None,
    cursor: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
) -> dict[str, Any]:
    """The ones recorded last first; retracted ones are left out."""
    caller = require_gm(request)
    rows = Episode.objects.in_world(caller.world).in_campaign(caller.campaign).not_retracted()
    if party_id:
        rows = rows.of_party(find_party(caller.world, party_id, caller.campaign))
    if cursor:
        rows = rows.filter(id__lt=cursor)
    page = list(rows.with_source().order_by("-id")[: limit + 1])
    next_cursor = str(page[limit - 1].id) if len(page) > limit else None
    return {
        "episodes": [present_episode(row, GM) for row in page[:limit]],
        "next_cursor": next_cursor,
    }


@router.get(
    "/episodes/{ref}", operation_id="episode_get", summary="Get an episode", response=EpisodeOut
)
def get_episode(request: HttpRequest, response: HttpResponse, ref: Reference) -> EpisodeOut:
    """Its current version, by its summary id."""
    episode = find_callers_episode(require_gm(request), ref)
    tag(response, episode.version)
    return present_episode(episode, GM)


@router.post(
    "/episodes/{ref}/retract",
    operation_id="episode_retract",
    summary="Retract an episode",
    response=IngestReport,
)
def retract(request: HttpRequest, ref: Reference, why: Body[RetractionIn]) -> IngestReport:
    """Withdraw the episode with all its effects; its text stays as history."""
    caller = require_gm(request)
    episode = find_callers_episode(caller, ref)
    check_match(request, episode.version)
    return retract_episode(caller.world, episode.external_id, reason=why.reason)


@router.post(
    "/episodes/{ref}/restore",
    operation_id="episode_restore",
    summary="Undo a retraction",
    response=IngestReport,
)
def restore(request: HttpRequest, ref: Reference) -> IngestReport:
    """The current version of the episode takes effect again."""
    caller = require_gm(request)
    episode = find_callers_episode(caller, ref)
    check_match(request, episode.version)
    return restore_episode(caller.world, episode.external_id)


@router.delete(
    "/episodes/{ref}",
    operation_id="episode_erase",
    summary="Delete an episode permanently",
    response=ErasureReport,
)
def erase(request: HttpRequest, ref: Reference) -> ErasureReport:
    """Delete text, vector, versions, effects and history. To withdraw only its effects, retract
    it."""
    caller = require_gm(request)
    episode = find_callers_episode(caller, ref)
    check_match(request, episode.version)
    rows = erase_episode(caller.world, episode.external_id)
    return ErasureReport(summary_id=episode.external_id, rows=rows)


@router.get(
    "/threads", operation_id="thread_list", summary="List open threads", response=ThreadList
)
def list_threads(
    request: HttpRequest, party_id: Annotated[str | None, Query(max_length=200)] = None
) -> dict[str, Any]:
    """The hundred changed last, without their steps."""
    caller = require_gm(request)
    rows = Thread.objects.open().filter(world=caller.world).in_campaign(caller.campaign)
    if party_id:
        rows = rows.of_parties([find_party(caller.world, party_id, caller.campaign)])
    rows = rows.select_related("party", "scene", "episode")[:PAGE]
    return {"threads": [threads.present_thread(threads.ThreadWindow(row)) for row in rows]}


@router.post(
    "/threads/{thread_id}/steps",
    operation_id="thread_append",
    summary="Append steps to a thread",
    response=ThreadOut,
)
def append(
    request: HttpRequest, thread_id: Annotated[ExternalId, Path()], entry: Body[StepsIn]
) -> ThreadOut:
    """Creates the thread when it does not exist. Steps whose step id was sent before are
    skipped."""
    caller = require_gm(request)
    thread = threads.append_steps(caller.world, thread_id, entry, only=caller.campaign)
    return threads.present_thread(threads.read_thread(thread, last=len(entry.steps)))


@router.get(
    "/threads/{thread_id}",
    operation_id="thread_get",
    summary="Read the last steps of a thread",
    response=ThreadOut,
)
def get_thread(
    request: HttpRequest,
    response: HttpResponse,
    thread_id: Reference,
    last: Annotated[int | None, Query(ge=1, le=500)] = None,
    tokens: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> ThreadOut:
    """The last `last` steps, or as many as fit into `tokens`; oldest first. Without either, as many
    as fit into 32,000 tokens."""
    caller = require_gm(request)
    thread = find_thread(caller.world, thread_id, campaign=caller.campaign)
    return with_tag(
        response, threads.present_thread(threads.read_thread(thread, last=last, tokens=tokens))
    )


@router.post(
    "/threads/{thread_id}/consolidate",
    operation_id="thread_consolidate",
    summary="Consolidate a thread to an episode",
    response=IngestReport,
)
@own_transaction
def consolidate(request: HttpRequest, thread_id: Reference, entry: Body[ConsolidateIn]) -> Any:
    """Summarize the thread as an episode and close it. Doing it again changes nothing."""
    caller = require_gm(request)
    report = threads.consolidate(
        caller.world, thread_id, entry, came_from=name_of(caller), only=caller.campaign
    )
    embed_soon("episode")
    return report


@router.get(
    "/recaps/{level}/{ref}", operation_id="recap_get", summary="Get a recap", response=RecapOut
)
def get_recap(
    request: HttpRequest,
    response: HttpResponse,
    level: recaps.Level,
    ref: Reference,
    as_: AsQuery = None,
) -> RecapOut:
    """Of a scene, session, arc or campaign: for the game master or, with `as=party:<id>`, from what
    its players know.
    """
    caller = require_gm(request).as_audience(as_)
    recap = recaps.get_recap(find_recap_subject(caller, level, ref), caller.audience)
    return with_tag(response, recap)


@router.post(
    "/recaps/{level}/{ref}", operation_id="recap_build", summary="Build a recap", response=RecapOut
)
@own_transaction
def build_recap(
    request: HttpRequest,
    response: HttpResponse,
    level: recaps.Level,
    ref: Reference,
    as_: AsQuery = None,
) -> RecapOut:
    """Write and store it: by the language model when one is configured, else from sentences of the
    episodes.
    """
    caller = require_gm(request).as_audience(as_)
    subject = find_recap_subject(caller, level, ref)
    if "If-Match" in request.headers:
        check_match(request, digest_of_answer(recaps.get_recap(subject, caller.audience)))
    return with_tag(response, recaps.build_recap(subject, caller.audience))


def find_recap_subject(caller: Caller, level: recaps.Level, ref: str) -> recaps.Subject:
    if level == recaps.Level.CAMPAIGN:
        return find_campaign(caller.world, ref, only=caller.campaign)
    find: dict[recaps.Level, Any] = {
        recaps.Level.SCENE: find_scene,
        recaps.Level.SESSION: find_session,
        recaps.Level.ARC: find_arc,
    }
    subject: recaps.Subject = find[level](caller.world, ref, campaign=caller.campaign)
    return subject


def find_callers_episode(caller: Caller, ref: str) -> Episode:
    """Return the episode if it belongs to the campaign of the caller's key."""
    return find_episode(caller.world, ref, campaign=caller.campaign)


def ingest_and_embed(
    caller: Caller, summary: EpisodeIn, expected_version: int | None = None
) -> IngestReport:
    """Ingest the summary; after the commit, embed it and build the recap of its session."""
    with transaction.atomic():
        report = ingest_episode(
            caller.world,
            summary,
            came_from=name_of(caller),
            campaign=caller.campaign,
            expected_version=expected_version,
        )
        if report.outcome in ("created", "replaced"):
            embed_soon("episode")
            # Without a language model nothing is gained by building the recap before it is read.
            if settings.LLM_MODEL and summary.session_id:
                session = find_session(caller.world, summary.session_id)
                transaction.on_commit(lambda: recap_session.delay(str(session.pk)), robust=True)
    return report
