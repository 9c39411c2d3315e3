"""Phases of the moons of a calendar."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from worlds.calendars.definition import CalendarDefinition, Moon

PHASES: tuple[tuple[str, Promise], ...] = (
    ("🌑", _("new moon")),
    ("🌒", _("waxing crescent")),
    ("🌓", _("first quarter")),
    ("🌔", _("waxing gibbous")),
    ("🌕", _("full moon")),
    ("🌖", _("waning gibbous")),
    ("🌗", _("last quarter")),
    ("🌘", _("waning crescent")),
)


@dataclass(frozen=True)
class MoonPhase:
    name: str
    symbol: str
    phase: str


def phase_of(moon: Moon, at: float) -> MoonPhase:
    """Return the nearest of eight phases of a moon at a moment."""
    part = ((at - moon.new_moon) / moon.period) % 1
    symbol, phase = PHASES[round(part * len(PHASES)) % len(PHASES)]
    return MoonPhase(moon.name, symbol, str(phase))


def phases_on(calendar: CalendarDefinition, at: float) -> list[MoonPhase]:
    return [phase_of(moon, at) for moon in calendar.moons]
