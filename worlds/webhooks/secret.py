"""The secrets with which messages are signed. They are needed in clear for each message, so they
are stored encrypted with a key that follows from `SECRET_KEY`: a copy of the database alone signs
nothing."""

import base64
import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils import timezone
from standardwebhooks import Webhook as Signer

from worlds.webhook_model import Webhook

SECRET_BYTES = 32


class SecretUnreadable(Exception):
    """`SECRET_KEY` was changed since the secret was stored."""


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def encrypt(text: str) -> str:
    return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()


def decrypt(stored: str) -> str:
    """Return the text, encrypted with the present key or a former one. Raises
    `SecretUnreadable`."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    try:
        return MultiFernet([_cipher(key) for key in keys]).decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise SecretUnreadable(
            "SECRET_KEY has changed since the secret was made: make a new secret."
        ) from error


@lru_cache(maxsize=4)
def _cipher(secret_key: str) -> Fernet:
    key = sha256(b"memory37 webhook secrets\0" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def rotate(webhook: Webhook, *, hours: int) -> str:
    """Give `webhook` a new secret and return it. Messages are signed with both for `hours`, so that
    the receiver can change over meanwhile."""
    text = new_secret()
    webhook.previous_secret = webhook.secret if hours else ""
    webhook.previous_secret_until = timezone.now() + timedelta(hours=hours) if hours else None
    webhook.secret = encrypt(text)
    webhook.save(update_fields=["secret", "previous_secret", "previous_secret_until", "updated_at"])
    return text


def signature_headers(
    webhook: Webhook, *, message_id: str, body: str, now: datetime
) -> dict[str, str]:
    """Return the headers of Standard Webhooks. Raises `SecretUnreadable`."""
    signatures = [Signer(each).sign(message_id, now, body) for each in _valid_secrets(webhook, now)]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _valid_secrets(webhook: Webhook, now: datetime) -> Iterator[str]:
    yield decrypt(webhook.secret)
    until = webhook.previous_secret_until
    if webhook.previous_secret and until and until > now:
        yield decrypt(webhook.previous_secret)
