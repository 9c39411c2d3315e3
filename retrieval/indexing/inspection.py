"""What the derived data of a passage table lack, for `manage.py doctor`."""

from dataclasses import dataclass

from django.db import connections
from django.db.models import Count, F, Q

from retrieval.embedders import get_embedder
from retrieval.indexing import passage_indexes
from retrieval.indexing.model_switch import foreign_passages
from retrieval.indexing.stored_words import is_outdated
from retrieval.indexing.upkeep import outdated_scopes
from retrieval.models import PARKED_AFTER, Passage, ServingModel, StagedVector


@dataclass(frozen=True)
class PassageState:
    domain: str
    total: int
    waiting: int
    """Without the vector of their present text; the worker embeds them."""
    parked: int
    """Given up after `PARKED_AFTER` tries."""
    parked_because: str
    foreign: int
    """With a vector of another model than this process runs."""
    model_in_use: str
    own_model: str
    staged: int
    """Vectors computed for a switch of the model."""
    has_outdated_words: bool
    outdated_scopes: int
    """Worlds whose word counts do not fit their texts."""
    missing_indexes: tuple[str, ...]


def inspect_passages(model: type[Passage]) -> PassageState:
    """Look at all rows of `model`; reads the whole table."""
    domain, embedder = model.search_config.domain, get_embedder(model.search_config.domain)
    stale = Q(embedded_rev__lt=F("rev"))
    is_parked = stale & Q(embed_tries__gte=PARKED_AFTER)
    counts = model._default_manager.aggregate(
        total=Count("pk"),
        waiting=Count("pk", filter=stale & ~Q(embed_tries__gte=PARKED_AFTER)),
        parked=Count("pk", filter=is_parked),
    )
    reasons = model._default_manager.filter(is_parked).values_list("embed_error", flat=True)
    in_use = ServingModel.objects.filter(domain=domain).values_list("model", flat=True).first()
    return PassageState(
        domain=domain,
        **counts,
        parked_because=reasons.first() or "",
        foreign=foreign_passages(model, embedder).count(),
        model_in_use=in_use or embedder.name,
        own_model=embedder.name,
        staged=StagedVector.objects.filter(domain=domain).count(),
        has_outdated_words=is_outdated(model),
        outdated_scopes=len(outdated_scopes(model)),
        missing_indexes=missing_indexes(model, embedder.name),
    )


def missing_indexes(model: type[Passage], embedder: str) -> tuple[str, ...]:
    """Return the names of the indexes of `model` that are not there or were not finished."""
    names = passage_indexes.word_index_names(model)
    rows = model._default_manager.filter(embedding_model=embedder)
    enough = passage_indexes.ROWS_WORTH_A_VECTOR_INDEX
    if rows[:enough].count() >= enough:
        names.append(passage_indexes.vector_index_name(model, embedder))
    return tuple(name for name in names if not is_valid_index(name))


def is_valid_index(name: str) -> bool:
    statement = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
    with connections["default"].cursor() as cursor:
        cursor.execute(statement, [f'"{name}"'])
        return cursor.fetchone() is not None
