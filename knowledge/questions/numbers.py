"""Numbers of a question, however they are written: in digits, with separators, or in words of three
languages."""

import re
from collections.abc import Iterator
from itertools import chain

from retrieval.text import guess_language

UNITS_EN = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS_EN = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS_EN = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    **{f"{word}th": n for n, word in enumerate(UNITS_EN) if n in (4, 6, 7, 10, 11) or n > 12},
    **{f"{word[:-1]}ieth": 10 * n for n, word in enumerate(TENS_EN, start=2)},
}
ENGLISH = {
    **{word: n for n, word in enumerate(UNITS_EN)},
    **{word: 10 * n for n, word in enumerate(TENS_EN, start=2)},
    **ORDINALS_EN,
}
MULTIPLES = {
    "hundred": 100,
    "hundredth": 100,
    "thousand": 1000,
    "thousandth": 1000,
    "million": 1_000_000,
    "half": 0,
}

RUSSIAN_STEMS = {
    "перв": 1,
    "втор": 2,
    "трет": 3,
    "четверт": 4,
    "пят": 5,
    "шест": 6,
    "седьм": 7,
    "сем": 7,
    "восьм": 8,
    "восем": 8,
    "девят": 9,
    "десят": 10,
    "одиннадцат": 11,
    "двенадцат": 12,
    "тринадцат": 13,
    "четырнадцат": 14,
    "пятнадцат": 15,
    "шестнадцат": 16,
    "семнадцат": 17,
    "восемнадцат": 18,
    "девятнадцат": 19,
    "двадцат": 20,
    "тридцат": 30,
    "сороков": 40,
    "пятидесят": 50,
    "пятьдесят": 50,
    "шестидесят": 60,
    "шестьдесят": 60,
    "семидесят": 70,
    "семьдесят": 70,
    "восьмидесят": 80,
    "восемьдесят": 80,
    "девяност": 90,
    "сот": 100,
    "тысячн": 1000,
}
RUSSIAN_ENDINGS = (
    "ь|и|ью|ый|ий|ой|ая|ья|ое|ье|ые|ьи|ого|ьего|ому|ьему|ом|ьем|ую|ью|ым|ьим|ых|ьих|о|а|"
)
RUSSIAN_WORDS = {
    "один": 1,
    "одна": 1,
    "одно": 1,
    "одного": 1,
    "одной": 1,
    "два": 2,
    "две": 2,
    "двух": 2,
    "три": 3,
    "трех": 3,
    "четыре": 4,
    "четырех": 4,
    "сорок": 40,
    "сорока": 40,
    "сто": 100,
    "ста": 100,
    "двести": 200,
    "двухсот": 200,
    "триста": 300,
    "трехсот": 300,
    "четыреста": 400,
    "четырехсот": 400,
    "пятьсот": 500,
    "пятисот": 500,
    "шестьсот": 600,
    "шестисот": 600,
    "семьсот": 700,
    "семисот": 700,
    "восемьсот": 800,
    "восьмисот": 800,
    "девятьсот": 900,
    "девятисот": 900,
}
RUSSIAN_ORDINAL = re.compile(f"(?P<stem>{'|'.join(RUSSIAN_STEMS)})(?:{RUSSIAN_ENDINGS})")
THOUSANDS_RU = re.compile(r"тысяч[аиуе]?|тыщ[аиу]?|тыс")
ONE_AND_A_HALF, AND_A_HALF = re.compile(r"полтор[аы]|полутора"), re.compile(r"\bс\s+половиной\b")

KOREAN_DIGITS = {digit: n for n, digit in enumerate("영일이삼사오육칠팔구")}
KOREAN_TENS = {"십": 10, "백": 100, "천": 1000}
KOREAN_NUMBER = re.compile(
    r"[\d일이삼사오육칠팔구십백천만]*[십백천만](?:\s?[\d일이삼사오육칠팔구십백천만]+)*"
)
NOT_NUMBERS = frozenset({"만일", "천사", "백일", "만이", "천만", "백만", "만", "천", "백", "십"})

GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,\d{3})+|(?:[ \u00a0\u202f]\d{3})+)(?![\d.,]?\d)")
DIGITS = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")
WORD = re.compile(r"[a-zа-яё]+")
MOST_NUMBERS = 6
LONGEST = 1000


def numbers_in(text: str) -> list[int]:
    """Return the numbers that `text` holds in words, or in digits with separators, each once."""
    plain = text[:LONGEST].lower().replace("ё", "е")
    grouped = (int(re.sub(r"\D", "", each)) for each in GROUPED.findall(plain))
    language = guess_language(plain)
    spoken = korean_numbers(plain) if language == "ko" else worded_numbers(plain)
    return list(dict.fromkeys(chain(grouped, spoken)))[:MOST_NUMBERS]


def worded_numbers(text: str) -> Iterator[int]:
    """Yield the English and Russian number words of `text`: runs of them are one number."""
    text = AND_A_HALF.sub("половиной", text)
    total = part = 0.0
    is_open = is_large = False
    for word in (*WORD.findall(text.replace("-", " ")), ""):
        value = value_of(word)
        if value is not None and value < 100 and is_open and part % 10 and value >= part % 10 > 0:
            # "five six" are two numbers; "twenty six" is one.
            yield from whole(total + part, is_large)
            total, part, is_large = 0.0, 0.0, False
        if word == "половиной" and is_open:
            part += 0.5
        elif ONE_AND_A_HALF.fullmatch(word):
            part, is_open = part + 1.5, True
        elif THOUSANDS_RU.fullmatch(word) or MULTIPLES.get(word):
            factor = MULTIPLES.get(word, 1000)
            if factor == 100:
                part = (part or 1) * factor
            else:
                total, part = total + (part or 1) * factor, 0.0
            is_open = is_large = True
        elif value is not None:
            part, is_open, is_large = part + value, True, is_large or value >= 10
        elif not (word == "and" and is_open):
            yield from whole(total + part, is_large and is_open)
            total, part, is_open, is_large = 0.0, 0.0, False, False


def whole(number: float, is_large: bool) -> Iterator[int]:
    """Yield a number of ten or more: `one` and `second` are seldom numbers."""
    if is_large and number >= 10:
        yield int(number)


def value_of(word: str) -> int | None:
    if word in ENGLISH:
        return ENGLISH[word]
    if word in RUSSIAN_WORDS:
        return RUSSIAN_WORDS[word]
    ordinal = RUSSIAN_ORDINAL.fullmatch(word)
    return RUSSIAN_STEMS[ordinal["stem"]] if ordinal else None


def korean_numbers(text: str) -> Iterator[int]:
    for found in KOREAN_NUMBER.findall(text):
        digits = found.replace(" ", "")
        if digits not in NOT_NUMBERS and len(digits) > 1:
            yield read_korean(digits)


def read_korean(digits: str) -> int:
    """Read a number such as `2만7천6백` or `삼천사백`."""
    total = part = number = 0
    for token in re.findall(r"\d+|\D", digits):
        if token in KOREAN_TENS:
            part, number = part + (number or 1) * KOREAN_TENS[token], 0
        elif token == "만":
            total, part, number = total + ((part + number) or 1) * 10_000, 0, 0
        else:
            number = int(token) if token.isdigit() else KOREAN_DIGITS[token]
    return total + part + number
