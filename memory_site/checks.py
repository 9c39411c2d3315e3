"""System checks of hosts and database, each with an id and a hint that says what to do."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connections

from worlds.webhooks.addresses import parse_networks

OLDEST_POSTGRES = 150_000
OLDEST_PGVECTOR = (0, 8)
SELECT_VERSIONS = """
SELECT current_setting('server_version_num')::int,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
"""


@register(Tags.security)
def hosts_are_named(**_kwargs: Any) -> list[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        hint = "Name the hosts that the site answers to: ALLOWED_HOSTS=memory.example.org"
        problem = "ALLOWED_HOSTS accepts every host name."
        return [Warning(problem, hint=hint, id="memory37.W001")]
    return []


@register(Tags.security)
def webhook_networks_are_sound(**_kwargs: Any) -> list[CheckMessage]:
    """Without this a webhook would be refused with a fault, long after the start."""
    for text in settings.WEBHOOK_PRIVATE_ADDRESSES:
        try:
            parse_networks((text,))
        except ValueError as error:
            problem = f"WEBHOOK_PRIVATE_ADDRESSES has no address or network: {error}."
            hint = "Separate networks by commas: WEBHOOK_PRIVATE_ADDRESSES=10.0.0.0/8,127.0.0.1"
            return [Error(problem, hint=hint, id="memory37.E005")]
    return []


@register(Tags.database)
def database_is_capable(
    databases: Sequence[str] | None = None, **_kwargs: Any
) -> list[CheckMessage]:
    """Check version and pgvector; run by `migrate` and by `check --database default`."""
    return [message for alias in databases or () for message in check_database(alias)]


def check_database(alias: str) -> list[CheckMessage]:
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(SELECT_VERSIONS)
            server, pgvector = cursor.fetchone()
    except DatabaseError as error:
        problem = f"The database cannot be reached: {str(error).strip()}"
        hint = "Correct DATABASE_URL, or remove it to use the embedded PostgreSQL."
        return [Error(problem, hint=hint, id="memory37.E001")]
    messages: list[CheckMessage] = []
    if server < OLDEST_POSTGRES:
        problem = f"PostgreSQL {server // 10_000} is too old."
        hint = "Use PostgreSQL 15 or newer, or remove DATABASE_URL to use the embedded one."
        messages.append(Error(problem, hint=hint, id="memory37.E002"))
    if not pgvector:
        problem = "The PostgreSQL server does not offer the extension pgvector."
        hint = (
            "Install pgvector 0.8 or newer on the server, "
            "or remove DATABASE_URL to use the embedded one."
        )
        messages.append(Error(problem, hint=hint, id="memory37.E003"))
    elif tuple(int(part) for part in pgvector.split(".")[:2]) < OLDEST_PGVECTOR:
        problem = f"pgvector {pgvector} is too old: filtered vector search would miss rows."
        hint = "Install pgvector 0.8 or newer and run ALTER EXTENSION vector UPDATE."
        messages.append(Error(problem, hint=hint, id="memory37.E004"))
    return messages
