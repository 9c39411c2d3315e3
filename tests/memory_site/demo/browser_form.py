"""What a browser sends when a form of a page is submitted as it is."""

from html.parser import HTMLParser
from typing import Any


class BrowserForm(HTMLParser):
    """The fields of the form `form_id`, with the browser's own changes: line breaks of a textarea
    become CR LF, those of an input are left out."""

    def __init__(self, page: str, form_id: str) -> None:
        super().__init__(convert_charrefs=True)
        self.fields: dict[str, list[str]] = {}
        self.is_found = False
        self._form_id = form_id
        self._inside = False
        self._templates = 0
        self._textarea: tuple[str, list[str]] | None = None
        self._select: dict[str, Any] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("id") == self._form_id
            self.is_found |= self._inside
        self._templates += tag == "template"
        if not self._inside or self._templates or "disabled" in given:
            return
        name = given.get("name", "")
        if tag == "input" and name:
            self._add_input(name, given)
        elif tag == "textarea" and name:
            self._textarea = (name, [])
        elif tag == "select" and name:
            self._select = {"name": name, "all": [], "chosen": [], "many": "multiple" in given}
        elif tag == "option" and self._select is not None:
            self._select["all"].append(given.get("value", ""))
            if "selected" in given:
                self._select["chosen"].append(given.get("value", ""))

    def _add_input(self, name: str, given: dict[str, str]) -> None:
        kind = given.get("type", "text")
        if kind in ("submit", "button", "image", "file", "reset"):
            return
        if kind in ("checkbox", "radio"):
            if "checked" in given:
                self.fields.setdefault(name, []).append(given.get("value", "on"))
            return
        value = given.get("value", "")
        self.fields.setdefault(name, []).append(value.replace("\r", "").replace("\n", ""))

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self._textarea[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        self._templates -= tag == "template"
        if tag == "textarea" and self._textarea:
            name, parts = self._textarea
            # HTML leaves out one line break directly after the start tag.
            text = "".join(parts).replace("\r\n", "\n").removeprefix("\n")
            self.fields.setdefault(name, []).append(text.replace("\n", "\r\n"))
            self._textarea = None
        elif tag == "select" and self._select is not None:
            chosen = self._select["chosen"]
            if not chosen and not self._select["many"]:
                chosen = self._select["all"][:1]
            if chosen:
                self.fields.setdefault(self._select["name"], []).extend(chosen)
            self._select = None
