"""Questions that no player types and that every search answers: the words of some are many, of
others none."""

STRANGE_QUESTIONS = {
    "ten thousand words": "ledger " * 10_000,
    "ten thousand numbers": "1 " * 10_000,
    "ten thousand capitals": "Огонь " * 10_000,
    "ten thousand Korean words": "화염 " * 10_000,
    "many different Korean words": " ".join(
        f"{chr(0xAC00 + 5 * n)}{chr(0xD000 - 3 * n)}{chr(0xB000 + n)}" for n in range(2_000)
    ),
    "many different names": " ".join(f"Ne{n:x}r Va{n:x}d" for n in range(1_000)),
    "one long word": "огонь" * 2_000,
    "one long Korean word": "화염" * 20_000,
    "a thousand unknown words": " ".join(f"unheard{n:x}" for n in range(800)),
    "one long number": "1" * 10_000,
    "many questions in one": "what is grappled and what is prone? " * 500,
    "stop words only": "the of and is",
    "one letter": "l",
    "emoji": "🐉🔥",
    "mixed scripts": "кто keeps 장부 the ledger",
    "zero-width characters": "led\u200bger \u200d\ufeff keeps",
    "combining characters": "e" + "\u0301" * 5_000,
    "punctuation only": "?!… — «»",
    "quotation marks only": "'\"«" * 3_000,
    "right to left mark": "\u202eledger",
}
