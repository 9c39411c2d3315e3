"""Dates of the world's calendar beside the numbers of days in answers to programs."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from worlds.calendars.date_texts import date_text
from worlds.models import World
from worlds.world_calendar import calendar_of

DATES = {"in_world_date": "in_world_at", "in_world_until_date": "in_world_until"}
"""The field with a date, and the field with the number of its day."""


def add_dates(answer: Any, world: World) -> Any:
    """Fill the fields of `DATES` that `answer` has at any depth, and return it: by the calendar of
    the world, in its language. One query, and none when no day is in it; without a calendar
    nothing is filled."""
    dated = list(_dated_objects(answer))
    calendar = calendar_of(world) if dated else None
    if calendar:
        for node, name, day in dated:
            date = date_text(calendar, day, world.language)
            if isinstance(node, dict):
                node[name] = date
            else:
                setattr(node, name, date)
    return answer


def _dated_objects(node: Any) -> Iterator[tuple[Any, str, float]]:
    if isinstance(node, list | tuple):
        for item in node:
            yield from _dated_objects(item)
        return
    values = _values_of(node)
    for name, number in DATES.items():
        if name in values and isinstance(day := values.get(number), int | float):
            yield node, name, day
    for value in values.values():
        yield from _dated_objects(value)


def _values_of(node: Any) -> Mapping[str, Any]:
    if isinstance(node, dict):
        return node
    if isinstance(node, BaseModel):
        return vars(node)
    if is_dataclass(node):
        return {field.name: getattr(node, field.name) for field in fields(node)}
    return {}
