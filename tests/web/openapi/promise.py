"""What the OpenAPI document promises to clients, and which changes break it.

After a release, ``python -m tests.web.openapi.promise`` keeps the promise of its document.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from chalicelib.web.openapi.routes import DOCUMENT

Json = dict[str, Any]

KEPT: Final = Path(__file__).with_name("kept.json")

_PROSE: Final = {"default", "description", "example", "examples", "readOnly", "summary", "title"}
_CHOICES: Final = ("anyOf", "oneOf")
_CONSTRAINTS: Final = ("const", "format", "pattern", "propertyNames", "uniqueItems")
_HIGHEST: Final = ("maxItems", "maxLength", "maxProperties", "maximum")
_LOWEST: Final = ("minItems", "minLength", "minProperties", "minimum")


def promise_of(document: Json) -> Json:
    """Return the inputs and the outputs of each operation as one schema each, and all schemas.

    The properties of an input are the parameters and the bodies; those of an output are the bodies
    by status. The service sends a webhook, so its parameters and bodies are an output.
    """
    operations: Json = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            operations[f"{method.upper()} {path}"] = {
                "input": _input_of(operation),
                "output": _object(dict(_outputs_of(operation))),
            }
    for name, item in document["components"]["pathItems"].items():
        operations[name] = {"input": _object({}), "output": _input_of(item["post"])}
    schemas = document["components"]["schemas"]
    return {"operations": operations, "schemas": _without_prose(schemas, are_names=True)}


def _input_of(operation: Json) -> Json:
    parts = {
        f"{each['in']} {each['name']}": (each["schema"], each["required"])
        for each in operation.get("parameters", ())
    }
    body = operation.get("requestBody", {"content": {}})
    parts |= {
        f"body {media_type}": (content["schema"], body["required"])
        for media_type, content in body["content"].items()
    }
    required = [name for name, (_, is_required) in parts.items() if is_required]
    return _object({name: schema for name, (schema, _) in parts.items()}, required)


def _outputs_of(operation: Json) -> Iterator[tuple[str, Json]]:
    yield "operationId", {"const": operation["operationId"]}
    for status, response in operation["responses"].items():
        for media_type, content in response.get("content", {"": {"schema": {}}}).items():
            yield f"{status} {media_type}".strip(), content["schema"]


def _object(properties: Json, required: list[str] | None = None) -> Json:
    return {
        "type": "object",
        "properties": _without_prose(properties, are_names=True),
        "required": required or [],
    }


def _without_prose(value: Any, *, are_names: bool = False) -> Any:
    if isinstance(value, list):
        return [_without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_prose(item, are_names=key == "properties" and not are_names)
        for key, item in value.items()
        if are_names or key not in _PROSE
    }


def broken_promises(kept: Json, current: Json) -> list[str]:
    """Return the changes that break programs of clients, as sentences."""
    comparison = _Comparison(kept["schemas"], current["schemas"])
    found = []
    for name, operation in kept["operations"].items():
        changed = current["operations"].get(name)
        if changed is None:
            found.append(f"{name}: removed")
            continue
        for side, sends in (("input", True), ("output", False)):
            found += comparison.between(operation[side], changed[side], name, sends=sends)
    return found


class _Comparison:
    """A comparison of the schemas of two documents.

    In what a client sends, no value that was valid may be invalid: the service may accept more. In
    what it receives, types stay the same, and there may be more properties and values.
    """

    def __init__(self, kept: Json, current: Json) -> None:
        self._kept = kept
        self._current = current
        self._found: dict[tuple[str, str, bool], list[str]] = {}

    def between(self, old: Json, new: Json, at: str, *, sends: bool) -> list[str]:
        names = [schema.get("$ref", "").rpartition("/")[2] for schema in (old, new)]
        if all(names):
            key = names[0], names[1], sends
            if key not in self._found:
                self._found[key] = []  # a schema that contains itself
                old, new = self._kept[names[0]], self._current[names[1]]
                self._found[key] = self._between_choices(old, new, names[0], sends=sends)
            return self._found[key]
        old, new = (
            schemas[name] if name else schema
            for schemas, name, schema in zip(
                (self._kept, self._current), names, (old, new), strict=True
            )
        )
        return self._between_choices(old, new, at, sends=sends)

    def _between_choices(self, old: Json, new: Json, at: str, *, sends: bool) -> list[str]:
        """Return the changes of the choice that changed least, for each choice."""
        before, after = _choices(old), _choices(new)
        if before == [old] and after == [new]:
            return list(self._changes(old, new, at, sends=sends))
        found = []
        for choice in before:
            changes = [self.between(choice, other, at, sends=sends) for other in after]
            found += min(changes, key=len)
        for other in () if sends else after:
            if all(self.between(choice, other, at, sends=sends) for choice in before):
                found.append(f"{at}: widened")
        return found

    def _changes(self, old: Json, new: Json, at: str, *, sends: bool) -> Iterator[str]:
        types = _types(old), _types(new)
        if types[0] - types[1] if sends else types[0] != types[1]:
            yield f"{at}: type {sorted(types[0])} is {sorted(types[1])}"
        if set(map(str, old.get("enum", ()))) - set(map(str, new.get("enum", old.get("enum", ())))):
            yield f"{at}: value removed"
        if ("enum" in new) > ("enum" in old) or (not sends and "enum" in old and "enum" not in new):
            yield f"{at}: values changed"
        for name in _CONSTRAINTS:
            if old.get(name) != new.get(name) and (name in new or not sends):
                yield f"{at}: {name} changed"
        if sends:
            yield from _narrowed_limits(old, new, at)
        required = set(old.get("required", ())), set(new.get("required", ()))
        for name in required[1] - required[0] if sends else required[0] - required[1]:
            yield f"{at}.{name}: {'required' if sends else 'not always present'}"
        properties, changed = old.get("properties", {}), new.get("properties", {})
        for name, schema in properties.items():
            if name in changed:
                yield from self.between(schema, changed[name], f"{at}.{name}", sends=sends)
            else:
                yield f"{at}.{name}: removed"
        for name in ("items", "additionalProperties"):
            if isinstance(old.get(name), dict) and isinstance(new.get(name), dict):
                yield from self.between(old[name], new[name], f"{at}[]", sends=sends)
            elif old.get(name, True) != new.get(name, True) and (not sends or name in new):
                yield f"{at}: {name} changed"


def _choices(schema: Json) -> list[Json]:
    return next((schema[name] for name in _CHOICES if name in schema), [schema])


def _types(schema: Json) -> set[str]:
    """Return the types of the values of a schema. A schema without a type allows all of them."""
    declared = schema.get("type", ["array", "boolean", "null", "number", "object", "string"])
    types = {declared} if isinstance(declared, str) else set(declared)
    return types | {"integer"} if "number" in types else types


def _narrowed_limits(old: Json, new: Json, at: str) -> Iterator[str]:
    for names, sign in ((_HIGHEST, 1), (_LOWEST, -1)):
        for name in names:
            if name in new and (name not in old or sign * new[name] < sign * old[name]):
                yield f"{at}: {name} narrowed to {new[name]}"


def text_of(promise: Json) -> str:
    """Return the promise as JSON, with a line for each operation and each schema."""
    parts = [
        f"{json.dumps(part)}: {{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in named.items())
        + "\n}"
        for part, named in promise.items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    KEPT.write_text(text_of(promise_of(json.loads(DOCUMENT.read_text(encoding="utf-8")))))
