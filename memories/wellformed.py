"""Text a database can hold: no NUL, no lone surrogate."""


def flaw(text: str) -> str:
    """Say what makes `text` impossible to store, or nothing."""
    if "\x00" in text:
        return "holds a NUL character"
    if not _encodes(text):
        return "holds a lone surrogate, which is not Unicode text"
    return ""


def required(text: str, where: str) -> str:
    """Return `text`, or raise ValueError naming the place and the flaw."""
    if wrong := flaw(text):
        raise ValueError(f"{where} {wrong}: remove it and send the text again")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
