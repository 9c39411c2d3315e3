"""The parts of a written date that are no names: numbers, clock times, marks of years and days."""

import re
import unicodedata

from django.utils.translation import gettext as _

from retrieval.errors import Invalid
from worlds.calendars.arithmetic import is_world_day

GROUPED = re.compile(r"[+-]?\d{1,3}(?:[ ,]\d{3})+(?:\.\d+)?")
PLAIN = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e[+-]?\d{1,3})?")
DAY_NUMBER = re.compile(r"(?:(?:world )?day|день)\s+(?P<before>\S.*)|(?P<after>.+)일째")
CLOCK = re.compile(
    r"(?:,|(?<!\s)\s)\s*(?:at |в )?(?P<hour>\d{1,3}):(?P<minute>\d{2,3})$"
    r"|\s(?P<ko_hour>\d{1,3})\s*시(?:\s*(?P<ko_minute>\d{1,3})\s*분)?$"
)
ISO = re.compile(r"(-?\d{1,9})-(\d{1,3})-(\d{1,3})")
YEAR_MARK = re.compile(
    r"(?:(?<!\w)(?:year|год[ау]?|г\.?)\s*(?P<after>-?\d+)(?!\w))"
    r"|(?:(?<![\w-])(?P<before>-?\d+)\s*(?:(?:год[ау]?|г)(?!\w)\.?|년도?))"
)
KOREAN_DAY = re.compile(r"(?<!\d)(\d+)\s*일(?![가-힣])")
KOREAN_MONTH = re.compile(r"(?<!\d)(\d+)\s*월(?![가-힣])")
ORDINAL = re.compile(r"(?<!\w)(\d+)(?:st|nd|rd|th|-?(?:го|е|ое))(?!\w)")
FILLER = re.compile(r"(?<!\w)(?:of|the|in|on|в|во|에)(?!\w)|[,]|(?<=\d)\.(?!\d)")
NUMBER = re.compile(r"(?<![\w.-])-?\d+(?!\w)")


def clean_text(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.replace("−", "-").replace("–", "-").split())


def world_day(text: str) -> float | None:
    """Return the number in *76530*, *76,530*, *day 76,530*, *день 76 530*, *76,530일째*, else
    None. Raises `Invalid` for a number that is too large for a day."""
    if named := DAY_NUMBER.fullmatch(text):
        text = named["before"] or named["after"].rstrip()
    if GROUPED.fullmatch(text):
        number = float(text.replace(",", "").replace(" ", ""))
    elif PLAIN.fullmatch(text):
        number = float(text.replace(",", "."))
    else:
        return None
    if not is_world_day(number):
        raise too_large()
    return number


def too_large() -> Invalid:
    return Invalid(_("This world day is too large: write one below 1,000,000,000,000."))
