"""The relations and which kinds they may join: read from the database, seeded from
`data/relations.yaml`."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from django.utils.translation import gettext as _

from knowledge.graph.contradiction_models import ConflictRule
from knowledge.graph.models import GraphJoin, GraphRelation
from retrieval.errors import Invalid

SEED = Path(__file__).parent / "data" / "relations.yaml"


@dataclass(frozen=True)
class Relation:
    code: str
    stored_as: str | None
    symmetric: bool
    transitive: bool
    acyclic: bool
    joins: frozenset[tuple[str, str]]

    def describe(self) -> str:
        return ", ".join(f"{src}–{self.code}→{dst}" for src, dst in sorted(self.joins))


class Relations(dict[str, Relation]):
    """All relations by code."""

    @classmethod
    def load(cls) -> "Relations":
        joins: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for code, src, dst in GraphJoin.objects.values_list("relation_id", "src_kind", "dst_kind"):
            joins[code].add((src, dst))
        columns = ("code", "stored_as", "symmetric", "transitive", "acyclic")
        rows = GraphRelation.objects.values(*columns)
        return cls(
            {row["code"]: Relation(**row, joins=frozenset(joins[row["code"]])) for row in rows}
        )

    def require(self, code: str) -> Relation:
        """Return the relation; raise `Invalid` with the known codes if there is none."""
        if code not in self:
            raise Invalid(
                _("There is no relation %(code)r. Use one of %(codes)s.")
                % {"code": code, "codes": ", ".join(sorted(self))}
            )
        return self[code]

    def require_joinable(self, code: str, src_kind: str, dst_kind: str) -> None:
        """Raise `Invalid`, with the relations that fit, if this one may not join these kinds."""
        relation = self.require(code)
        if (src_kind, dst_kind) in relation.joins:
            return
        instead = sorted(other for other in self if (src_kind, dst_kind) in self[other].joins)
        raise Invalid(
            _(
                "%(code)s may not join %(src_kind)s to %(dst_kind)s. Allowed: %(relation)s. "
                "For %(src_kind)s to %(dst_kind)s there is %(instead)s."
            )
            % {
                "code": code,
                "src_kind": src_kind,
                "dst_kind": dst_kind,
                "relation": relation.describe(),
                "instead": ", ".join(instead),
            }
        )


def seed_relations(**_signal: Any) -> None:
    """Create the missing relations and conflict rules after a migration. Existing rows are the
    designer's to change."""
    seed = yaml.safe_load(SEED.read_text())
    for code, row in seed["relations"].items():
        flags = {flag: row.get(flag, False) for flag in ("symmetric", "transitive", "acyclic")}
        relation, is_new = GraphRelation.objects.get_or_create(
            code=code, defaults={"stored_as_id": row.get("stored_as"), **flags}
        )
        if is_new:
            pairs = [(src, dst) for src, dsts in row["joins"].items() for dst in dsts]
            GraphJoin.objects.bulk_create(
                GraphJoin(relation=relation, src_kind=s, dst_kind=d) for s, d in pairs
            )
    for code, row in seed["conflicts"].items():
        values = {"form": row["form"], "says": row["says"]}
        values |= {"relation_id": row["relation"], "other_id": row.get("other")}
        ConflictRule.objects.get_or_create(code=code, defaults=values)
