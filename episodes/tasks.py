"""Background tasks of episodes."""

from celery import shared_task

from episodes import recaps, threads
from episodes.models import Session
from worlds.audiences import GM, audience_of_party


@shared_task
def expire_threads() -> int:
    return threads.expire_threads()


@shared_task
def recap_session(session_id: str) -> int:
    """Build the recaps of a session for the game master and for its party. Returns how many were
    built.
    """
    session = Session.objects.select_related("world", "party").filter(pk=session_id).first()
    if session is None:
        return 0
    audiences = [GM, *([audience_of_party(session.party)] if session.party else [])]
    for audience in audiences:
        recaps.build_recap(session, audience)
    return len(audiences)
