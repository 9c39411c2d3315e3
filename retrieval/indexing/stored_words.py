"""Bring the words of stored passages in step with how they are computed now.

After an upgrade the words of passages may be computed in another way. The worker then computes
those of every passage again, in batches and in the order of the ids; how far it has come is stored
with each batch, so that a killed worker costs one batch. Nobody waits: a batch locks only its rows,
and only those whose words have changed are written. Searches meanwhile find by old or new words.
"""

import hashlib
import re
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import AppConfig
from django.db import connections, transaction

from retrieval.indexing.install import WORDS, stored_passage_models
from retrieval.indexing.statistics import count_words
from retrieval.indexing.stop_request import is_stop_requested
from retrieval.models import Passage, UpgradeStep
from retrieval.search.compiled_rows import clear_row_estimates

BATCH = 200
FIRST = UUID(int=0)
NEXT_ROWS = """
SELECT id, search_vector IS DISTINCT FROM memory37_search_vector(
  language, context, text, surroundings, %(context_times)s, %(text_times)s)
FROM {table} WHERE id > %(after)s ORDER BY id LIMIT %(limit)s
"""


@cache
def words_version(context_weight: int, text_weight: int) -> str:
    """Return a digest of how words are computed: of the functions without their comments, and of
    the weights of a domain."""
    functions = re.sub(r"--[^\n]*", "", WORDS.read_text())
    text = f"{' '.join(functions.split())} {context_weight} {text_weight}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def version_of(model: type[Passage]) -> str:
    config = model.search_config
    return words_version(config.context_weight, config.text_weight)


def step_name(model: type[Passage]) -> str:
    return f"words {model.search_config.domain}"


def is_outdated(model: type[Passage]) -> bool:
    """Whether stored passages of `model` may have words that were computed in another way."""
    current = UpgradeStep.objects.filter(name=step_name(model), version=version_of(model))
    return not current.exists()


def record_current(model: type[Passage]) -> None:
    """Record that the words of all passages of `model` are as they are computed now."""
    values = {"version": version_of(model), "next_version": "", "position": None, "changed": 0}
    UpgradeStep.objects.update_or_create(name=step_name(model), defaults=values)


def record_after_migrate(sender: AppConfig, using: str = "default", **_kwargs: Any) -> None:
    """Handle `post_migrate`: an empty table has no outdated words, so a new installation has
    nothing to renew."""
    tables = connections[using].introspection.table_names()
    if UpgradeStep._meta.db_table in tables:
        for model in stored_passage_models(sender, tables):
            if not model._base_manager.exists():
                record_current(model)


def renew_words(model: type[Passage], *, limit: int) -> int:
    """Renew the words of about `limit` more passages, and return how many were looked at; 0 when
    all are done. One process at a time should call it."""
    version, name = version_of(model), step_name(model)
    step = UpgradeStep.objects.get_or_create(name=name)[0]
    if step.next_version != version:
        # Another upgrade came before this one was finished: begin again.
        step.next_version, step.position, step.changed = version, None, 0
    count = 0
    while count < limit and not is_stop_requested():
        with transaction.atomic():
            ids, stale = next_rows(model, after=step.position or FIRST)
            if ids:
                # The trigger computes the words on every update.
                model._default_manager.filter(pk__in=stale).update(search_vector=None)
                step.position, step.changed = ids[-1], step.changed + len(stale)
                step.save()
        if not ids:
            finish(model, step)
            break
        count += len(ids)
    return count


def next_rows(model: type[Passage], *, after: UUID) -> tuple[list[UUID], list[UUID]]:
    """Return the ids of the next batch, and those of them whose words are outdated."""
    config, connection = model.search_config, connections["default"]
    values: dict[str, Any] = {"after": after, "limit": BATCH, "text_times": config.text_weight}
    values["context_times"] = config.context_weight * config.text_weight
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(model._meta.db_table)
        cursor.execute(NEXT_ROWS.format(table=table), values)
        rows = cursor.fetchall()
    return [pk for pk, _is_stale in rows], [pk for pk, is_stale in rows if is_stale]


def finish(model: type[Passage], step: UpgradeStep) -> None:
    if step.changed:
        count_words(model)
        clear_row_estimates()
    record_current(model)


def count_renewed(model: type[Passage]) -> tuple[int, int]:
    """Return the number of passages, and of those whose words are as they are computed now."""
    rows = model._default_manager.all()
    if not is_outdated(model):
        return (total := rows.count()), total
    step = UpgradeStep.objects.filter(name=step_name(model), next_version=version_of(model)).first()
    position = step.position if step else None
    return rows.count(), rows.filter(pk__lte=position).count() if position else 0
