"""Agent memory: observations (never changed), the memories derived from them, and their history."""

from memories.models.allowances import EventAllowance
from memories.models.code_rules import AgentState, CodeRuleOutcome, StoredCodeRule
from memories.models.conversation import Message
from memories.models.cores import CoreLine, CoreLineSource, CoreProposal, CoreVersion
from memories.models.erasures import ErasureReceipt, Tombstone
from memories.models.hearsay import Hearsay, RememberedEpisode
from memories.models.items import ClientVector, Evidence, MemoryItem, StateChange, Succession
from memories.models.namespaces import HealthReading, Namespace
from memories.models.observations import Observation
from memories.models.reflections import Insight, InsightSource, Reflection, Trigger

__all__ = [
    "AgentState",
    "ClientVector",
    "CodeRuleOutcome",
    "CoreLine",
    "CoreLineSource",
    "CoreProposal",
    "CoreVersion",
    "ErasureReceipt",
    "EventAllowance",
    "Evidence",
    "HealthReading",
    "Hearsay",
    "Insight",
    "InsightSource",
    "MemoryItem",
    "Message",
    "Namespace",
    "Observation",
    "Reflection",
    "RememberedEpisode",
    "StateChange",
    "StoredCodeRule",
    "Succession",
    "Tombstone",
    "Trigger",
]
