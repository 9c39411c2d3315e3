"""Remove erased ids and texts from copies outside the memories: core, audit, stored answers,
working memory, patterns."""

from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q

from memories.erasure.lineage import is_quoted, quotes
from memories.models import CoreProposal, CoreVersion, Namespace
from worlds import audit
from worlds.models import ApiKey, AuditedCall, IdempotentWrite

ERASED_BODY = b'{"code":"erased","detail":"What this request wrote was deleted for good."}'
MIN_ANSWER_TEXT = 8
"""Characters from which a text is searched in stored answers: shorter ones match by coincidence."""


def scrub_core(namespace: Namespace, texts: list[str]) -> int:
    """Remove the lines that repeat an erased text from all versions and proposals; count them."""
    count = 0
    rows: list[CoreVersion | CoreProposal] = [
        *namespace.core_versions.all(),
        *namespace.core_proposals.all(),
    ]
    for row in rows:
        lines = row.markdown.splitlines()
        remaining = [line for line in lines if not _repeats_text(line, texts)]
        if len(remaining) < len(lines):
            row.markdown = "\n".join(remaining) + "\n"
            row.save(update_fields=["markdown"])
            count += len(lines) - len(remaining)
    repeating = [line.pk for line in namespace.core_lines.all() if _repeats_text(line.text, texts)]
    namespace.core_lines.filter(pk__in=repeating).delete()
    return count


def _repeats_text(line: str, texts: list[str]) -> bool:
    """Whether a Markdown line equals, contains or is contained in one of `texts`."""
    bullet = line.strip().lstrip("-*+ ").strip()
    if not bullet or bullet.startswith("#"):
        return False
    return quotes(bullet, texts) or is_quoted(bullet, texts)


def scrub_audit(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Remove ids from the results of audited calls and texts from their arguments; count the
    calls."""
    names, changes = {str(pk) for pk in ids}, []

    def blank(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        is_erased = value in names or quotes(value, texts) or is_quoted(value, texts)
        return "" if is_erased else value

    # Calls in the write-behind buffer would be inserted with the erased texts afterwards.
    audit.wait_until_written()
    # Keys without a namespace may read every memory of the world; the key of a call may be deleted.
    calls = AuditedCall.objects.filter(world=namespace.world)
    for call in calls.filter(Q(key__in=keys_of(namespace)) | Q(key=None)).iterator():
        results = [pk for pk in call.returned if pk not in names]
        arguments = {name: blank(value) for name, value in call.asked.items()}
        if results != call.returned or arguments != call.asked:
            call.returned, call.asked = results, arguments
            changes.append(call)
    AuditedCall.objects.bulk_update(changes, ["returned", "asked"], batch_size=500)
    return len(changes)


def scrub_answers(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Replace stored answers that hold an erased id or text by status 410; count them."""
    needles = [str(pk).encode() for pk in ids]
    for text in texts:
        if len(text) >= MIN_ANSWER_TEXT:
            # In an answer a text is escaped as JSON; an export holds it as it is.
            needles += [text.encode(), orjson.dumps(text)[1:-1]]
    count = 0
    for write in IdempotentWrite.objects.filter(key__in=keys_of(namespace)).iterator():
        body = bytes(write.body)
        if any(needle in body for needle in needles):
            write.status, write.body = 410, ERASED_BODY
            write.save(update_fields=["status", "body"])
            count += 1
    return count


def scrub_agent(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Remove ids and texts from working memory and patterns, and delete code rules that quote a
    text.

    Return the number of rows changed or deleted.
    """
    # The text of an episode consists of lines of its task; each of them may be quoted alone.
    texts = [*texts, *(line for text in texts for line in text.splitlines())]
    names, count = {str(pk) for pk in ids}, 0
    for row in namespace.agent_states.all():
        state = clean_json(row.state, names, texts)
        if state != row.state:
            row.state, count = state, count + 1
            row.save(update_fields=["state", "updated_at"])
    patterns = namespace.memories.filter(payload__episodes__has_any_keys=sorted(names))
    for item in patterns.only("pk", "payload"):
        payload = clean_json(item.payload, names, texts)
        count += namespace.memories.filter(pk=item.pk).update(payload=payload)
    for rule in namespace.code_rules.all():
        values = (rule.name, rule.description, rule.before_pattern, rule.after_pattern)
        if any(quotes(value, texts) for value in values):
            rule.delete()
            count += 1
    return count


def clean_json(value: Any, ids: set[str], texts: list[str]) -> Any:
    """Return the same JSON without list items that are ids, and with strings that hold an id or a
    text emptied."""
    if isinstance(value, dict):
        return {name: clean_json(item, ids, texts) for name, item in value.items()}
    if isinstance(value, list):
        remaining = (item for item in value if not (isinstance(item, str) and item in ids))
        return [clean_json(item, ids, texts) for item in remaining]
    if isinstance(value, str) and (quotes(value, texts) or any(pk in value for pk in ids)):
        return ""
    return value


def keys_of(namespace: Namespace) -> Any:
    """Return the API keys that may read the namespace."""
    keys = ApiKey.objects.filter(Q(world=namespace.world) | Q(world=None))
    return keys.filter(Q(namespace=namespace.name) | Q(namespace=""))
