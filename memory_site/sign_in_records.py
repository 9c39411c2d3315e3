"""What is stored of sign-ins: sessions, and who signed in or failed to, from which address and with
which browser (django-axes)."""

from datetime import timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

RECORDS = (AccessAttempt, AccessFailureLog, AccessLog)


def delete_old_sign_ins() -> dict[str, int]:
    """Delete sessions that have ended, and records of sign-ins older than `AUDIT_DAYS` (0: never).
    Returns how many of each."""
    now, records = timezone.now(), 0
    sessions, _by_model = Session.objects.filter(expire_date__lt=now).delete()
    if settings.AUDIT_DAYS:
        before = now - timedelta(days=settings.AUDIT_DAYS)
        for model in RECORDS:
            records += model.objects.filter(attempt_time__lt=before).delete()[0]
    return {"sessions": sessions, "sign-ins": records}
