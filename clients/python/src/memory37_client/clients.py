"""The two clients and how they are made."""

from typing import Self

from memory37_client.async_client import AsyncClient
from memory37_client.async_transport import AsyncHttpTransport
from memory37_client.exchange import Server, server_from_env
from memory37_client.generated.sync_client import SyncClient
from memory37_client.generated.sync_transport import SyncHttpTransport


class Memory37Client(AsyncClient):
    """Every tool as an async method with a typed answer, and every other operation by `request`.

    Use it as an async context manager, or `await client.close()`. Every method raises
    `Memory37Error`.
    """

    @classmethod
    def from_env(cls) -> Self:
        """Over HTTP to MEMORY37_URL with MEMORY37_API_KEY (and MEMORY37_WORLD, for a key of the
        whole installation); in process (in a configured Django) when there is no URL."""
        server = server_from_env()
        return cls(AsyncHttpTransport(server)) if server.url else cls.in_process(server.key)

    @classmethod
    def over_http(cls, url: str, key: str, *, world: str = "", timeout: float = 10.0) -> Self:
        """`timeout` in seconds, for each try."""
        return cls(AsyncHttpTransport(Server(url, key, world, timeout)))

    @classmethod
    def in_process(cls, key: str) -> Self:
        """Call the toolbox of this process; only possible where the site's own code runs."""
        from memory_site.in_process import InProcessTransport

        return cls(InProcessTransport(key))


class SyncMemory37Client(SyncClient):
    """Every tool as a method with a typed answer, and every other operation by `request`.

    Use it as a context manager, or `client.close()`. Every method raises `Memory37Error`.
    """

    @classmethod
    def from_env(cls) -> Self:
        """Over HTTP to MEMORY37_URL with MEMORY37_API_KEY (and MEMORY37_WORLD, for a key of the
        whole installation); raises `ValueError` when there is no URL."""
        server = server_from_env()
        if not server.url:
            raise ValueError("Set MEMORY37_URL to the address of the site.")
        return cls(SyncHttpTransport(server))

    @classmethod
    def over_http(cls, url: str, key: str, *, world: str = "", timeout: float = 10.0) -> Self:
        """`timeout` in seconds, for each try."""
        return cls(SyncHttpTransport(Server(url, key, world, timeout)))
