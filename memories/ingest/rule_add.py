"""Add contents by rules: what says the same confirms the known memory, what says nearly the same
replaces it, what contradicts it is linked to it."""

from dataclasses import dataclass, replace
from uuid import UUID

from memories.ingest.contents import IncomingContents, plan_unmerged
from memories.ledger.commit import CommitResult, LedgerConflict, commit, reviewed_state
from memories.ledger.plan import NewMemory, Plan
from memories.models import Namespace
from memories.similarity.resolve import (
    BatchResolution,
    BatchResolver,
    IncomingBatch,
    Scale,
    TooShallow,
)
from memories.states import LinkKind, Maker, State
from memories.vectors import VectorSource, nearest_memories, site_embedder_of
from retrieval.models import uuid7

# After so many conflicts with other writers the contents are stored unmerged: nothing is lost, and
# nothing is replaced.
ATTEMPTS = 6
# Nearest memories that are compared, and those read in addition, because earlier contents of the
# batch may replace some.
COMPARED, SPARE = 5, 5


@dataclass(frozen=True)
class BatchOutcome:
    """The memory that says what a content says, whether it is new, and whether it waits for
    approval."""

    memory: UUID
    is_new: bool
    waits: bool = False


def add_by_rules(
    namespace: Namespace, contents: IncomingContents, vectors: VectorSource
) -> tuple[CommitResult, list[BatchOutcome]]:
    """One call of the embedder, one statement for the nearest memories, one commit."""
    ids = [uuid7() for _ in contents.texts]
    both_vectors = vectors.of_both(contents.indexed_texts)
    batch = IncomingBatch(contents.texts, contents.identities, contents.labels, ids, *both_vectors)
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
            BatchOutcome(
                resolution.confirmations.get(position, pk),
                position in resolution.links,
                waits=position in resolution.links and result.state == State.PENDING,
            )
            for position, pk in enumerate(ids)
        ]
        return result, outcomes
    plan = replace(plan_unmerged(contents, Maker.RULES), vectors=batch.documents)
    result = commit(namespace, plan)
    waits = result.state == State.PENDING
    return result, [BatchOutcome(new.id, True, waits) for new in plan.memories]


def resolve_batch(
    namespace: Namespace,
    batch: IncomingBatch,
    *,
    in_use: bool,
    replaced_ids: frozenset[UUID] = frozenset(),
) -> BatchResolution:
    """Compare with the nearest memories; those of `replaced_ids` are about to leave use."""
    depth = COMPARED + min(SPARE, len(batch.texts) - 1) + len(replaced_ids)
    # The scale of a caller's own vectors is unknown.
    scale = Scale.UNKNOWN if namespace.has_own_vectors else Scale.FITTED
    while True:
        stored_nearest = nearest_memories(namespace, batch.queries, k=depth)
        resolver = BatchResolver(
            batch,
            stored_nearest,
            COMPARED,
            depth,
            in_use,
            scale=scale,
            embedder=site_embedder_of(namespace),
            replaced_ids=replaced_ids,
        )
        try:
            return resolver.resolve()
        except TooShallow:
            depth *= 4


def plan_from_resolution(
    contents: IncomingContents,
    batch: IncomingBatch,
    resolution: BatchResolution,
    *,
    state: State,
    made_by: Maker = Maker.RULES,
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
            made_by,
            contents.abouts[position],
            evidence.pop(batch.ids[position]),
            id=batch.ids[position],
            labels=resolution.labels[position],
        )
        for position in positions
    ]
    return Plan(
        contents.observations,
        memories,
        links=[link for links in resolution.links.values() for link in links],
        # The keys that are left are ids of stored memories.
        confirmations=evidence,
        confirmed_abouts={
            pk: contents.abouts[position] for position, pk in resolution.confirmations.items()
        },
        vectors=None if batch.documents is None else batch.documents[positions],
        assumed_state=state,
    )
