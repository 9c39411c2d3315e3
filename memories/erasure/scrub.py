"""Taking erased ids and texts out of what is kept beside the memories: the audit of calls, answers kept for repetition,
an agent's unfinished work, and what it learned.
"""

from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q

from memories.erasure.lineage import MIN_QUOTE_LENGTH
from memories.models import Namespace, StoredCodeRule
from worlds import audit
from worlds.models import ApiKey, AuditedCall, IdempotentWrite

ERASED = b'{"code":"erased","detail":"What this request wrote was deleted for good."}'


def scrub_audit(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Take ids out of what calls returned, and texts out of what they asked. Return how many calls were changed."""
    names, changed = {str(pk) for pk in ids}, []
    audit.settle()
    for call in (
        AuditedCall.objects.filter(world=namespace.world).filter(_concerns(namespace)).iterator()
    ):
        returned = [pk for pk in call.returned if pk not in names]
        asked = {name: _blanked(value, names, texts) for name, value in call.asked.items()}
        if returned != call.returned or asked != call.asked:
            call.returned, call.asked = returned, asked
            changed.append(call)
    AuditedCall.objects.bulk_update(changed, ["returned", "asked"], batch_size=500)
    return len(changed)


def scrub_answers(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Replace answers that hold an erased id or text; a repetition of their request hears that it is gone."""
    needles = [str(pk).encode() for pk in ids]
    needles += [
        form
        for text in texts
        for form in (text.encode(), orjson.dumps(text)[1:-1])
        if len(text) >= 8
    ]
    changed = 0
    for write in IdempotentWrite.objects.filter(key__in=_keys(namespace)).iterator():
        body = bytes(write.body)
        if any(needle in body for needle in needles):
            write.status, write.body = 410, ERASED
            write.save(update_fields=["status", "body"])
            changed += 1
    return changed


def scrub_agent(namespace: Namespace, ids: list[UUID], texts: list[str]) -> int:
    """Take ids and texts out of unfinished work and patterns; delete code rules that quote a text. Return how many rows
    were changed or deleted."""
    texts = [
        *texts,
        *(line for text in texts for line in text.splitlines()),
    ]  # an episode's text has its task in it
    gone, changed = {str(pk) for pk in ids}, 0
    for row in namespace.agent_states.all():
        cleaned = _cleaned(row.state, gone, texts)
        if cleaned != row.state:
            row.state, changed = cleaned, changed + 1
            row.save(update_fields=["state", "updated_at"])
    for item in namespace.memories.filter(payload__episodes__has_any_keys=sorted(gone)).only(
        "pk", "payload"
    ):
        namespace.memories.filter(pk=item.pk).update(payload=_cleaned(item.payload, gone, texts))
        changed += 1
    quoting = [
        rule.pk
        for rule in namespace.code_rules.all()
        if any(_quotes(said, texts) for said in _said_by(rule))
    ]
    namespace.code_rules.filter(pk__in=quoting).delete()
    return changed + len(quoting)


def _said_by(rule: StoredCodeRule) -> tuple[str, ...]:
    return rule.name, rule.description, rule.before_pattern, rule.after_pattern


def _cleaned(value: Any, ids: set[str], texts: list[str]) -> Any:
    """The same JSON; an id is taken out of its list, and a string that holds an id or a text is emptied."""
    if isinstance(value, dict):
        return {name: _cleaned(inner, ids, texts) for name, inner in value.items()}
    if isinstance(value, list):
        return [
            _cleaned(inner, ids, texts)
            for inner in value
            if not (isinstance(inner, str) and inner in ids)
        ]
    if isinstance(value, str) and (_quotes(value, texts) or any(pk in value for pk in ids)):
        return ""
    return value


def _quotes(said: str, texts: list[str]) -> bool:
    return any(text == said or (len(text) >= MIN_QUOTE_LENGTH and text in said) for text in texts)


def _concerns(namespace: Namespace) -> Q:
    """Calls of the namespace's keys, and of keys that may see every namespace (or are gone)."""
    return Q(key__in=_keys(namespace)) | Q(key=None)


def _keys(namespace: Namespace) -> Any:
    return ApiKey.objects.filter(world=namespace.world).filter(
        Q(namespace=namespace.name) | Q(namespace="")
    )


def _blanked(value: Any, ids: set[str], texts: list[str]) -> Any:
    if not isinstance(value, str):
        return value
    says = any(text == value or (len(text) >= MIN_QUOTE_LENGTH and text in value) for text in texts)
    shown = any(len(value) >= MIN_QUOTE_LENGTH and value in text for text in texts)
    return "" if says or shown or value in ids else value
