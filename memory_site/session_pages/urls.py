"""Addresses of the pages about sessions, reports and episodes; `world` is the slug of a world."""

from django.urls import path

from memory_site.session_pages import episode_pages as episodes
from memory_site.session_pages import recap_pages as recaps
from memory_site.session_pages import report_pages as reports
from memory_site.session_pages import session_edit_pages as sessions

REPORT = "sessions/<str:ref>/reports/<uuid:report>/"

urlpatterns = [
    path("sessions/new/", sessions.new_session, name="session-new"),
    path("sessions/<str:ref>/edit/", sessions.edit_session, name="session-edit"),
    path("sessions/<str:ref>/move/", sessions.move, name="session-move"),
    path("sessions/<str:ref>/delete/", sessions.delete_session, name="session-delete"),
    path("sessions/<str:ref>/after/", reports.after, name="session-after"),
    path("sessions/<str:ref>/episodes/new/", episodes.new_episode, name="episode-new"),
    path("sessions/<str:ref>/recap/", recaps.recap_page, name="session-recap"),
    path("sessions/<str:ref>/recap/send/", recaps.send_recap, name="session-recap-send"),
    path(REPORT, reports.report_page, name="session-report"),
    path(f"{REPORT}progress/", reports.report_progress, name="session-report-progress"),
    path(f"{REPORT}read/", reports.read_now, name="session-report-read"),
    path(f"{REPORT}drop/", reports.drop, name="session-report-drop"),
    path("episodes/<str:ref>/correct/", episodes.correct_episode, name="episode-correct"),
    path("episodes/<str:ref>/retract/", episodes.retract, name="episode-retract"),
    path("episodes/<str:ref>/restore/", episodes.restore, name="episode-restore"),
    path("episodes/<str:ref>/delete/", episodes.erase, name="episode-erase"),
    path("threads/<str:ref>/propose/", reports.propose_from_thread, name="thread-propose"),
    path("notes/", sessions.quick_note, name="quick-note"),
    path("notes/<uuid:note>/delete/", sessions.delete_note, name="note-delete"),
    path("loose-ends/<uuid:loose_end>/", sessions.change_loose_end, name="loose-end-change"),
]
