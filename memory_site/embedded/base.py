"""Our PostgreSQL backend, over a server that is started when the first connection wants it."""

from typing import Any

from django.conf import settings

from memory_site.database import base
from memory_site.embedded.server import EmbeddedServer

SERVER = EmbeddedServer(settings.VAR_DIR / "postgres")


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "host": SERVER.host()}
