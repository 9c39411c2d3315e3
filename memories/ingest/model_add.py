"""Add contents with a language model. What its answer leaves out, and everything when it gives
none, is added by rules, in the same commit."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memories import core
from memories.identity import Identity
from memories.ingest import reconstruction
from memories.ingest.contents import IncomingContents, indexed_texts, plan_unmerged
from memories.ingest.model_plan import join_plans, plan_from_answer
from memories.ingest.reconstruction import Reconstruction, StructuredModel
from memories.ingest.rule_add import ATTEMPTS, plan_from_resolution, resolve_batch
from memories.ledger.commit import (
    CommitResult,
    LedgerConflict,
    commit,
    namespace_transaction,
    reviewed_state,
)
from memories.ledger.plan import Plan
from memories.models import CoreProposal, CoreVersion, Namespace
from memories.similarity.resolve import IncomingBatch
from memories.states import Maker, State
from memories.vectors import Vectors, VectorSource, nearest_memories
from retrieval.llm import TimeBudget
from retrieval.models import uuid7


@dataclass(frozen=True)
class Models:
    """What a namespace computes with: vectors, and a language model or none."""

    vectors: VectorSource
    model: StructuredModel | None = None

    @property
    def required_model(self) -> StructuredModel:
        """The language model, of which an add by rules has none."""
        assert self.model is not None
        return self.model


@dataclass(frozen=True)
class AddResult(CommitResult):
    core: CoreVersion | CoreProposal | None = None


def is_rewritable(stored: Identity, incoming: Identity) -> bool:
    """Whether a model may make one text of a stored memory and a content."""
    return stored.may_contradict(incoming) and stored.key == incoming.key


@dataclass
class ModelAdd:
    """One add with a language model. Its answers are reused in the next attempt unless the memories
    or the core in its prompt have changed."""

    namespace: Namespace
    contents: IncomingContents
    models: Models
    queries: Vectors | None
    deadline: TimeBudget
    related_texts: dict[UUID, str] | None = None
    answer: Reconstruction = field(default_factory=lambda: Reconstruction([], []))
    documents: Vectors | None = None
    base_core: core.CurrentCore | None = None
    core_text: str | None = None

    def run(self) -> AddResult:
        for _ in range(ATTEMPTS):
            self.consult_model()
            plan = self.plan()
            self.consult_model_about_core(plan)
            try:
                return self.commit(plan)
            except LedgerConflict:
                self.namespace.refresh_from_db(fields=["review"])
        self.core_text = None
        vectors = self.models.vectors.of_documents(self.contents.indexed_texts)
        return self.commit(replace(plan_unmerged(self.contents), vectors=vectors))

    def consult_model(self) -> None:
        """Let the model merge the contents with the related memories, unless what it answered is
        still valid."""
        nearest = nearest_memories(
            self.namespace,
            self.queries,
            k=self.namespace.merge_top_k,
            within=self.namespace.merge_distance_cutoff,
        )
        related_texts = {
            near.id: near.text
            for identity, memories in zip(self.contents.identities, nearest, strict=False)
            for near in memories
            if is_rewritable(near.identity, identity)
        }
        if related_texts == self.related_texts:
            return
        self.related_texts, self.base_core = related_texts, None
        self.answer = reconstruction.reconstruct(
            self.models.required_model,
            related_texts=list(related_texts.values()),
            contents=self.contents.texts,
            deadline=self.deadline,
        )
        kept = self.contents.at(self.answer.kept)
        of_model = plan_from_answer(self.answer.memories, self.contents, related_texts)
        abouts = [new.about for new in of_model.memories]
        texts = indexed_texts(self.answer.memories, abouts) + kept.indexed_texts
        self.documents = self.models.vectors.of_documents(texts)

    def plan(self) -> Plan:
        """Plan what the model answered, and by rules the contents that it left out."""
        count = len(self.answer.memories)
        of_model = plan_from_answer(self.answer.memories, self.contents, self.related_texts or {})
        if not self.answer.kept:
            return replace(of_model, vectors=self.documents)
        replaced_ids = frozenset(link.older for link in of_model.links)
        of_rules = self.plan_by_rules(self.answer.kept, count, replaced_ids)
        model_vectors = None if self.documents is None else self.documents[:count]
        return join_plans(of_model, of_rules, model_vectors=model_vectors)

    def plan_by_rules(
        self, positions: Sequence[int], start: int, replaced_ids: frozenset[UUID]
    ) -> Plan:
        """Plan the contents at `positions`; their vectors begin at row `start` of the documents."""
        contents = self.contents.at(positions)
        batch = IncomingBatch(
            contents.texts,
            contents.identities,
            contents.labels,
            [uuid7() for _ in positions],
            None if self.queries is None else self.queries[list(positions)],
            None if self.documents is None else self.documents[start:],
        )
        state = reviewed_state(self.namespace)
        resolution = resolve_batch(
            self.namespace, batch, in_use=state == State.ACTIVE, replaced_ids=replaced_ids
        )
        return plan_from_resolution(
            contents, batch, resolution, state=state, made_by=Maker.CONTENTS
        )

    def consult_model_about_core(self, plan: Plan) -> None:
        current_core = core.current(self.namespace)
        if current_core == self.base_core:
            return
        self.core_text = reconstruction.updated_core(
            self.models.required_model,
            core=current_core.markdown,
            memories=[new.text for new in plan.memories],
            deadline=self.deadline,
        )
        self.base_core = current_core

    def commit(self, plan: Plan) -> AddResult:
        core_result = None
        with namespace_transaction(self.namespace) as namespace:
            if self.core_text is not None and core.current(namespace) != self.base_core:
                raise LedgerConflict("the core memory changed")
            result = commit(namespace, plan)
            if self.core_text is not None:
                core_result = core.write_or_propose(
                    namespace,
                    self.core_text,
                    reason="After new memories",
                    new_memories=result.ids,
                )
        return AddResult(**vars(result), core=core_result)
