"""Rows of any model, made from its fields: for tests that need many rows and do not care which."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from retrieval.models import uuid7

Values = dict[str, Any]
Override = Callable[[int], Values]


class RowMaker:
    """Makes rows that have every field filled that can be, so that a page has something to show.

    All rows share one row of each model that they refer to, unless the reference is unique:
    a query for each row is as bad when all ask for the same. `overrides` by model label name the
    values that constraints of the database ask for; `shared` are the rows to refer to."""

    def __init__(self, overrides: Mapping[str, Override], shared: Mapping[str, Any]) -> None:
        self.overrides, self.shared = overrides, dict(shared)
        self.count = 0

    def make(self, model: Any, count: int) -> list[Any]:
        return [self._make_one(model) for _number in range(count)]

    def _make_one(self, model: Any) -> Any:
        self.count += 1
        number = self.count
        values = self.overrides.get(model._meta.label, lambda _number: {})(number)
        for field in model._meta.concrete_fields:
            is_made_here = field.is_relation or not field.primary_key
            if field.name not in values and is_made_here and not field.generated:
                values |= self._value(field, number)
        row = model(**values)
        row.save(force_insert=True)
        return row

    def _value(self, field: Any, number: int) -> Values:
        if isinstance(field, models.ForeignKey):
            return self._reference(field)
        is_automatic = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
        if field.has_default() or is_automatic or field.null:
            return {}
        if field.choices:
            return {field.name: field.choices[number % len(field.choices)][0]}
        value = plain_value(field, number)
        return {} if value is None else {field.name: value}

    def _reference(self, field: Any) -> Values:
        target = field.remote_field.model
        if field.unique:
            return {field.name: self._make_one(target)}
        if target._meta.label not in self.shared:
            if field.null:
                return {}
            self.shared[target._meta.label] = self._make_one(target)
        return {field.name: self.shared[target._meta.label]}


def plain_value(field: Any, number: int) -> Any:
    """A value of the field's type that no other number has, None for a type without one."""
    text = f"{field.name.replace('_', '-')}-{number}"
    if isinstance(field, models.UUIDField):
        return uuid7()
    if isinstance(field, models.GenericIPAddressField):
        return "192.0.2.7"
    if isinstance(field, models.FileField):
        return f"{text}.png"
    if isinstance(field, models.CharField):
        digest = hashlib.sha256(text.encode()).hexdigest()
        is_short = (field.max_length or len(text)) < len(text)
        return digest[: field.max_length] if is_short else text
    if isinstance(field, models.TextField):
        return text
    if isinstance(field, models.DateTimeField):
        return timezone.now() + timedelta(days=1)
    if isinstance(field, models.BooleanField):
        return False
    if isinstance(field, models.IntegerField | models.FloatField):
        return number
    return {} if isinstance(field, models.JSONField) else None
