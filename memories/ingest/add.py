"""Add contents to a memory: by a language model that merges them with related memories, or by
rules.

Models are called with no transaction open and no row locked. One commit then writes everything. If
a memory that the plan is based on has changed, the commit is refused and a new plan is made.
"""

from collections.abc import Iterable, Sequence

from django.conf import settings

from memories.ingest.contents import IncomingContents
from memories.ingest.model_add import AddResult, ModelAdd, Models
from memories.ingest.reconstruction import StructuredModel, split_text
from memories.ingest.rule_add import BatchOutcome, add_by_rules
from memories.ingest.rule_split import split_by_rules
from memories.ledger.plan import NewObservation, Particulars
from memories.models import Namespace
from memories.vectors import SiteSource, VectorSource
from retrieval.llm import Purpose, TimeBudget, get_llm
from retrieval.text import require_storable_text


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
    deadline = TimeBudget(settings.MEMORY_MODEL_SECONDS)
    incoming = prepare_contents(contents, models.model, about or Particulars(), each, deadline)
    if not incoming.texts:
        return AddResult()
    if models.model is None:
        return AddResult(**vars(add_by_rules(namespace, incoming, models.vectors)[0]))
    queries = models.vectors.of_queries(incoming.indexed_texts)
    return ModelAdd(namespace, incoming, models, queries, deadline).run()


def prepare_contents(
    contents: str | Iterable[str],
    model: StructuredModel | None,
    shared: Particulars,
    each: Sequence[Particulars],
    deadline: TimeBudget,
) -> IncomingContents:
    """Make an observation of each content; one raw text is split into facts that share its
    observation."""
    is_raw = isinstance(contents, str)
    if not isinstance(contents, Iterable):
        raise TypeError(f"contents must be str or list[str], not {type(contents).__name__}")
    raw = []
    for position, content in enumerate([contents] if isinstance(contents, str) else contents):
        if not isinstance(content, str):
            raise TypeError("contents must be str or list[str]")
        name = "contents" if is_raw else f"contents[{position}]"
        raw.append(require_storable_text(content, name).strip())
    texts = raw = [text for text in raw if text]
    if raw and is_raw:
        texts = split_text(model, raw[0], deadline=deadline) if model else split_by_rules(raw[0])
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
