"""What an archive of a world holds: every model of the project is archived, derived or left out."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q, QuerySet

from worlds.models import GameSystem, World

ModelClass = type[models.Model]
AnyField = Any
"""A concrete field; the stubs of Django have no common public type for them."""

ARCHIVED: dict[str, str] = {
    "worlds.World": "pk",
    "worlds.CalendarVersion": "world",
    "worlds.Campaign": "world",
    "worlds.Party": "world",
    "worlds.Character": "world",
    "worlds.Membership": "world",
    "knowledge.LoreKind": "world",
    "knowledge.Document": "world",
    "knowledge.Rule": "world",
    "knowledge.HistoricalRule": "world",
    "knowledge.RulePassage": "rule__world",
    "knowledge.Lore": "world",
    "knowledge.HistoricalLore": "world",
    "knowledge.LorePassage": "world",
    "knowledge.LoreProposal": "world",
    "knowledge.EntryComment": "lore__world",
    "knowledge.EntryDraft": "world",
    "knowledge.SavedFilter": "world",
    "knowledge.BulkChange": "world",
    "knowledge.GraphNode": "world",
    "knowledge.GraphEdge": "world",
    "knowledge.GraphEdge_rests_on": "from_graphedge__world",
    "knowledge.Contradiction": "world",
    "knowledge.DecisionEffect": "contradiction__world",
    "knowledge.FactProposal": "world",
    "episodes.Arc": "campaign__world",
    "episodes.Session": "world",
    "episodes.Scene": "world",
    "episodes.Episode": "world",
    "episodes.EpisodeVersion": "episode__world",
    "episodes.SessionReport": "world",
    "episodes.SessionNote": "world",
    "episodes.LooseEnd": "world",
    "episodes.Mention": "episode__world",
    "episodes.Thread": "world",
    "episodes.Step": "thread__world",
    "episodes.Scratch": "scene__world",
    "episodes.PrepNotes": "party__world",
    "episodes.Recap": "world",
    "episodes.RecapSentence": "recap__world",
    "episodes.RecapSentence_episodes": "recapsentence__recap__world",
    "npcs.NPC": "world",
    "npcs.HistoricalNPC": "world",
    "npcs.Secret": "world",
    "npcs.Appearance": "npc__world",
    "npcs.DispositionRules": "world",
    "npcs.DispositionChange": "npc__world",
    "npcs.Disposition": "npc__world",
    "npcs.OpinionChange": "world",
    "npcs.NPCMerge": "world",
    "npcs.MergedEntry": "merge__world",
    "art.Picture": "world",
    "art.PictureUse": "picture__world",
    "art.ArtCard": "world",
    "art.ArtCard_npcs": "artcard__world",
    "art.ArtCard_lore": "artcard__world",
    "art.ArtCard_episodes": "artcard__world",
    "worlds.Reveal": "world",
    "worlds.ImportRun": "world",
    "worlds.ImportedRow": "run__world",
    "memories.Namespace": "world",
    "memories.HealthReading": "namespace__world",
    "memories.EventAllowance": "namespace__world",
    "memories.StoredCodeRule": "namespace__world",
    "memories.CodeRuleOutcome": "rule__namespace__world",
    "memories.AgentState": "namespace__world",
    "memories.Message": "namespace__world",
    "memories.CoreVersion": "namespace__world",
    "memories.CoreProposal": "namespace__world",
    "memories.ErasureReceipt": "world",
    "memories.Tombstone": "receipt__world",
    "memories.Observation": "namespace__world",
    "memories.MemoryItem": "namespace__world",
    "memories.CoreLine": "namespace__world",
    "memories.CoreLineSource": "line__namespace__world",
    "memories.Hearsay": "memory__namespace__world",
    "memories.ClientVector": "namespace__world",
    "memories.Evidence": "memory__namespace__world",
    "memories.Succession": "older__namespace__world",
    "memories.StateChange": "memory__namespace__world",
    "memories.Reflection": "namespace__world",
    "memories.Insight": "memory__namespace__world",
    "memories.InsightSource": "insight__memory__namespace__world",
}
"""The rows of a world by the path that leads to it; what a row refers to comes before it."""

SHARED: dict[str, str] = {
    "worlds.GameSystem": "slug",
    "knowledge.GraphRelation": "code",
    "knowledge.GraphJoin": "",
    "knowledge.ConflictRule": "code",
}
"""Rows of all worlds that rows of this one refer to. Restoring adds the missing ones and changes
none; a name is the key, so the ids of two installations may differ."""

DERIVED: dict[str, str] = {
    "knowledge.Link": "computed from the texts",
    "knowledge.GraphOutbox": "written by a trigger for the copy in Neo4j",
    "knowledge.GraphMirror": "the state of the copy in Neo4j",
    "retrieval.ScopeStatistics": "counted",
    "retrieval.WordStatistics": "counted",
    "retrieval.CachedVector": "a cache",
    "retrieval.ServingModel": "of the installation",
    "knowledge.LatestReading": "a sweep reads again the texts of the last day without it",
    "memories.RememberedEpisode": "a task looks again at the episodes without it",
    "retrieval.StagedVector": "vectors of a model that is being introduced",
    "retrieval.UpgradeStep": "how far the data of this installation have followed an upgrade",
}

LEFT_OUT: dict[str, str] = {
    "retrieval.LanguageModelCall": "bookkeeping of the installation",
    "worlds.ArchiveRun": "work on archives, and files that are deleted after some days",
    "worlds.Invitation": "a link of this installation, with the digest of its secret",
    "worlds.ApiKey": "an archive holds no secrets: make new keys",
    "worlds.CallCount": "counts calls of API keys",
    "worlds.Event": "tells consumers of this installation what changed",
    "worlds.Webhook": "holds secrets and an address of this installation's consumers",
    "worlds.WebhookProgress": "how far the deliveries of webhooks have come",
    "worlds.WebhookDelivery": "messages to webhooks",
    "worlds.AuditedCall": "the audit belongs to the installation",
    "worlds.IdempotentWrite": "stored answers to API keys",
    "knowledge.GlossaryTerm": "belongs to a game system; `import_srd` writes it",
}

OWN_APPS = ("worlds", "knowledge", "episodes", "npcs", "art", "memories", "retrieval")

PASSAGE_INDEX = (
    "embedding",
    "embedding_model",
    "search_vector",
    "word_count",
    "rev",
    "embedded_rev",
    "embed_tries",
    "embed_after",
    "embed_error",
)
"""Columns of passages that are computed from their text. The passages themselves are archived: the
reveal log and `revealed_to` are about them, by id."""

HIDDEN: dict[str, tuple[str, ...]] = {
    "worlds.GameSystem": ("id", "created_at", "updated_at"),
    # The uploaded file of an import is deleted after it; attempts are those of this worker.
    "worlds.ImportRun": ("file", "tries"),
    "episodes.SessionReport": ("tries",),
    # When somebody last came is of this installation alone.
    "worlds.Membership": ("seen_at", "new_since"),
    **dict.fromkeys(
        (
            "knowledge.RulePassage",
            "knowledge.LorePassage",
            "episodes.Episode",
            "art.ArtCard",
            "memories.Message",
            "memories.MemoryItem",
        ),
        PASSAGE_INDEX,
    ),
}


@dataclass(frozen=True)
class Table:
    """One model in an archive. `path` leads from a row to its world; empty for shared rows."""

    label: str
    path: str

    @property
    def model(self) -> ModelClass:
        found = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}
        return found[self.label]

    @property
    def member(self) -> str:
        return f"rows/{self.label}.jsonl"

    @property
    def fields(self) -> list[AnyField]:
        """The columns of a line, in order; a number that the database gives is no part of it."""
        hidden = HIDDEN.get(self.label, ())
        fields = [each for each in self.model._meta.concrete_fields if each.name not in hidden]
        return [each for each in fields if not each.primary_key or self.keeps_key]

    @property
    def hidden_fields(self) -> list[AnyField]:
        hidden = HIDDEN.get(self.label, ())
        return [each for each in self.model._meta.concrete_fields if each.name in hidden]

    @property
    def has_number(self) -> bool:
        """Whether the database numbers the rows: an archive numbers them anew from 1."""
        return isinstance(self.model._meta.pk, models.AutoField)

    @property
    def keeps_key(self) -> bool:
        return not self.has_number or self.label in numbered_targets()

    def rows(self, world: World) -> QuerySet[models.Model]:
        rows = self.model._base_manager.order_by("pk")
        if self.path:
            return rows.filter(**{self.path: world.pk})
        return rows.filter(shared_rows_used(self.label, world)).distinct()


def tables() -> list[Table]:
    shared = [Table(label, "") for label in SHARED]
    return shared + [Table(label, path) for label, path in ARCHIVED.items()]


@cache
def numbered_targets() -> frozenset[str]:
    """The numbered models that archived rows refer to."""
    found = set()
    for table in (Table(label, path) for label, path in ARCHIVED.items()):
        for field in table.model._meta.concrete_fields:
            target = field.related_model
            if isinstance(target, type) and target._meta.label in ARCHIVED:
                numbered = isinstance(target._meta.pk, models.AutoField)
                found |= {target._meta.label} if numbered else set()
    return frozenset(found)


def shared_rows_used(label: str, world: World) -> Q:
    """Return the condition for the shared rows that rows of `world` refer to."""
    if label == "worlds.GameSystem":
        return Q(pk=world.system_id) | Q(documents__world=world)
    edges = apps.get_model("knowledge", "GraphEdge")._base_manager.filter(world=world)
    relations = apps.get_model("knowledge", "GraphRelation")._base_manager
    used = relations.filter(pk__in=edges.values("relation"))
    if label == "knowledge.GraphRelation":
        return Q(pk__in=used) | Q(inverses__in=used) | Q(stored_as__in=used)
    if label == "knowledge.GraphJoin":
        return Q(relation__in=used)
    found = apps.get_model("knowledge", "Contradiction")._base_manager.filter(world=world)
    return Q(pk__in=found.values("rule"))


def natural_key(field: AnyField) -> str:
    """The column by which a row of another installation is found, or "" for an archived row."""
    target = field.related_model
    if target is User:
        return "username"
    return "slug" if target is GameSystem else ""
