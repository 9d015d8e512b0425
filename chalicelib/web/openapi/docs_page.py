"""The interface description as one page of HTML, without scripts and without any other file.

It is drawn from the OpenAPI document alone, so a new endpoint appears on it by itself.
"""

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from chalicelib.web.openapi.document import description
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART

Schema = dict[str, Any]

_TEMPLATES: Final = __file__.rpartition("/")[0].rpartition("/")[0] + "/pages"


@dataclass(frozen=True)
class Page:
    """The page, as it is sent.

    Attributes:
        headers: what browsers are told besides: nothing but the page's own style may be used.
    """

    html: str
    headers: dict[str, str | list[str]]


@dataclass(frozen=True)
class Kind:
    """A type in words, around a link to a schema where there is one.

    Attributes:
        schema: the name of the schema that is linked to, or the empty string.
    """

    before: str
    schema: str = ""
    after: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table of keys.

    Attributes:
        depth: how many objects the key is inside of.
        limits: what else its value must keep to, each in a few words.
        values: the only values that it takes, if they are few.
    """

    name: str
    depth: int
    kind: Kind
    required: bool
    description: str
    limits: tuple[str, ...]
    values: tuple[str, ...]


@cache
def docs_page() -> Page:
    """The page of the whole description."""
    templates = _templates()
    style = templates.get_template("docs.css").render()
    html = templates.get_template("docs.html").render(document=description())
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    headers: dict[str, str | list[str]] = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Page(html, headers)


def rows(schema: Schema, depth: int = 0, deepest: int = 0) -> Iterator[Row]:
    """The keys of an object, each followed by those of the object inside it.

    An object that has a schema of its own, elsewhere on the page, is opened down to ``deepest``.
    """
    target = resolve(schema)
    required = target.get("required", ())
    for name, value in target.get("properties", {}).items():
        yield _row(name, depth, value, name in required)
        inner = _object_within(value)
        if inner and (depth < deepest or "properties" in value):
            yield from rows(inner, depth + 1, deepest)


def resolve(node: Schema) -> Schema:
    """What a reference within the document stands for, or the node itself."""
    found: Any = node
    while "$ref" in found:
        target: Any = description()
        for key in found["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        found = target
    return dict(found)


def kind_of(schema: Schema) -> Kind:
    """The type of a value in words."""
    if "$ref" in schema:
        return Kind("", schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        plain = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
        kind = kind_of(plain[0])
        return Kind(kind.before, kind.schema, f"{kind.after} or null")
    names = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ["any"])
    after = " or null" if "null" in names else ""
    name = next(name for name in names if name != "null")
    if name == "array":
        item = kind_of(schema.get("items", {}))
        return Kind(f"array of {item.before}", item.schema, item.after + after)
    if name == "object" and isinstance(schema.get("additionalProperties"), dict):
        value = kind_of(schema["additionalProperties"])
        return Kind(f"map to {value.before}", value.schema, value.after + after)
    return Kind(_FORMATS.get(schema.get("format", ""), name), after=after)


def curl(path: str, method: str, operation: Schema) -> str:
    """A command that sends the operation's example, for a shell with the three variables set."""
    query, lines = "", []
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query" and parameter["required"]:
            query += f"{'&' if query else '?'}{parameter['name']}={parameter['example']}"
    if operation.get("security") != []:
        schemes = description()["components"]["securitySchemes"].values()
        lines += [f'-H "{scheme["name"]}: ${_variable(scheme["name"])}"' for scheme in schemes]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        body = list(content["examples"].values())[-1]["value"]
        if media_type == MULTIPART:
            lines += [f"-F {shlex.quote(f'{name}={_part(body[name])}')}" for name in body]
            continue
        lines += [
            f"-H 'Content-Type: {media_type}'",
            f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}",
        ]
    verb = "" if method == "get" or "requestBody" in operation else f" -X {method.upper()}"
    return " \\\n  ".join([f'curl -sS{verb} "$BASE_URL{path}{query}"', *lines])


def _part(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def prose(text: str) -> Markup:
    """A description as HTML: paragraphs, `code` and **strong** words; all else is escaped."""
    return Markup("").join(
        Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in text.split("\n\n")
    )


def inline(text: str) -> Markup:
    """As `prose`, within one paragraph."""
    marked = Markup("")
    for piece in re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text):
        if piece.startswith("`"):
            marked += Markup("<code>{}</code>").format(piece[1:-1])
        elif piece.startswith("**"):
            marked += Markup("<strong>{}</strong>").format(piece[2:-2])
        else:
            marked += escape(piece)
    return marked


def breakable(path: str) -> Markup:
    """A path that may wrap after a slash."""
    return Markup("/<wbr>").join(path.split("/"))


def anchor(text: str) -> str:
    """A text as the name of a place on the page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


_FORMATS: Final = {"uuid": "UUID", "date-time": "date-time", "email": "e-mail address"}

_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxProperties": "at most {} keys",
    "minItems": "at least {} item",
    "maxItems": "at most {:,} items",
    "pattern": "matches {}",
}


def _row(name: str, depth: int, schema: Schema, required: bool) -> Row:
    target = resolve(schema)
    return Row(
        name,
        depth,
        kind_of(schema),
        required,
        schema.get("description") or target.get("description", ""),
        tuple(_limits(schema)),
        tuple(target.get("enum", ())) if "$ref" not in schema else (),
    )


def _limits(schema: Schema) -> Iterator[str]:
    if "minimum" in schema and "maximum" in schema:
        yield f"{schema['minimum']:,} to {schema['maximum']:,}"
    else:
        for keyword, words in _LIMITS.items():
            if keyword in schema:
                yield words.format(schema[keyword])
    if "default" in schema and not isinstance(schema["default"], dict):
        yield f"default {json.dumps(schema['default'], ensure_ascii=False)}"


def _object_within(schema: Schema) -> Schema | None:
    """The object that a value is, or that the items of an array are; None for anything else."""
    target = resolve(schema)
    if "anyOf" in target:
        target = resolve(target["anyOf"][0])
    if target.get("type") == "array":
        target = resolve(target["items"])
    return target if "properties" in target else None


def _variable(header: str) -> str:
    return header.removeprefix("X-").replace("-", "_")


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def _operations() -> dict[str, list[tuple[str, str, Schema]]]:
    """Path, method and description of every operation, by tag."""
    groups: dict[str, list[tuple[str, str, Schema]]] = {
        tag["name"]: [] for tag in description()["tags"]
    }
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append((path, method, operation))
    return groups


def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "prose": prose,
        "inline": inline,
        "anchor": anchor,
        "breakable": breakable,
        "lowered": _lowered,
        "variable": _variable,
        "pretty": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
    }
    templates.globals |= {
        "rows": rows,
        "resolve": resolve,
        "curl": curl,
        "kind_of": kind_of,
        "groups": _operations(),
    }
    return templates
