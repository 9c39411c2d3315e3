"""The client of Memory37, async and sync.

from memory37_client import SyncMemory37Client

with SyncMemory37Client.from_env() as memory:
    answer = memory.rules_lookup("grappled")
    print(answer.hits[0].title, answer.hits[0].text)
"""

from memory37_client.base import OpenModel
from memory37_client.clients import Memory37Client, SyncMemory37Client
from memory37_client.errors import Memory37Error
from memory37_client.events import Event

__all__ = ["Event", "Memory37Client", "Memory37Error", "OpenModel", "SyncMemory37Client"]
