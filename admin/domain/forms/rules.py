"""Check form definitions: ids, keys, references, colours, URLs, limits, cycles and translations.

Each function yields one error per violated rule, in the order of the definition. The caller has
already validated the definition against its model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from admin.domain.definitions import Colour
from admin.domain.forms.form import (
    FieldDefinition,
    FieldDependencyDefinition,
    FormDefinition,
    KeyedPart,
)
from admin.domain.forms.references import Names, References
from admin.domain.input_errors import not_allowed, required
from chalicelib.domain.comparison import Comparator, equal, parse_list
from chalicelib.domain.forms.fields import ExpectedValue
from chalicelib.domain.forms.labels import MAX_LABEL, LabelRule
from chalicelib.domain.forms.placeholders import NAMES, PLACEHOLDER
from chalicelib.domain.forms.presentation import Header, Submission, Thanks
from chalicelib.domain.forms.translation import (
    FormTranslation,
    TitlesTranslation,
)
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.input_errors import (
    InputError,
    duplicate,
    duplicate_positions,
    errors_of,
    json_pointer,
    out_of_range,
    unknown_reference,
)
from chalicelib.domain.workflows.metadata import NAMES as RESERVED_LABELS

Titled = Header | Submission | Thanks | TitlesTranslation
_EQUALITY_COMPARATORS = (Comparator.EQ, Comparator.NE, Comparator.IN, Comparator.NIN)

_MAX_TITLE: Final = 500
"""Maximum number of characters of a title or a subtitle.

Not part of the model: forms that were saved before this limit existed must load.
"""
_COLOUR: Final = TypeAdapter[str](Colour)
_URL_FIELDS: Final = frozenset(
    {"url", "sourceUrl", "newReviewUri"}
    | {"website", "twitter", "facebook", "instagram", "linkedin"}
)


def form_errors(definition: FormDefinition) -> Iterator[InputError]:
    """Yield the errors in the properties that contact form and survey definitions share."""
    references = References.of(definition)
    yield from _value_errors(definition)
    opens_at, closes_at = definition.opens_at, definition.closes_at
    if opens_at and closes_at and closes_at <= opens_at:
        yield out_of_range("Must be after opensAt.", "closesAt")
    for name, rule in definition.labels.items():
        if name in RESERVED_LABELS:
            yield not_allowed("This name is a placeholder of workflows.", "labels", name)
        yield from _label_errors(rule, "labels", name)
    yield from _name_errors("fields", definition.fields, references.fields)
    yield from _name_errors("fieldGroups", definition.field_groups, references.groups)
    for position, field in enumerate(definition.fields):
        yield from _field_errors(field, references.groups, "fields", position)
    yield from _dependency_errors(definition, references.fields)
    yield from _translation_errors(definition, references)
    for position in duplicate_positions(str(each.min_rating) for each in definition.thanks):
        yield duplicate("thanks", position, "minRating")
    yield from _title_errors(definition)
    for language, texts in definition.translations.items():
        path = ("translations", str(language))
        yield from _title_errors(texts, *path)
        if texts.thanks and len(texts.thanks) != len(definition.thanks):
            count = len(definition.thanks)
            yield out_of_range(f"Must have {count} texts, as many as the form.", *path, "thanks")


def _label_errors(rule: LabelRule, *path: str) -> Iterator[InputError]:
    if bool(rule.values) == bool(rule.max_digits):
        detail = "Set either `values` or `maxDigits`: labels contain no free text."
        yield InputError(json_pointer(*path), "invalid_combination", detail)
    for position, value in enumerate(rule.values):
        if not 1 <= len(value) <= MAX_LABEL:
            yield out_of_range(f"Must have 1 to {MAX_LABEL} characters.", *path, "values", position)
    for position in duplicate_positions(rule.values):
        yield duplicate(*path, "values", position)


def _value_errors(value: Any, *path: str | int) -> Iterator[InputError]:
    """Yield an error for each invalid colour and URL in the value, at any depth.

    The name of a field determines whether its value is a colour or a URL. ``""`` means unset.
    """
    match value:
        case BaseModel():
            fields = type(value).model_fields
            for name, item in value:
                yield from _value_errors(item, *path, fields[name].alias or name)
        case list():
            for position, item in enumerate(value):
                yield from _value_errors(item, *path, position)
        case Mapping():
            for key, item in value.items():
                yield from _value_errors(item, *path, str(key))
        case str() if value and path:
            yield from _text_errors(value, path)


def _text_errors(text: str, path: tuple[str | int, ...]) -> Iterator[InputError]:
    key = str(path[-1])
    if key.lower().endswith("color"):
        try:
            _COLOUR.validate_python(text)
        except ValidationError as error:
            yield from errors_of(error, *path)
    if key in _URL_FIELDS and not is_https_url(text):
        yield InputError(json_pointer(*path), "invalid_url", "Must be an https URL, or empty.")


def _title_errors(
    texts: FormDefinition | FormTranslation, *path: str | int
) -> Iterator[InputError]:
    parts: list[tuple[tuple[str | int, ...], Titled]] = [
        (("header",), texts.header),
        (("submission",), texts.submission),
    ]
    thanks: Sequence[Titled] = texts.thanks
    parts += [(("thanks", position), part) for position, part in enumerate(thanks)]
    for name, part in parts:
        for key, text in (("title", part.title), ("subtitle", part.subtitle)):
            pointer = json_pointer(*path, *name, key)
            if len(text) > _MAX_TITLE:
                detail = f"Must be at most {_MAX_TITLE} characters."
                yield InputError(pointer, "too_long", detail)
                continue
            for unknown in unknown_names(text):
                detail = f"Unknown placeholder {{{unknown}}}. Use {', '.join(NAMES)}."
                yield InputError(pointer, "unknown_placeholder", detail)


def _name_errors(kind: str, parts: Sequence[KeyedPart], names: Names) -> Iterator[InputError]:
    for position, part in enumerate(parts):
        if part.id is None and part.key is None:
            yield InputError(
                json_pointer(kind, position, "key"), "required", "Set `key`, `id` or both."
            )
    repeated_ids = duplicate_positions(names.ids)
    for position in repeated_ids:
        yield duplicate(kind, position, "key" if parts[position].id is None else "id")
    for position in duplicate_positions(names.keys):
        if position not in repeated_ids:
            yield duplicate(kind, position, "key")


def _field_errors(field: FieldDefinition, groups: Names, *path: str | int) -> Iterator[InputError]:
    if field.group and groups.find(field.group) is None:
        yield unknown_reference("group", *path, "group")
    if field.type.rules.options_from_field and not field.values:
        yield InputError(
            json_pointer(*path, "values"), "required", "A select field needs at least one value."
        )
    for position in duplicate_positions(field.values):
        yield duplicate(*path, "values", position)
    for position, value in enumerate(field.values):
        if not value:
            pointer = json_pointer(*path, "values", position)
            yield InputError(pointer, "required", "Must not be empty.")
    yield from _replies_errors(field, *path)


def _replies_errors(field: FieldDefinition, *path: str | int) -> Iterator[InputError]:
    least = field.min_replies if field.allow_min_replies else 0
    if field.allow_max_replies and field.max_replies < max(1, least):
        bound = "1" if field.max_replies < 1 else "minReplies"
        yield out_of_range(f"Must be at least {bound}.", *path, "maxReplies")
    if not field.type.rules.accepts_several_values and least > 1:
        detail = "Must be at most 1 for a field of a type that accepts one value."
        yield out_of_range(detail, *path, "minReplies")
    elif not field.allow_custom_value and least > len(field.values) > 0:
        yield out_of_range("Must be at most the number of values.", *path, "minReplies")


def _dependency_errors(definition: FormDefinition, names: Names) -> Iterator[InputError]:
    dependencies = definition.field_dependencies
    fields = dict(zip(names.ids, definition.fields, strict=True))
    edges = [(names.find(each.field), names.find(each.depends_on_field)) for each in dependencies]
    cyclic = edges_on_cycles((start, end) for start, end in edges if start and end)
    for position in duplicate_positions(dependency.id for dependency in dependencies):
        yield duplicate("fieldDependencies", position, "id")
    for position, (dependency, edge) in enumerate(zip(dependencies, edges, strict=True)):
        path = ("fieldDependencies", position)
        field, condition_field = edge
        if field is None:
            yield unknown_reference("field", *path, "field")
        if condition_field is None:
            yield unknown_reference("field", *path, "dependsOnField")
        if edge in cyclic:
            detail = "The field would depend on itself, directly or through other fields."
            yield InputError(json_pointer(*path, "dependsOnField"), "cycle", detail)
        yield from _comparison_errors(
            dependency, fields.get(condition_field or ""), *path, "dependsOnFieldValues"
        )


def edges_on_cycles(edges: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges that are on a cycle: their start is reachable from their end."""
    found, following = set(edges), dict[str, set[str]]()
    for start, end in found:
        following.setdefault(start, set()).add(end)
    reachable: dict[str, set[str]] = {}
    for node in following:
        reached, waiting = set[str](), [node]
        while waiting:
            further = following.get(waiting.pop(), set()) - reached
            reached |= further
            waiting += further
        reachable[node] = reached
    return {(start, end) for start, end in found if start in reachable.get(end, ())}


def _comparison_errors(
    dependency: FieldDependencyDefinition, condition_field: FieldDefinition | None, *path: str | int
) -> Iterator[InputError]:
    if not dependency.depends_on_field_values:
        yield InputError(json_pointer(*path), "required", "Set at least one comparison.")
    for position, expected in enumerate(dependency.depends_on_field_values):
        yield from _expected_errors(expected, condition_field, *path, position, "value")


def _expected_errors(
    expected: ExpectedValue, condition_field: FieldDefinition | None, *path: str | int
) -> Iterator[InputError]:
    if expected.operator is Comparator.EXISTS:
        if expected.value not in ("true", "false"):
            yield not_allowed("Must be true or false.", *path)
        return
    if not expected.value:
        yield required(*path)
        return
    allowed = condition_field.options if condition_field else None
    if not allowed or expected.operator not in _EQUALITY_COMPARATORS:
        return
    is_single = expected.operator in (Comparator.EQ, Comparator.NE)
    values = [expected.value] if is_single else parse_list(expected.value)
    if not all(any(equal(value, option) for option in allowed) for value in values):
        yield not_allowed("Must be a possible answer to the field.", *path)


def _translation_errors(definition: FormDefinition, references: References) -> Iterator[InputError]:
    fields = dict(zip(references.fields.keys, definition.fields, strict=True))
    for language, translation in definition.translations.items():
        path = ("translations", str(language))
        if language is definition.language:
            yield not_allowed("Must differ from the language of the form.", *path)
        yield from _translated_fields_errors(fields, translation, *path, "fields")
        for key in translation.groups:
            if key not in references.groups.keys:
                yield unknown_reference("group", *path, "groups", key)


def _translated_fields_errors(
    fields: Mapping[str, FieldDefinition], translation: FormTranslation, *path: str | int
) -> Iterator[InputError]:
    for key, texts in translation.fields.items():
        if key not in fields:
            yield unknown_reference("field", *path, key)
        elif texts.values and len(texts.values) != len(fields[key].values):
            detail = f"Must have {len(fields[key].values)} values, as many as the field."
            yield out_of_range(detail, *path, key, "values")
        for position in duplicate_positions(texts.values):
            if texts.values[position]:
                yield duplicate(*path, key, "values", position)


def unknown_names(text: str) -> Iterator[str]:
    """Yield the names of placeholders that do not exist."""
    for match in PLACEHOLDER.finditer(text):
        if match["name"] not in NAMES:
            yield match["name"]
