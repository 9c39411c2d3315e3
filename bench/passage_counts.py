"""How many passages a generated world has: they come in parts (`bench.scaled_world`)."""

from argparse import ArgumentTypeError

PART = 10_000


def passage_count(text: str) -> int:
    """Read the value of an option. Raises `ArgumentTypeError` for what is no number of whole parts:
    a smaller world would have no questions, and the rest of another would be left out."""
    if not text.isdecimal() or int(text) % PART or not int(text):
        raise ArgumentTypeError(f"{text} is not a multiple of {PART:,} passages")
    return int(text)
