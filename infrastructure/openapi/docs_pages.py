"""The pages of the documentation: the index, the guides, and a page for each tag.

They are generated from the OpenAPI document and the guides when the app is packaged.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from chalicelib.web.openapi.routes import DOCUMENT, INDEX
from chalicelib.web.pages.assets import asset_hash
from infrastructure.openapi import guides
from infrastructure.openapi.docs_examples import (
    LANGUAGES,
    NOW,
    SOURCES,
    in_lines,
    request_of,
    variable_name,
)
from infrastructure.openapi.schemas import Schema, name_of

SCRIPT: Final = "docs.js"
"""The script of the pages."""
_REFERENCE: Final = re.compile(r'"#/components/schemas/([A-Za-z]+)"')
TEMPLATES: Final = Path(__file__).with_name("templates")
_NULL: Final = {"type": "null"}
_FORMATS: Final = {"uuid": "UUID", "date-time": "date-time", "email": "e-mail address"}
_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxProperties": "at most {} fields",
    "minItems": "at least {} item",
    "maxItems": "at most {:,} items",
    "pattern": "matches {}",
}


class Row(NamedTuple):
    """A row of a field table; `depth` is the number of objects that enclose the field."""

    name: str
    depth: int
    required: bool
    schema: Schema
    description: str


class Entry(NamedTuple):
    """A page in the contents, with the anchors and titles of its sections."""

    name: str
    title: str
    template: str
    sections: list[tuple[str, str]]


def write(folder: Path) -> None:
    """Write the pages for the committed OpenAPI document to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(json.loads(DOCUMENT.read_text(encoding="utf-8"))).items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


def sources() -> list[Path]:
    """Return the files that determine the pages, besides the files that are deployed."""
    return [
        *guides.sources(),
        *sorted(Path(__file__).parent.glob("*.py")),
        *sorted(TEMPLATES.iterdir()),
    ]


def pages(document: Schema) -> dict[str, str]:
    """Return the HTML of each page by name."""
    environment = _environment()
    guides_by_id = {guide.id: guide for guide in guides.guides()}
    tags = {_anchor(tag["name"]): tag for tag in document["tags"]}
    start = [("start", "Get started"), ("all-pages", "All pages"), ("errors", "Errors")]
    contents = [Entry(INDEX, "API reference", "index.html", start)]
    contents += [
        Entry(name, guide.title, "guide.html", [(each.id, each.title) for each in guide.articles])
        for name, guide in guides_by_id.items()
    ]
    contents += [
        Entry(name, tag["name"], "tag.html", _sections(document, name))
        for name, tag in tags.items()
    ]
    places = _pages_of_schemas(document) | {entry.name: entry.name for entry in contents}
    places |= {anchor: entry.name for entry in contents for anchor, _ in entry.sections}
    errors = _common_errors(document)
    return {
        entry.name: environment.get_template(entry.template).render(
            document=document,
            contents=contents,
            page=Page(document, places, errors, entry.name, entry.title),
            tag=tags.get(entry.name),
            guide=guides_by_id.get(entry.name),
        )
        for entry in contents
    }


@dataclass(frozen=True)
class Page:
    """A page, with the functions that its template calls to look up parts of the document.

    Attributes:
        places: the name of the page with each anchor, and of each page.
        errors: the error response of each status that several operations return.
    """

    document: Schema
    places: Mapping[str, str]
    errors: Mapping[str, Schema]
    name: str
    title: str

    @property
    def root(self) -> str:
        """The relative path from this page to the base URL."""
        return "" if self.name == INDEX else "../"

    def href(self, anchor: str) -> str:
        """Return the relative link to an anchor, or to the page with this name."""
        place = self.places[anchor]
        fragment = "" if anchor == place else f"#{anchor}"
        if place == self.name:
            return fragment or "#content"
        return f"{self.root}docs{'' if place == INDEX else f'/{place}'}{fragment}"

    @property
    def schemas(self) -> list[str]:
        """The names of the schemas that this page describes apart from the operations."""
        names = self.document["components"]["schemas"]
        here = [name for name in names if self.places[f"schema-{name}"] == self.name]
        return [name for name in here if name not in self.bodies]

    @cached_property
    def bodies(self) -> dict[str, Schema]:
        """The operation that describes each request body with a place on this page, by schema."""
        return {
            name_of(choice): operation
            for _, _, operation in reversed(self.operations)
            for content in operation.get("requestBody", {}).get("content", {}).values()
            for choice in self.choices(content["schema"])
            if self.places[f"schema-{name_of(choice)}"] == self.name
        }

    def body_id(self, schema: Schema, operation: Schema) -> str | None:
        """Return the anchor of a request body if it is described nowhere else."""
        name = name_of(schema)
        return f"schema-{name}" if self.bodies.get(name) is operation else None

    def first_example(self, schema: Schema) -> Schema:
        """Return the first operation of this page with an example of a response."""
        return next(
            operation
            for _, _, operation in self.operations
            for response in operation["responses"].values()
            for content in response.get("content", {}).values()
            if content["schema"] == schema
        )

    def usual_errors(self, operation: Schema) -> list[str]:
        """Return the statuses of the operation's errors whose description is that of the index."""
        described = {s: each["description"] for s, each in operation["responses"].items()}
        errors = self.errors.items()
        return [status for status, each in errors if described.get(status) == each["description"]]

    def own_errors(self, operation: Schema) -> list[tuple[str, Schema]]:
        """Return the other errors of the operation, by status."""
        usual, responses = self.usual_errors(operation), operation["responses"].items()
        return [pair for pair in responses if pair[0] >= "400" and pair[0] not in usual]

    @cached_property
    def operations(self) -> list[tuple[str, str, Schema]]:
        """The path, the method and the OpenAPI object of each operation of this page."""
        return list(_operations(self.document, self.name))

    @property
    def webhooks(self) -> list[Schema]:
        """The operations of this page that receive webhooks."""
        return _webhooks(self.document, self.name)

    def rows(self, schema: Schema, depth: int = 0, deepest: int = 0) -> Iterator[Row]:
        """Yield the fields of an object. Nested fields follow the field that contains them.

        Nested fields that are defined by a component schema are included only if their depth is at
        most `deepest`.
        """
        target = self.resolve(schema)
        for name, value in target.get("properties", {}).items():
            resolved = self.resolve(value)
            description = value.get("description") or resolved.get("description", "")
            yield Row(name, depth, name in target.get("required", ()), value, description)
            inner = self._object_within(value)
            if inner and (depth < deepest or "properties" in value):
                yield from self.rows(inner, depth + 1, deepest)

    def choices(self, schema: Schema) -> Sequence[Schema]:
        """Return the schemas of a body, of which a request has one."""
        choices: Sequence[Schema] = self.resolve(schema).get("oneOf", [schema])
        return choices

    def resolve(self, node: Schema) -> Schema:
        """Return the component that the node refers to, or the node if it is not a reference."""
        while "$ref" in node:
            *_, group, name = node["$ref"].split("/")
            node = self.document["components"][group][name]
        return node

    def _object_within(self, schema: Schema) -> Schema | None:
        """Return the schema of an object, or of the objects in an array; None for other values."""
        target = self.resolve(schema)
        if "anyOf" in target:
            target = self.resolve(target["anyOf"][0])
        if target.get("type") == "array":
            target = self.resolve(target["items"])
        return target if "properties" in target else None

    def kind_of(self, schema: Schema) -> Markup:
        """Describe the type of a value in words, such as ``array of Tag``, with links."""
        if "$ref" in schema:
            name = name_of(schema)
            href = self.href(f"schema-{name}")
            return Markup('<a href="{}">{}</a>').format(href, name)
        if "anyOf" in schema:
            return (
                self.kind_of(next(choice for choice in schema["anyOf"] if choice != _NULL))
                + " or null"
            )
        names = schema.get("type", "any")
        names = [names] if isinstance(names, str) else names
        name = next(name for name in names if name != "null")
        if name == "array":
            words = "array of " + self.kind_of(schema.get("items", {}))
        elif name == "object" and isinstance(schema.get("additionalProperties"), dict):
            words = "map to " + self.kind_of(schema["additionalProperties"])
        else:
            words = Markup("{}").format(_FORMATS.get(schema.get("format", ""), name))
        return words + " or null" if "null" in names else words


def prose(text: str) -> Markup:
    """Convert a description to HTML paragraphs, including `code` and **strong** markup."""
    return Markup("").join(
        Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in text.split("\n\n")
    )


def inline(text: str) -> Markup:
    """Convert a description to HTML without paragraph elements."""
    marked = Markup("")
    for piece in re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text):
        if piece.startswith("`"):
            marked += Markup("<code>{}</code>").format(piece[1:-1])
        elif piece.startswith("**"):
            marked += Markup("<strong>{}</strong>").format(piece[2:-2])
        else:
            marked += escape(piece)
    return marked


def limits(schema: Schema) -> Iterator[str]:
    """Yield the limits and the default of a value in words."""
    if "minimum" in schema and "maximum" in schema:
        yield f"{schema['minimum']:,} to {schema['maximum']:,}"
    else:
        yield from (
            words.format(schema[keyword]) for keyword, words in _LIMITS.items() if keyword in schema
        )
    if "default" in schema and not isinstance(schema["default"], dict):
        yield f"default {json.dumps(schema['default'], ensure_ascii=False)}"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "prose": prose,
        "inline": inline,
        "anchor": _anchor,
        "breakable": lambda path: Markup("/<wbr>").join(path.split("/")),
        "lowered": lambda sentence: sentence[:1].lower() + sentence[1:].removesuffix("."),
        "variable": variable_name,
        "pretty": in_lines,
        "code": _code,
    }
    environment.globals |= {
        "limits": limits,
        "request_of": request_of,
        "languages": LANGUAGES,
        "sources": SOURCES,
        "now": NOW,
        "script_path": f"public/assets/{asset_hash(SCRIPT)}/{SCRIPT}",
    }
    return environment


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _code(text: str) -> Markup:
    """Escape a text outside of attributes, where quotation marks need no escape."""
    return Markup(html.escape(text, quote=False))  # noqa: S704


def _operations(document: Schema, page: str) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if page in map(_anchor, operation["tags"]):
                yield path, method, operation


def _webhooks(document: Schema, page: str) -> list[Schema]:
    items = (item["post"] for item in document["components"]["pathItems"].values())
    return [operation for operation in items if page in map(_anchor, operation["tags"])]


def _sections(document: Schema, page: str) -> list[tuple[str, str]]:
    operations = [operation for _, _, operation in _operations(document, page)]
    operations += _webhooks(document, page)
    return [(operation["operationId"], operation["summary"]) for operation in operations]


def _pages_of_schemas(document: Schema) -> dict[str, str]:
    """Return the page of each schema by anchor: the one whose operations use it most directly."""
    places = {"schema-Problem": INDEX}
    level: list[tuple[str, Any]] = [(INDEX, document["components"]["schemas"]["Problem"])]
    for page in (_anchor(tag["name"]) for tag in document["tags"]):
        level.append((page, [*_operations(document, page), *_webhooks(document, page)]))
    while level:
        found = []
        for page, node in level:
            for name in _REFERENCE.findall(json.dumps(node)):
                if f"schema-{name}" not in places:
                    places[f"schema-{name}"] = page
                    found.append((page, document["components"]["schemas"][name]))
        level = found
    return places


def _common_errors(document: Schema) -> dict[str, Schema]:
    """Return the most common error response of each status, if several operations return it."""
    counted = Counter(
        (status, json.dumps(response))
        for methods in document["paths"].values()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        if status >= "400"
    )
    common = {status: text for (status, text), n in reversed(counted.most_common()) if n > 2}
    return {status: json.loads(text) for status, text in sorted(common.items())}
