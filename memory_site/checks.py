"""System checks of hosts and database, each with an id and a hint that says what to do."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import psycopg
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from memory_site.broker import SERVER_OPTIONS, broker_scheme, probe_database
from memory_site.migration_state import migration_state
from memory_site.version import VERSION
from worlds.webhooks.addresses import parse_networks

REDIS = ("redis", "Run pip install -r requirements-redis.txt (or memory37[redis]).")
RABBITMQ = ("amqp", "Run pip install -r requirements-rabbitmq.txt (or memory37[rabbitmq]).")
BROKER_PACKAGES = {"redis": REDIS, "rediss": REDIS, "amqp": RABBITMQ, "amqps": RABBITMQ}
"""By scheme: the package of the client and how it is installed."""
OLDEST_POSTGRES = 150_000
OLDEST_PGVECTOR = (0, 8)
SELECT_VERSIONS = """
SELECT current_setting('server_version_num')::int,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
    EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
      OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      OR EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND trusted),
    current_database()
"""


@register(Tags.security)
def hosts_are_named(**_kwargs: Any) -> list[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        hint = "Name the hosts that the site answers to: ALLOWED_HOSTS=memory.example.org"
        problem = "ALLOWED_HOSTS accepts every host name."
        return [Warning(problem, hint=hint, id="memory37.W001")]
    return []


@register(Tags.security, deploy=True)
def metrics_have_a_token(**_kwargs: Any) -> list[CheckMessage]:
    if settings.METRICS and not settings.METRICS_TOKEN:
        problem = "/metrics answers everybody who reaches the site, also through the proxy."
        hint = "Set METRICS_TOKEN, and give it to Prometheus (docs/deploy/prometheus)."
        return [Warning(problem, hint=hint, id="memory37.W002")]
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


@register()
def broker_is_installed(**_kwargs: Any) -> list[CheckMessage]:
    scheme = broker_scheme()
    if not settings.CELERY_BROKER_URL:
        return []
    if scheme not in SERVER_OPTIONS:
        problem = f"CELERY_BROKER_URL names a broker that is not supported: {scheme}://"
        hint = "Use redis://, amqp:// (RabbitMQ), or leave it empty for the one in the database."
        return [Error(problem, hint=hint, id="memory37.E006")]
    package, hint = BROKER_PACKAGES[scheme]
    if find_spec(package) is None:
        problem = f"The broker of CELERY_BROKER_URL needs the package {package}."
        return [Error(problem, hint=hint, id="memory37.E007")]
    return []


@register(Tags.database)
def database_is_capable(
    databases: Sequence[str] | None = None, **_kwargs: Any
) -> list[CheckMessage]:
    """Check version and pgvector; run by `migrate` and by `check --database default`."""
    return [message for alias in databases or () for message in check_database(alias)]


def check_database(alias: str) -> list[CheckMessage]:
    try:
        if alias == DEFAULT_DB_ALIAS:
            probe_database()
        with connections[alias].cursor() as cursor:
            cursor.execute(SELECT_VERSIONS)
            server, pgvector, is_creatable, name = cursor.fetchone()
    except (DatabaseError, psycopg.OperationalError) as error:
        problem = f"The database cannot be reached: {str(error).strip()}"
        hint = (
            "Start the server that DATABASE_URL names, or correct DATABASE_URL, or remove it to "
            "use the embedded PostgreSQL."
        )
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
    elif not is_creatable:
        problem = "The extension vector is not in the database, and this role may not create it."
        hint = f'As a superuser, once: psql -d {name} -c "CREATE EXTENSION vector"'
        messages.append(Error(problem, hint=hint, id="memory37.E009"))
    return messages + check_that_code_is_not_older()


def check_that_code_is_not_older() -> list[CheckMessage]:
    """Run by `migrate` too, which would otherwise say that nothing is to be done."""
    if not (newer := migration_state().newer):
        return []
    some = ", ".join(newer[:3]) + (" …" if len(newer) > 3 else "")
    problem = f"The database was migrated by a newer version than this one ({VERSION}): {some}."
    hint = (
        "Install that version again, or restore the backup made before the upgrade "
        "(docs/upgrading.md). This version would not know what its columns mean."
    )
    return [Error(problem, hint=hint, id="memory37.E008")]
