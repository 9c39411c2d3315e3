"""Add contents to a memory: by a language model that reconstructs what is related, or by rules.

Models are called with no transaction open and no row locked. Everything is then written in one
commit, which first checks that the memories the plan rests on are unchanged; if not, the contents
are planned again.
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
from memories.states import Link, Maker, State
from memories.vectors import (
    NearMemory,
    SiteSource,
    Vectors,
    VectorSource,
    nearest_memories,
    texts_by_id,
)
from retrieval.llm import get_llm
from retrieval.models import uuid7
from retrieval.text import require_storable_text

ATTEMPTS = 6
"""After so many conflicts with other writers the contents are stored unmerged: nothing is lost,
nothing replaced."""
COMPARED = 5
SPARE = 5
"""Nearest memories read beyond those compared: for those that earlier contents of the batch
replace."""

SUPPORTS_FROM = 0.3
"""Share of common words from which a content counts as evidence of a memory a model wrote."""


@dataclass(frozen=True)
class Models:
    """What a namespace computes with: vectors, and a language model or none."""

    vectors: VectorSource
    model: StructuredModel | None = None


@dataclass(frozen=True)
class IncomingContents:
    """Texts to remember; for each what is known about it and the observation it was taken from.

    `observations` are those that are to be stored with them; observations that exist already are
    not listed.
    """

    texts: Sequence[str]
    abouts: Sequence[Particulars]
    observed: Sequence[UUID]
    observations: Sequence[NewObservation] = ()


@dataclass(frozen=True)
class AddResult(CommitResult):
    core: CoreVersion | CoreProposal | None = None


@dataclass(frozen=True)
class BatchOutcome:
    """The memory that says what a content says, and whether it is new."""

    memory: UUID
    is_new: bool


def site_model() -> StructuredModel | None:
    """The language model of the settings, or None: then rules do."""
    return get_llm()


def site_models() -> Models:
    return Models(SiteSource(), site_model())


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
    """Observe the contents as they came; one raw text is split into facts that all rest on it."""
    if isinstance(contents, str):
        raw = [require_storable_text(contents, "contents").strip()]
    else:
        raw = [require_text(text, number).strip() for number, text in enumerate(contents)]
    texts = raw = [text for text in raw if text]
    if raw and isinstance(contents, str):
        texts = reconstruction.split_text(model, raw[0]) if model else split_by_rules(raw[0])
    if texts and each and len(each) != len(texts):
        raise ValueError(f"{len(each)} particulars for {len(texts)} contents")
    abouts = each or [shared] * len(texts)
    observations = [NewObservation(*pair) for pair in zip(raw, abouts, strict=False)]
    ids = [observation.id for observation in observations]
    observed = ids if len(ids) == len(texts) else ids * len(texts)
    return IncomingContents(texts, abouts, observed, observations)


def require_text(content: object, position: int) -> str:
    if not isinstance(content, str):
        raise TypeError("contents must be str or list[str]")
    return require_storable_text(content, f"contents[{position}]")


def add_batch(
    namespace: Namespace,
    texts: Sequence[str],
    abouts: Sequence[Particulars],
    *,
    vectors: VectorSource,
) -> list[BatchOutcome]:
    """Remember `texts` by rules, each with its own particulars. All of them are written
    together, or none."""
    if not texts:
        return []
    observations = [NewObservation(*pair) for pair in zip(texts, abouts, strict=True)]
    contents = IncomingContents(texts, abouts, [seen.id for seen in observations], observations)
    _result, outcomes = add_by_rules(namespace, contents, vectors)
    return outcomes


def add_by_rules(
    namespace: Namespace, contents: IncomingContents, vectors: VectorSource
) -> tuple[CommitResult, list[BatchOutcome]]:
    """One call of the embedder, one statement for the nearest memories, one commit."""
    ids = [uuid7() for _ in contents.texts]
    batch = IncomingBatch(
        contents.texts, ids, *vectors.of_both(indexed_texts(contents.texts, contents.abouts))
    )
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
            BatchOutcome(resolution.confirmed.get(position, pk), position in resolution.links)
            for position, pk in enumerate(ids)
        ]
        return result, outcomes
    plan = replace(plan_unmerged(contents, Maker.RULES), vectors=batch.documents)
    return commit(namespace, plan), [BatchOutcome(new.id, True) for new in plan.memories]


def resolve_batch(namespace: Namespace, batch: IncomingBatch, *, in_use: bool) -> BatchResolution:
    depth = COMPARED + min(SPARE, len(batch.texts) - 1)
    while True:
        stored_nearest: dict[int, list[NearMemory]] = {}
        for near in nearest_memories(namespace, batch.queries, k=depth):
            stored_nearest.setdefault(near.position, []).append(near)
        try:
            return BatchResolver(batch, stored_nearest, COMPARED, depth, in_use).resolve()
        except TooShallow:
            depth *= 4


@dataclass
class ModelAdd:
    """One add with a language model. Its answers are kept between attempts while what it was
    shown is unchanged."""

    namespace: Namespace
    contents: IncomingContents
    vectors: VectorSource
    model: StructuredModel
    queries: Vectors | None
    related_texts: dict[UUID, str] | None = None
    plan: Plan = field(default_factory=Plan)
    core_seen: core.CurrentCore | None = None
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
        """Ask what has not been asked yet, or was asked about memories or a core that have
        changed since."""
        near = nearest_memories(
            self.namespace,
            self.queries,
            k=self.namespace.merge_top_k,
            within=self.namespace.merge_distance_cutoff,
        )
        related = texts_by_id(near)
        if related != self.related_texts:
            self.related_texts, self.core_seen = related, None
            answer = reconstruction.reconstruct(
                self.model, related=list(related.values()), contents=list(self.contents.texts)
            )
            self.plan = self.with_vectors(plan_from_model(answer, self.contents, related))
        now = core.current(self.namespace)
        if now != self.core_seen:
            texts = [new.text for new in self.plan.memories]
            self.core_text = reconstruction.updated_core(
                self.model, core=now.markdown, memories=texts
            )
            self.core_seen = now

    def with_vectors(self, plan: Plan) -> Plan:
        texts = [new.text for new in plan.memories]
        abouts = [new.about for new in plan.memories]
        return replace(plan, vectors=self.vectors.of_documents(indexed_texts(texts, abouts)))

    def commit(self) -> AddResult:
        core_result = None
        with namespace_transaction(self.namespace) as locked:
            if self.core_text is not None and core.current(locked) != self.core_seen:
                raise LedgerConflict("the core memory changed")
            result = commit(locked, self.plan)
            if self.core_text is not None:
                core_result = core.write_or_propose(
                    locked, self.core_text, reason="After new memories", made_by=Maker.MODEL
                )
        return AddResult(**vars(result), core=core_result)


def indexed_texts(texts: Sequence[str], abouts: Sequence[Particulars]) -> list[str]:
    """What is embedded: each text under its speaker and date."""
    pairs = zip(texts, abouts, strict=True)
    return [f"{about.heading}\n{text}" if about.heading else text for text, about in pairs]


def plan_unmerged(contents: IncomingContents, made_by: Maker = Maker.CONTENTS) -> Plan:
    """A new memory of each content; nothing is confirmed or replaced."""
    rows = zip(contents.texts, contents.abouts, contents.observed, strict=True)
    memories = [NewMemory(text, made_by, about, [observed]) for text, about, observed in rows]
    return Plan(contents.observations, memories)


def plan_from_model(
    answer: Reconstruction, contents: IncomingContents, related_texts: Mapping[UUID, str]
) -> Plan:
    """All related memories are replaced by all new ones; a failed reconstruction replaces nothing.

    A new memory rests on the contents it has enough words in common with, or on all when there are
    none.
    """
    if not answer.succeeded:
        return plan_unmerged(contents)
    memories = []
    for text in answer.memories:
        supporting = [
            position
            for position, content in enumerate(contents.texts)
            if overlap(text, content) >= SUPPORTS_FROM
        ] or range(len(contents.texts))
        observed = list(dict.fromkeys(contents.observed[position] for position in supporting))
        memories.append(NewMemory(text, Maker.MODEL, contents.abouts[supporting[0]], observed))
    links = [MemoryLink(pk, new.id, Link.SUPERSEDES) for new in memories for pk in related_texts]
    return Plan(contents.observations, memories, links)


def plan_from_resolution(
    contents: IncomingContents, batch: IncomingBatch, resolution: BatchResolution, *, state: State
) -> Plan:
    """`state` is that in which new memories were expected to begin."""
    observations_of: dict[UUID, list[UUID]] = {}
    # In the order of arrival: a memory inherits only what confirmed another one before it
    # replaced that one.
    for position, (pk, seen) in enumerate(zip(batch.ids, contents.observed, strict=True)):
        if same := resolution.confirmed.get(position):
            observations_of.setdefault(same, []).append(seen)
        else:
            links = [link for link in resolution.links[position] if link.kind != Link.FORMERLY]
            inherited = [one for link in links for one in observations_of.get(link.older, ())]
            observations_of[pk] = list(dict.fromkeys([seen, *inherited]))
    positions = list(resolution.links)
    memories = [
        NewMemory(
            contents.texts[position],
            Maker.RULES,
            contents.abouts[position],
            observations_of.pop(batch.ids[position]),
            id=batch.ids[position],
        )
        for position in positions
    ]
    return Plan(
        contents.observations,
        memories,
        links=[link for links in resolution.links.values() for link in links],
        # What is left are stored memories.
        confirmed=observations_of,
        vectors=None if batch.documents is None else batch.documents[positions],
        assumed_state=state,
    )
