"""Models of the Neo4j projection: its outbox and its state."""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from worlds.models import World


class GraphOutbox(models.Model):
    """A change that the projection has not copied yet. Triggers write these rows, so bulk and
    raw SQL writes count."""

    id = models.BigAutoField(primary_key=True)
    world = models.ForeignKey(World, models.CASCADE, related_name="+", db_constraint=False)
    node_id = models.UUIDField(null=True)
    edge_id = models.UUIDField(null=True)
    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("pending projection change")
        verbose_name_plural = _("pending projection changes")
        indexes = [models.Index(fields=["world"], name="outbox_world")]

    def __str__(self) -> str:
        return f"{self.node_id or self.edge_id} {self.written_at:%Y-%m-%d %H:%M}"


class GraphMirror(models.Model):
    """One row while a projection exists. Without it the triggers write no outbox rows: nobody
    would delete them."""

    name = models.CharField(max_length=40, primary_key=True, default="neo4j")
    since = models.DateTimeField(auto_now_add=True)
    copied_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, default="")

    class Meta:
        verbose_name = _("projection of the graph")
        verbose_name_plural = _("projections of the graph")

    def __str__(self) -> str:
        return self.name
