"""The numbers in a text as digits, whether they are written in digits or in English, Russian or
Korean words: "three and a half thousand", "три с половиной тысячи", "이십만"."""

import re
from collections.abc import Callable

from memories.similarity.comparable_text import LEXICON, NUMBER_WORDS, normalize_spelling

TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
FIXED = {
    re.compile(r"\bhalf a dozen\b|\bполдюжин\w*"): "6",
    re.compile(r"\b(?:a |one )?dozen\b|\bдюжин\w*"): "12",
    re.compile(r"\ba couple of\b"): "2",
    re.compile(r"\bполтора десятка\b"): "15",
    re.compile(r"\b(?:and a|с) (?:half|половиной)\b"): "+half",
    re.compile(r"\b(?:полтор[аы]|полутора|one and a half)\b"): "1.5",
    re.compile(r"\bпол(?=таблет|час|литр|кило)"): "0.5 ",
}
TIMES_TWELVE = re.compile(r"\b([a-z]+) dozen\b")
MANY_TENS = re.compile(r"\b([а-я]+) десятк(?:а|ов)\b")
CLOCK: tuple[tuple[re.Pattern[str], int, str], ...] = (
    (re.compile(r"\bhalf past (\w+)"), 0, "30"),
    (re.compile(r"\b(?:a )?quarter past (\w+)"), 0, "15"),
    (re.compile(r"\b(?:a )?quarter to (\w+)"), -1, "45"),
    (re.compile(r"\bполовин[аеу] ([а-я]+ого|третьего)\b"), -1, "30"),
    (re.compile(r"\bчетверть ([а-я]+ого|третьего)\b"), -1, "15"),
    (re.compile(r"\bбез четверти ([а-я]+)\b"), -1, "45"),
    (re.compile(r"(?<![가-힣])([가-힣]{1,3}|\d{1,2}) ?시 반(?=[에부까쯤이]|[^가-힣]|\Z)"), 0, "30"),
)
"""Times of day in words, of which the first group is an hour: what is added to it, and the
minutes."""
KOREAN_DAYS = {"이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "열흘": 10, "보름": 15}
DAYS = re.compile(rf"(?<![가-힣])({'|'.join(KOREAN_DAYS)})(?!달)")
SINO_COUNT = re.compile(r"(?<![가-힣])([삼사오육칠팔구]) ?(?=층|학년|월|년|개월|미터|킬로)")
TEN_THOUSANDS = re.compile(r"(\d+)만(?![가-힣]{2})")
RUSSIAN_STEMS, KOREAN_TENS, KOREAN_ONES = (
    {word: int(number) for word, number in (pair.split(":") for pair in LEXICON[name].split())}
    for name in ("russian_numbers", "korean_tens", "korean_ones")
)
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
SCALES |= dict.fromkeys(("тысяч", "тысяча", "тысячи", "тысячу"), 1000)
KOREAN_NATIVE = re.compile(
    rf"(?:({'|'.join(KOREAN_TENS)})({'|'.join(KOREAN_ONES)})?"
    r"|(둘|두|셋|세|넷|네|다섯|여섯|일곱|여덟|아홉|스무))"
    r"(?:$|번째?|째|이|은|을|에|쯤|명|개|마리|살|시|배|층|달|해|척|대|닢|잔|병|권|줄|쪽|가|도|의|알|근)"
    r"\w{0,2}\Z"
)
SINO_DIGITS = {digit: number for number, digit in enumerate("일이삼사오육칠팔구", start=1)}
SINO_UNITS = {"십": 10, "백": 100, "천": 1000}
SINO = re.compile(r"(?=[이삼사오육칠팔구]?[십백천만])[일이삼사오육칠팔구십백천만]{2,}|[십백천만]\Z")
UNCERTAIN = frozenset({"1"})
"""*One* is also an article or a pronoun."""


def numbers_of(text: str) -> frozenset[str]:
    lower = normalize_spelling(text).casefold()
    lower = _multiply_words(TIMES_TWELVE, 12, lower)
    lower = _multiply_words(MANY_TENS, 10, lower)
    for pattern, number in FIXED.items():
        lower = pattern.sub(number, lower)
    lower = _with_digits(lower)
    lower = TEN_THOUSANDS.sub(lambda count: f"{int(count[1]) * 10_000} ", lower)
    found: list[float | str] = []
    run: list[float] = []
    for token in [*TOKEN.findall(lower.replace("+half", " plushalf ")), ""]:
        is_digits = token[:1].isdigit()
        value = None if is_digits else _value(token)
        if token == "plushalf" and run:
            run.append(0.5)
        elif token in SCALES and run:
            run = _multiply(run, SCALES[token])
        elif value is not None and (not run or _continues(run, value)):
            run.append(value)
        elif not (token == "and" and run):
            found += [sum(run)] if run else []
            run = [] if value is None else [value]
            found += [_number_in(token)] if is_digits else []
    return frozenset(_digits_of(each) for each in found) - UNCERTAIN


def _with_digits(lower: str) -> str:
    """Write times of day, and the Korean numbers that no other reading knows, in digits."""
    for pattern, more_hours, minutes in CLOCK:
        lower = pattern.sub(_at_the_clock(more_hours, minutes), lower)
    lower = DAYS.sub(lambda days: f"{KOREAN_DAYS[days[1]]} ", lower)
    return SINO_COUNT.sub(lambda count: f"{SINO_DIGITS[count[1]]} ", lower)


def _at_the_clock(more_hours: int, minutes: str) -> Callable[[re.Match[str]], str]:
    def write(found: re.Match[str]) -> str:
        hour = float(found[1]) if found[1].isdigit() else _value(found[1])
        if hour is None:
            return found[0]
        return f"{hour + more_hours or 12:g}:{minutes}"

    return write


def _multiply_words(pattern: re.Pattern[str], times: int, lower: str) -> str:
    """Write *two dozen* as 24."""

    def write(found: re.Match[str]) -> str:
        value = _value(found[1])
        return found[0] if value is None else f"{value * times:g}"

    return pattern.sub(write, lower)


def _multiply(run: list[float], scale: int) -> list[float]:
    """One thousand, two: hundred."""
    smaller = sum(each for each in run if each < scale)
    return [*(each for each in run if each >= scale), smaller * scale]


def _continues(run: list[float], value: float) -> bool:
    """Twenty-five, nine hundred and twelve; but not "two, three"."""
    last = run[-1]
    return 0 < value < last and (last >= 100 or (last >= 20 and last % 10 == 0 and value < 10))


def _number_in(token: str) -> float | str:
    if ":" in token:
        return token
    plain = token.replace(",", "") if re.search(r",\d{3}\b", token) else token.replace(",", ".")
    return float(plain) if plain.count(".") <= 1 else token


def _digits_of(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:g}" if number < 1e5 else f"{number:.0f}"


def _value(word: str) -> float | None:
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    if word.isascii():
        return None
    for stem, number in RUSSIAN_STEMS.items():
        if word.startswith(stem):
            return number
    if native := KOREAN_NATIVE.fullmatch(word):
        tens, ones, alone = native.groups()
        if tens:
            return KOREAN_TENS[tens] + KOREAN_ONES.get(ones or "", 0)
        return 20 if alone == "스무" else KOREAN_ONES[alone]
    sino = SINO.match(word)
    return _sino_value(sino[0]) if sino else None


def _sino_value(word: str) -> float:
    total = of_block = digit = 0
    for letter in word:
        if letter in SINO_DIGITS:
            digit = SINO_DIGITS[letter]
        elif letter == "만":
            total, of_block, digit = total + (of_block + digit or 1) * 10_000, 0, 0
        else:
            of_block, digit = of_block + (digit or 1) * SINO_UNITS[letter], 0
    return total + of_block + digit
