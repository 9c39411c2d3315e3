"""What counts as a word."""

import re

WORD = re.compile(r"[^\W_]+(?:['’ʼ`][^\W_]+)*")
"""Letters and digits, with apostrophes inside: `Ferrymen's`, `K9`."""
WORD_OR_NUMBER = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:/]\d+)*")
"""Letters or digits, never both; a number keeps its separators: `3.5`, `10:30`."""
