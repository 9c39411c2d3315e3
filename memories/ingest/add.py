"""Add contents to a memory: by a language model that merges them with related memories, or by
rules.

Models are called with no transaction open and no row locked. One commit then writes everything. If
a memory that the plan is based on has changed, the commit is refused and a new plan is made.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memories import core
from memories.ingest import reconstruction
from memories.ingest.reconstruction import Reconstruction, StructuredModel
from memories.ingest.rule_split import split_by_rules
from memories.ledger.commit import (
    CommitResult,
    LedgerConflict,
    commit,
    namespace_transaction,
    reviewed_state,
)
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.models import CoreProposal, CoreVersion, Namespace
from memories.similarity.compare import overlap
from memories.similarity.resolve import (
    BatchResolution,
    BatchResolver,
    IncomingBatch,
    MemoryLink,
    TooShallow,
)
from memories.states import LinkKind, Maker, State
from memories.vectors import SiteSource, Vectors, VectorSource, nearest_memories
from retrieval.llm import Purpose, get_llm
from retrieval.models import uuid7
from retrieval.text import require_storable_text

# After so many conflicts with other writers the contents are stored unmerged: nothing is lost, and
# nothing is replaced.
ATTEMPTS = 6
# Nearest memories that are compared, and those read in addition, because earlier contents of the
# batch may replace some.
COMPARED, SPARE = 5, 5
# Share of common words from which a content counts as evidence of a memory that a model wrote.
SUPPORTS_FROM = 0.3


@dataclass(frozen=True)
class Models:
    """What a namespace computes with: vectors, and a language model or none."""

    vectors: VectorSource
    model: StructuredModel | None = None


@dataclass(frozen=True)
class IncomingContents:
    """Texts to remember, each with its particulars and the id of the observation it came from.

    `observations` are the new ones, which are stored together with the memories.
    """

    texts: Sequence[str]
    abouts: Sequence[Particulars]
    observation_ids: Sequence[UUID]
    observations: Sequence[NewObservation] = ()


@dataclass(frozen=True)
class AddResult(CommitResult):
    core: CoreVersion | CoreProposal | None = None


@dataclass(frozen=True)
class BatchOutcome:
    """The memory that says what a content says, and whether it is new."""

    memory: UUID
    is_new: bool


def site_model(namespace: Namespace, purpose: Purpose = Purpose.MEMORY) -> StructuredModel | None:
    """Return the language model of the settings, or None: then rules are used."""
    return get_llm(purpose, str(namespace.world_id))


def site_models(namespace: Namespace, purpose: Purpose = Purpose.MEMORY) -> Models:
    return Models(SiteSource(), site_model(namespace, purpose))


def add(
    namespace: Namespace,
    contents: str | Iterable[str],
    *,
    models: Models,
    about: Particulars | None = None,
    each: Sequence[Particulars] = (),
) -> AddResult:
    """Remember `contents`: one raw text, which is split, or separate memories, with `each` one's
    own particulars.

    Raise TypeError for contents that are not strings, ValueError for text or vectors that cannot be
    stored, and whatever a model raises beyond retryable errors; then nothing was written.
    """
    incoming = prepare_contents(contents, models.model, about or Particulars(), each)
    if not incoming.texts:
        return AddResult()
    if models.model is None:
        return AddResult(**vars(add_by_rules(namespace, incoming, models.vectors)[0]))
    queries = models.vectors.of_queries(indexed_texts(incoming.texts, incoming.abouts))
    return ModelAdd(namespace, incoming, models.vectors, models.model, queries).run()


def prepare_contents(
    contents: str | Iterable[str],
    model: StructuredModel | None,
    shared: Particulars,
    each: Sequence[Particulars],
) -> IncomingContents:
    """Make an observation of each content; one raw text is split into facts that share its
    observation."""
    is_raw = isinstance(contents, str)
    raw = []
    for position, content in enumerate([contents] if isinstance(contents, str) else contents):
        if not isinstance(content, str):
            raise TypeError("contents must be str or list[str]")
        name = "contents" if is_raw else f"contents[{position}]"
        raw.append(require_storable_text(content, name).strip())
    texts = raw = [text for text in raw if text]
    if raw and is_raw:
        texts = reconstruction.split_text(model, raw[0]) if model else split_by_rules(raw[0])
    if texts and each and len(each) != len(texts):
        raise ValueError(f"{len(each)} particulars for {len(texts)} contents")
    abouts = each or [shared] * len(texts)
    observations = [NewObservation(*pair) for pair in zip(raw, abouts, strict=False)]
    ids = [observation.id for observation in observations]
    observation_ids = ids if len(ids) == len(texts) else ids * len(texts)
    return IncomingContents(texts, abouts, observation_ids, observations)


def add_batch(
    namespace: Namespace,
    texts: Sequence[str],
    abouts: Sequence[Particulars],
    *,
    vectors: VectorSource,
) -> list[BatchOutcome]:
    """Remember `texts` by rules, each with its own particulars: all of them, or none if an error is
    raised."""
    if not texts:
        return []
    observations = [NewObservation(*pair) for pair in zip(texts, abouts, strict=True)]
    ids = [observation.id for observation in observations]
    contents = IncomingContents(texts, abouts, ids, observations)
    return add_by_rules(namespace, contents, vectors)[1]


def add_by_rules(
    namespace: Namespace, contents: IncomingContents, vectors: VectorSource
) -> tuple[CommitResult, list[BatchOutcome]]:
    """One call of the embedder, one statement for the nearest memories, one commit."""
    ids = [uuid7() for _ in contents.texts]
    speakers = [about.speaker for about in contents.abouts]
    both_vectors = vectors.of_both(indexed_texts(contents.texts, contents.abouts))
    batch = IncomingBatch(contents.texts, speakers, ids, *both_vectors)
    for _ in range(ATTEMPTS):
        state = reviewed_state(namespace)
        resolution = resolve_batch(namespace, batch, in_use=state == State.ACTIVE)
        plan = plan_from_resolution(contents, batch, resolution, state=state)
        try:
            result = commit(namespace, plan)
        except LedgerConflict:
            namespace.refresh_from_db(fields=["review"])
            continue
        outcomes = [
            BatchOutcome(resolution.confirmations.get(position, pk), position in resolution.links)
            for position, pk in enumerate(ids)
        ]
        return result, outcomes
    plan = replace(plan_unmerged(contents, Maker.RULES), vectors=batch.documents)
    return commit(namespace, plan), [BatchOutcome(new.id, True) for new in plan.memories]


def resolve_batch(namespace: Namespace, batch: IncomingBatch, *, in_use: bool) -> BatchResolution:
    depth = COMPARED + min(SPARE, len(batch.texts) - 1)
    while True:
        stored_nearest = nearest_memories(namespace, batch.queries, k=depth)
        try:
            return BatchResolver(batch, stored_nearest, COMPARED, depth, in_use).resolve()
        except TooShallow:
            depth *= 4


@dataclass
class ModelAdd:
    """One add with a language model. Its answers are reused in the next attempt unless the memories
    or the core in its prompt have changed."""

    namespace: Namespace
    contents: IncomingContents
    vectors: VectorSource
    model: StructuredModel
    queries: Vectors | None
    related_texts: dict[UUID, str] | None = None
    plan: Plan = field(default_factory=Plan)
    base_core: core.CurrentCore | None = None
    core_text: str | None = None

    def run(self) -> AddResult:
        for _ in range(ATTEMPTS):
            self.consult_model()
            try:
                return self.commit()
            except LedgerConflict:
                continue
        self.plan, self.core_text = self.with_vectors(plan_unmerged(self.contents)), None
        return self.commit()

    def consult_model(self) -> None:
        """Plan the memories and the core, unless what the model answered is still valid."""
        nearest = nearest_memories(
            self.namespace,
            self.queries,
            k=self.namespace.merge_top_k,
            within=self.namespace.merge_distance_cutoff,
        )
        related_texts = {near.id: near.text for memories in nearest for near in memories}
        if related_texts != self.related_texts:
            self.related_texts, self.base_core = related_texts, None
            answer = reconstruction.reconstruct(
                self.model,
                related_texts=list(related_texts.values()),
                contents=list(self.contents.texts),
            )
            self.plan = self.with_vectors(plan_from_model(answer, self.contents, related_texts))
        current_core = core.current(self.namespace)
        if current_core != self.base_core:
            texts = [new.text for new in self.plan.memories]
            self.core_text = reconstruction.updated_core(
                self.model, core=current_core.markdown, memories=texts
            )
            self.base_core = current_core

    def with_vectors(self, plan: Plan) -> Plan:
        texts = [new.text for new in plan.memories]
        abouts = [new.about for new in plan.memories]
        return replace(plan, vectors=self.vectors.of_documents(indexed_texts(texts, abouts)))

    def commit(self) -> AddResult:
        core_result = None
        with namespace_transaction(self.namespace) as namespace:
            if self.core_text is not None and core.current(namespace) != self.base_core:
                raise LedgerConflict("the core memory changed")
            result = commit(namespace, self.plan)
            if self.core_text is not None:
                core_result = core.write_or_propose(
                    namespace, self.core_text, reason="After new memories", made_by=Maker.MODEL
                )
        return AddResult(**vars(result), core=core_result)


def indexed_texts(texts: Sequence[str], abouts: Sequence[Particulars]) -> list[str]:
    """Return the texts to embed: each under its heading of speaker and date, if any."""
    pairs = zip(texts, abouts, strict=True)
    return [f"{about.heading}\n{text}" if about.heading else text for text, about in pairs]


def plan_unmerged(contents: IncomingContents, made_by: Maker = Maker.CONTENTS) -> Plan:
    """Plan a new memory of each content; nothing is confirmed or replaced."""
    rows = zip(contents.texts, contents.abouts, contents.observation_ids, strict=True)
    memories = [NewMemory(text, made_by, about, [pk]) for text, about, pk in rows]
    return Plan(contents.observations, memories)


def plan_from_model(
    answer: Reconstruction, contents: IncomingContents, related_texts: Mapping[UUID, str]
) -> Plan:
    """Plan that the answer's memories replace all related ones; a failed reconstruction replaces
    nothing.

    The evidence of a new memory are the contents with enough words in common; if there are none,
    all contents.
    """
    if not answer.is_complete:
        return plan_unmerged(contents)
    memories = []
    for text in answer.memories:
        positions = range(len(contents.texts))
        similar = [at for at in positions if overlap(text, contents.texts[at]) >= SUPPORTS_FROM]
        evidence = dict.fromkeys(contents.observation_ids[at] for at in similar or positions)
        about = contents.abouts[similar[0] if similar else 0]
        memories.append(NewMemory(text, Maker.MODEL, about, list(evidence)))
    links = [
        MemoryLink(pk, new.id, LinkKind.SUPERSEDES) for new in memories for pk in related_texts
    ]
    return Plan(contents.observations, memories, links)


def plan_from_resolution(
    contents: IncomingContents, batch: IncomingBatch, resolution: BatchResolution, *, state: State
) -> Plan:
    """Plan the resolved batch. `state`: that of new memories under the review policy now."""
    evidence: dict[UUID, list[UUID]] = {}
    # In the order of arrival: a memory takes over only the observations that confirmed the older
    # one before it was replaced.
    for position, (pk, observation) in enumerate(
        zip(batch.ids, contents.observation_ids, strict=True)
    ):
        if same := resolution.confirmations.get(position):
            evidence.setdefault(same, []).append(observation)
        else:
            links = [link for link in resolution.links[position] if link.kind != LinkKind.FORMERLY]
            older = [one for link in links for one in evidence.get(link.older, ())]
            evidence[pk] = list(dict.fromkeys([observation, *older]))
    positions = list(resolution.links)
    memories = [
        NewMemory(
            contents.texts[position],
            Maker.RULES,
            contents.abouts[position],
            evidence.pop(batch.ids[position]),
            id=batch.ids[position],
        )
        for position in positions
    ]
    return Plan(
        contents.observations,
        memories,
        links=[link for links in resolution.links.values() for link in links],
        # The keys that are left are ids of stored memories.
        confirmations=evidence,
        vectors=None if batch.documents is None else batch.documents[positions],
        assumed_state=state,
    )
