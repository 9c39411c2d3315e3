"""One `add`: split, find what is related, reconstruct, write, supersede, look at the core.

Models are called with no transaction open and no row locked. Everything is then written in one transaction, which first
checks that what the models were shown still stands; if not, the step that saw something else is done again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memories import core
from memories.core import Current
from memories.ingest import reconstruction, rule_split
from memories.ingest.reconstruction import StructuredModel
from memories.ledger import plan, word_counts
from memories.ledger.plan import Draft, Particulars
from memories.ledger.single import Overtaken, Written, write
from memories.models import Namespace
from memories.similarity import nearest
from memories.similarity.nearest import Near
from memories.storable import required
from memories.vectors import SiteSource, Vectors, VectorSource
from retrieval.llm import get_llm

REDOS = 6
"""After so many lost races the contents are stored as they came: nothing is lost, nothing replaced."""
CONSIDERED_BY_RULES = 5


@dataclass(frozen=True)
class Models:
    """What thinks for a namespace: vectors, and a language model or none."""

    vectors: VectorSource
    model: StructuredModel | None = None


def site_model() -> StructuredModel | None:
    """The language model of the settings, or None: then rules do."""
    return get_llm()


def site_models() -> Models:
    return Models(SiteSource(), site_model())


@dataclass
class Adding:
    """One `add` under way. What was computed stays as long as what it rests on does."""

    namespace: Namespace
    minds: Models
    raw: list[str]
    contents: list[str]
    about: Particulars
    queries: Vectors | None
    k: int
    within: float
    related: dict[UUID, str] | None = None
    draft: Draft = field(default_factory=lambda: Draft([]))
    documents: Vectors | None = None
    core_seen: Current | None = None
    core_text: str | None = None
    each: Sequence[Particulars] = ()

    def about_of(self, position: int) -> Particulars:
        return self.each[position] if self.each else self.about

    def think(self) -> None:
        """Do what is not done yet, or was done on memories or a core that have changed since."""
        found = self._nearest()
        related = nearest.united(found)
        if related != self.related:
            self.related, self.core_seen = related, None
            self.draft = self._drafted(found)
            self.documents = self._embedded(self.draft)
        now = core.current(self.namespace)
        if now != self.core_seen:
            self.core_seen, self.core_text = now, self._core_update(now)

    def give_up_merging(self) -> None:
        self.draft, self.core_text = plan.as_they_came(self.contents), None
        self.documents = self._embedded(self.draft)

    def _embedded(self, draft: Draft) -> Vectors | None:
        abouts = [self.about_of(new.evidence[0]) for new in draft.planned]
        texts = [new.text for new in draft.planned]
        return self.minds.vectors.of_documents(indexed(texts, abouts)) if texts else None

    @property
    def texts(self) -> list[str]:
        return [new.text for new in self.draft.planned]

    def _nearest(self) -> list[Near]:
        k, within = (self.k, self.within) if self.minds.model else (CONSIDERED_BY_RULES, None)
        return nearest.nearest(self.namespace, self.queries, k=k, within=within)

    def _drafted(self, found: list[Near]) -> Draft:
        if self.minds.model is None:
            return plan.by_rules(self.contents, found)
        related = list((self.related or {}).values())
        answer = reconstruction.reconstruct(
            self.minds.model, related=related, contents=self.contents
        )
        return plan.from_model(answer, self.contents, self.related or {})

    def _core_update(self, now: Current) -> str | None:
        if self.minds.model is None:
            return None
        return reconstruction.updated_core(self.minds.model, core=now.markdown, memories=self.texts)


def add(
    namespace: Namespace,
    contents: str | Iterable[str],
    *,
    minds: Models,
    about: Particulars | None = None,
    each: Sequence[Particulars] = (),
) -> Written:
    """Remember `contents`: one raw text, or memories that are apart already, with `each` one's own particulars.

    Raise TypeError for contents that are not strings, ValueError for text or vectors that cannot be stored, and
    whatever a model raises beyond retryable errors; then nothing was written.
    """
    about = about or Particulars()
    raw, normalised = _normalised(contents, minds.model)
    if not normalised:
        return Written()
    if each and len(each) != len(normalised):
        raise ValueError(f"{len(each)} particulars for {len(normalised)} contents")
    adding = Adding(
        namespace=namespace,
        minds=minds,
        raw=raw,
        contents=normalised,
        about=about,
        each=each,
        queries=minds.vectors.of_queries(indexed(normalised, each or [about] * len(normalised))),
        k=namespace.merge_top_k,
        within=namespace.merge_distance_cutoff,
    )
    written = _committed(adding)
    word_counts.keep_up(namespace)
    return written


def indexed(texts: Sequence[str], abouts: Sequence[Particulars]) -> list[str]:
    """What is embedded: each text under its speaker and date."""
    pairs = zip(texts, abouts, strict=True)
    return [f"{about.heading}\n{text}" if about.heading else text for text, about in pairs]


def _committed(adding: Adding) -> Written:
    for _ in range(REDOS):
        adding.think()
        try:
            return write(adding)
        except Overtaken:
            continue
    adding.give_up_merging()
    return write(adding)


def _normalised(
    contents: str | Iterable[str], model: StructuredModel | None
) -> tuple[list[str], list[str]]:
    """Return the contents as they came (to be kept as observations), and the facts in them."""
    if isinstance(contents, str):
        raw = required(contents, "contents").strip()
        if not raw:
            return [], []
        return [raw], reconstruction.split(model, raw) if model else rule_split.split(raw)
    texts = [
        required(_text(content), f"contents[{position}]").strip()
        for position, content in enumerate(contents)
    ]
    kept = [text for text in texts if text]
    return kept, kept


def _text(content: object) -> str:
    if not isinstance(content, str):
        raise TypeError("contents must be str or list[str]")
    return content
