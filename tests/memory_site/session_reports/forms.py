"""What a browser would send from a form of a page."""

from html.parser import HTMLParser
from typing import Any


class _FormReader(HTMLParser):
    """Collects the values of the controls of one form, as they stand."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form, self.inside = form, False
        self.fields: dict[str, Any] = {}
        self.area = self.select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "form":
            self.inside = values.get("id") == self.form
        if not self.inside:
            return
        name = values.get("name") or ""
        if tag == "textarea":
            self.area, self.fields[name] = name, ""
        elif tag == "select":
            self.select, self.fields[name] = name, ""
        elif tag == "option" and self.select and "selected" in values:
            self.fields[self.select] = values.get("value", "")
        elif tag == "input" and name:
            self._read_input(name, values)

    def _read_input(self, name: str, values: dict[str, str | None]) -> None:
        if values.get("type") in ("checkbox", "radio"):
            if "checked" not in values:
                return
            if name == "players":
                self.fields.setdefault(name, []).append(values.get("value"))
                return
            self.fields[name] = values.get("value") or "on"
        else:
            self.fields[name] = values.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.area = ""
        elif tag == "select":
            self.select = ""
        elif tag == "form":
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data


def fields_of(page: str, form: str) -> dict[str, Any]:
    """Return the fields of the form with this id, by name."""
    reader = _FormReader(form)
    reader.feed(page)
    # Browsers leave out the line break after the opening tag of a text area.
    return {
        name: value.removeprefix("\n").removeprefix("\r\n") if isinstance(value, str) else value
        for name, value in reader.fields.items()
    }
