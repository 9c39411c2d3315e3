"""Which texts the models of Latin script read."""

from unicodedata import name as character_name

SAMPLE = 2000


def is_mostly_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; a text without letters counts as Latin."""
    letters = [character for character in text[:SAMPLE] if character.isalpha()]
    latin = sum(
        character.isascii() or character_name(character, "").startswith("LATIN")
        for character in letters
    )
    return 2 * latin >= len(letters)
