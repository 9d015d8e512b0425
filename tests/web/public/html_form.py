"""Read the form of a page, fill it in, and encode it as a browser without script does."""

from html.parser import HTMLParser

from tests.web.partner_client import Response
from tests.web.public.respondent import PublicClient

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class HtmlForm(HTMLParser):
    """The form of a page.

    Attributes:
        action: the form's action.
        parts: the name and value of each successful control, in order.
        options: the values of radio buttons and checkboxes by name.
        hidden_fields: the numbers of the fields that the page hides.
        texts: all texts of the page.
        tags: the names of all elements.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action = ""
        self.parts: list[tuple[str, str]] = []
        self.options: dict[str, list[str]] = {}
        self.hidden_fields: set[int] = set()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self._select = self._textarea = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = {name: value or "" for name, value in attributes}
        name, value = values.get("name", ""), values.get("value", "")
        if tag == "form":
            self.action = values["action"]
        elif tag == "input" and values.get("type") in ("radio", "checkbox"):
            self.options.setdefault(name, []).append(value)
            if "checked" in values:
                self.parts.append((name, value))
        elif tag == "input":
            self.parts.append((name, value))
        elif tag == "select":
            self._select = name
            self.parts.append((name, ""))
        elif tag == "option" and "selected" in values:
            self.parts[-1] = (self._select, value)
        elif tag == "textarea":
            self._textarea = name
            self.parts.append((name, ""))
        elif "data-field" in values and "hidden" in values:
            self.hidden_fields.add(int(values["data-field"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            name, text = self.parts[-1]
            # The parser of browsers ignores the first line break of a text area.
            self.parts[-1] = (name, text + data.removeprefix("\n"))
        self.texts.append(data.strip())

    def value(self, name: str) -> list[str]:
        """Return the values of the controls with this name, without empty ones."""
        return [value for other, value in self.parts if other == name and value]

    def answer(self, number: int, *values: str) -> None:
        """Replace the values of a field."""
        name = f"fields[{number}][values][]"
        self.parts = [part for part in self.parts if part[0] != name]
        self.parts += [(name, value) for value in values]

    def submit(
        self, client: PublicClient, folder: str, headers: dict[str, str] | None = None, **more: str
    ) -> Response:
        """Submit the form from a page in this folder."""
        path = f"{folder}/{self.action}"
        return client.submit(path, [*self.parts, *more.items()], headers or BROWSER)
