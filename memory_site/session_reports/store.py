"""Store reports while they wait for their review. The same text is stored once in a world."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.models import Session, Thread
from episodes.report_models import SessionNote, SessionReport
from memory_site.run_lock import LOST_AFTER, MOST_TRIES, REPORTS, run_lock
from memory_site.session_reports.lexicon import is_mark
from memory_site.session_reports.proposal import Proposal
from memory_site.session_reports.propose import Report, propose_by_rules, require_report
from memory_site.session_reports.read_with_model import propose
from retrieval.errors import Invalid
from retrieval.text import WORD_OR_NUMBER
from worlds.models import Party, World

READ_AT_ONCE = 12_000
"""Characters that are read while the page is asked for; more are read by the worker."""
State = SessionReport.State


def digest_of_text(text: str) -> str:
    """Equal for texts of the same words, whatever their case, punctuation and spacing."""
    words = " ".join(WORD_OR_NUMBER.findall(text.casefold())) or text
    return hashlib.sha256(words.encode()).hexdigest()


def same_report(world: World, text: str) -> SessionReport | None:
    """Return the report with the same words, if there is one."""
    reports = SessionReport.objects.filter(world=world, digest=digest_of_text(text))
    return reports.select_related("session", "episode").first()


def add_report(
    session: Session, party: Party, text: str, *, author: str, notes: Sequence[SessionNote] = ()
) -> tuple[SessionReport, bool]:
    """Store a report with the notes from play that are read with it. Returns it, and whether it is
    new: the same text again is the report that is there. Raises `Invalid`."""
    if party.campaign_id != session.campaign_id:
        raise Invalid(_("The party does not play in the campaign of this session."))
    text = text.replace("\x00", "").strip()
    whole = "\n\n".join([text, *(note.text for note in notes)]).strip()
    require_report(whole)
    if known := same_report(session.world, whole):
        return known, False
    try:
        with transaction.atomic():
            report = SessionReport.objects.create(
                world=session.world,
                party=party,
                session=session,
                author=author,
                text=text,
                digest=digest_of_text(whole),
            )
            SessionNote.objects.filter(pk__in=[note.pk for note in notes]).update(report=report)
    except IntegrityError:
        # Pasted in two tabs at the same moment.
        known = same_report(session.world, whole)
        assert known
        return known, False
    return report, True


def transcript_of(thread: Thread) -> str:
    """Return the steps of a thread as a text, each line with who spoke. A game master is left out:
    `GM:` before a sentence would mark it as a secret."""
    steps = thread.steps.order_by("number").values_list("speaker", "text")
    return "\n".join(
        f"{speaker}: {text}" if speaker and not is_mark(speaker) else text
        for speaker, text in steps
    )


def session_for(thread: Thread) -> Session | None:
    """Return the session in which the thread was played: that of its scene, else the latest one of
    its party."""
    if thread.scene and thread.scene.session:
        return thread.scene.session
    rows = Session.objects.filter(party=thread.party).order_by("-number", "-created_at")
    latest: Session | None = rows.select_related("world").first()
    return latest


def is_read_at_once(report: SessionReport) -> bool:
    return not settings.LLM_MODEL and len(report.text) <= READ_AT_ONCE


def read_report(report: SessionReport, *, with_model: bool = True) -> SessionReport:
    """Propose an episode from the report. With a language model this must not run inside a
    transaction. A report that was read meanwhile stays as it is."""

    def note_progress(share: float) -> None:
        SessionReport.objects.filter(pk=report.pk).update(progress=min(99, int(100 * share)))

    notes = report.notes.order_by("id").values_list("text", flat=True)
    source = Report(report.party, report.text, notes=list(notes))
    proposal = propose(source, progress=note_progress) if with_model else propose_by_rules(source)
    rows = SessionReport.objects.filter(pk=report.pk, state=State.READING)
    rows.update(proposal=proposal.model_dump(mode="json"), state=State.OPEN, progress=100)
    report.refresh_from_db()
    return report


def read_by_worker(pk: UUID) -> None:
    """Read a report as the worker does: once, however often its message comes. When the worker
    stopped each time, rules read it, which need no other server and less memory."""
    with run_lock(pk, REPORTS) as is_ours:
        rows = SessionReport.objects.select_related("party__world", "party__campaign")
        report = rows.filter(pk=pk, state=State.READING).first()
        if not is_ours or report is None:
            return
        SessionReport.objects.filter(pk=pk).update(tries=F("tries") + 1)
        read_report(report, with_model=report.tries < MOST_TRIES)


def unread_reports() -> list[SessionReport]:
    """Reports for the worker whose message may be lost; one that another worker reads is among
    them. What not even rules could read is left to people."""
    rows = SessionReport.objects.filter(state=State.READING, tries__lte=MOST_TRIES)
    return list(rows.filter(created_at__lt=timezone.now() - LOST_AFTER).only("pk"))


def proposal_of(report: SessionReport) -> Proposal:
    return Proposal.model_validate(report.proposal)
