"""Data that are derived from others and do not fit them, and files without a row or the other way
round."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage

from knowledge.graph.mirror import find_differences, mirror_lag
from knowledge.graph.neo4j_driver import NEO4J_DOWN, site_neo4j
from memory_site.backup.write import stored_files
from memory_site.doctor.diagnoses import Diagnosis, ok, warning
from npcs.dispositions import find_wrong_dispositions
from retrieval.embedders import get_configured_embedder
from retrieval.indexing import PassageState, inspect_passages
from retrieval.models import ServingModel, passage_models
from worlds.models import Party

LONG_LAG_SECONDS = 120.0
SHOWN = 3


def examine_models() -> Iterator[Diagnosis]:
    """Settings of another embedding model change nothing until it is switched to."""
    for domain, in_use in ServingModel.objects.order_by("domain").values_list("domain", "model"):
        if in_use != (configured := get_configured_embedder(domain).name):
            text = f"{domain}: the settings name {configured}, but {in_use} is in use"
            remedy = (
                "Run manage.py switch_model, then restart web and worker; or take the settings "
                "back. The worker switches by itself after an upgrade to a new default model."
            )
            yield warning("model", text, remedy)


def examine_passages() -> Iterator[Diagnosis]:
    for model in passage_models():
        state = inspect_passages(model)
        findings = list(findings_of(state))
        text = f"{state.domain}: {state.total} passages, {state.waiting} wait for their vector"
        yield from findings or [ok("passages", text)]


def findings_of(state: PassageState) -> Iterator[Diagnosis]:
    name, area = state.domain, "passages"
    if state.model_in_use != state.own_model:
        text = (
            f"{name}: the vectors are of {state.model_in_use}, this process runs {state.own_model}"
        )
        yield warning(area, text, "Run manage.py switch_model, then restart web and worker.")
    if state.foreign:
        text = f"{name}: {state.foreign} passages have a vector of another model"
        remedy = (
            f"The worker replaces them within a day; at once: manage.py reindex --domain {name}."
        )
        yield warning(area, text, remedy)
    if state.parked:
        text = f"{name}: {state.parked} passages are not embedded: {state.parked_because}"
        remedy = f"Remove the cause, then run manage.py reindex --domain {name}."
        yield warning(area, text, remedy)
    if state.staged and state.model_in_use == state.own_model:
        text = f"{name}: {state.staged} vectors of a switch that was not finished"
        yield warning(area, text, "Run manage.py switch_model with the settings of that model.")
    if state.has_outdated_words and state.total:
        text = f"{name}: words were computed by an earlier version"
        remedy = "The worker renews them; at once: manage.py reindex --words-only."
        yield warning(area, text, remedy)
    if state.outdated_scopes:
        text = f"{name}: word counts of {state.outdated_scopes} worlds do not fit their texts"
        remedy = "The worker counts again each day; at once: manage.py reindex --words-only."
        yield warning(area, text, remedy)
    if state.missing_indexes:
        text = f"{name}: indexes are missing or unfinished: {', '.join(state.missing_indexes)}"
        yield warning(area, text, "Run manage.py migrate; the worker makes an index of vectors.")


def examine_dispositions() -> Iterator[Diagnosis]:
    wrong = [row for party in Party.objects.all() for row in find_wrong_dispositions(party)]
    if wrong:
        some = ", ".join(f"{row.npc.name} to {row.party.name}" for row in wrong[:SHOWN])
        text = f"{len(wrong)} dispositions are not what the ledger says: {some}"
        remedy = (
            "Nothing but a write past the product does this. Save the base of the NPC again, "
            "which folds its ledger, and report it."
        )
        yield warning("dispositions", text, remedy)
    else:
        yield ok("dispositions", "all are what the ledger says")


def examine_graph_mirror() -> Iterator[Diagnosis]:
    neo, lag = site_neo4j(), mirror_lag()
    rebuild = "Run manage.py mirror_graph --rebuild."
    if neo is None:
        if lag.is_mirrored:
            text = "changes are collected for a Neo4j that no setting names"
            yield warning(
                "graph mirror", text, "Run manage.py mirror_graph --stop or set NEO4J_URL."
            )
        return
    if lag.problem or lag.seconds > LONG_LAG_SECONDS:
        text = f"Neo4j is {lag.pending} changes and {lag.seconds:.0f} s behind: {lag.problem}"
        yield warning("graph mirror", text, "Look at Neo4j's log; the worker copies every 10 s.")
        return
    try:
        differences = find_differences(neo)
    except NEO4J_DOWN as problem:
        yield warning("graph mirror", f"cannot be compared: {problem}", "Start Neo4j.")
        return
    if differences and not mirror_lag().pending:
        text = f"{len(differences)} differences to PostgreSQL, such as: {differences[0]}"
        yield warning("graph mirror", text, rebuild)
    else:
        yield ok("graph mirror", "Neo4j holds what PostgreSQL holds")


def examine_files() -> Iterator[Diagnosis]:
    """Compare the files of pictures and imports with the rows that name them."""
    names = set()
    missing = []
    for each in stored_files():
        names.add(each.name)
        if not each.storage.exists(each.name):
            missing.append(each.name)
    if missing:
        text = f"{len(missing)} files are missing, such as {missing[0]}"
        remedy = "Restore them from a backup (docs/backup.md), or delete their rows in the admin."
        yield warning("files", text, remedy)
    orphans = [name for name in local_files() if name not in names]
    if orphans:
        text = f"{len(orphans)} files belong to no row, such as {orphans[0]}"
        remedy = (
            f"A write was cut off. They take only space: delete them below {settings.MEDIA_ROOT}."
        )
        yield warning("files", text, remedy)
    if not missing and not orphans:
        yield ok("files", f"{len(names)} files, each with its row")


def local_files() -> Iterator[str]:
    """The names of files of pictures and imports in a local storage."""
    if not isinstance(default_storage, FileSystemStorage) and not settings.MEDIA_ROOT:
        return
    root = Path(settings.MEDIA_ROOT)
    for folder in ("pictures", "imports"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                yield str(path.relative_to(root))
