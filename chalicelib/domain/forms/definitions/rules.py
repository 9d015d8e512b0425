"""The rules that a form document must keep beyond the shape of its parts.

Each function yields one fault for each rule that is broken, in the order of the document. Of a
document with malformed parts each rule is judged that asks for none of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from pydantic import BaseModel

from chalicelib.domain.comparison import Comparator, equal, listed
from chalicelib.domain.forms.definitions.dependency_cycle import Edge, edges_on_cycles
from chalicelib.domain.forms.definitions.form import (
    FieldDefinition,
    FieldDependencyDefinition,
    FormDefinition,
    KeyedPart,
)
from chalicelib.domain.forms.definitions.references import Names, References
from chalicelib.domain.forms.definitions.rule import rule, unless_malformed
from chalicelib.domain.forms.definitions.values import value_errors
from chalicelib.domain.forms.fields import SELECT_TYPES, ExpectedValue, FieldType
from chalicelib.domain.forms.translation import FieldTranslation, FormTranslation
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.language import Language

_CHOSEN_FROM_LIST = (Comparator.EQ, Comparator.NE, Comparator.IN, Comparator.NIN)


def form_errors(document: FormDefinition, references: References) -> Iterator[InputError]:
    """Everything that is wrong with what contact forms and surveys have in common."""
    yield from value_errors(document)
    yield from _field_naming_errors(document, references.fields)
    yield from _group_naming_errors(document, references.groups)
    yield from _field_errors(document, references.groups)
    yield from _dependency_errors(document, references.fields)
    yield from _translation_errors(document, references)


def duplicates(texts: Sequence[str | None]) -> list[int]:
    """The positions of the texts that stood earlier in the list."""
    seen: set[str] = set()
    positions: list[int] = []
    for position, text in enumerate(texts):
        if text is not None and text in seen:
            positions.append(position)
        elif text is not None:
            seen.add(text)
    return positions


def repeated(parts: Iterable[BaseModel], name: str) -> list[int]:
    """The positions of the parts whose value of this name stood in an earlier part."""
    return duplicates([unless_malformed(partial(getattr, part, name), None) for part in parts])


def duplicate(*path: str | int) -> InputError:
    """The fault of a value that must be the only one of its kind."""
    return InputError(
        json_pointer(*path), "duplicate", "This stood before; it may be there only once."
    )


def unknown_reference(what: str, *path: str | int) -> InputError:
    """The fault of a reference that points nowhere."""
    return InputError(json_pointer(*path), "unknown_reference", f"There is no such {what}.")


@rule
def _field_naming_errors(document: FormDefinition, fields: Names) -> Iterator[InputError]:
    yield from _naming_errors("fields", document.fields, fields)


@rule
def _group_naming_errors(document: FormDefinition, groups: Names) -> Iterator[InputError]:
    yield from _naming_errors("fieldGroups", document.field_groups, groups)


def _naming_errors(kind: str, parts: Sequence[KeyedPart], names: Names) -> Iterator[InputError]:
    for position, part in enumerate(parts):
        yield from _name_errors(part, kind, position)
    repeated_ids = duplicates(names.ids)
    for position in repeated_ids:
        yield duplicate(kind, position, "key" if parts[position].id is None else "id")
    for position in duplicates(names.keys):
        if position not in repeated_ids:
            yield duplicate(kind, position, "key")


@rule
def _name_errors(part: KeyedPart, *path: str | int) -> Iterator[InputError]:
    if part.id is None and part.key is None:
        yield InputError(json_pointer(*path, "key"), "required", "Give a key or an id.")


@rule
def _field_errors(document: FormDefinition, groups: Names) -> Iterator[InputError]:
    for position, field in enumerate(document.fields):
        yield from _group_errors(field, groups, "fields", position)
        yield from _missing_values_errors(field, "fields", position)
        yield from _value_list_errors(field, "fields", position)
        yield from _most_replies_errors(field, "fields", position)
        yield from _fewest_replies_errors(field, "fields", position)


@rule
def _group_errors(field: FieldDefinition, groups: Names, *path: str | int) -> Iterator[InputError]:
    if field.group and groups.lack(field.group):
        yield unknown_reference("group", *path, "group")


@rule
def _missing_values_errors(field: FieldDefinition, *path: str | int) -> Iterator[InputError]:
    if field.type in SELECT_TYPES and not field.values:
        yield InputError(
            json_pointer(*path, "values"), "required", "A field to choose from needs values."
        )


@rule
def _value_list_errors(field: FieldDefinition, *path: str | int) -> Iterator[InputError]:
    for position in duplicates(field.values):
        yield duplicate(*path, "values", position)
    for position, value in enumerate(field.values):
        if not value:
            yield InputError(
                json_pointer(*path, "values", position), "required", "A value is not empty."
            )


@rule
def _most_replies_errors(field: FieldDefinition, *path: str | int) -> Iterator[InputError]:
    if field.allow_max_replies and field.max_replies < 1:
        yield _reply_error("A field takes at least one reply.", *path, "maxReplies")
    elif field.allow_max_replies and field.max_replies < _fewest_replies(field):
        yield _reply_error("This is less than minReplies.", *path, "maxReplies")


@rule
def _fewest_replies_errors(field: FieldDefinition, *path: str | int) -> Iterator[InputError]:
    fewest = _fewest_replies(field)
    if field.type is not FieldType.MULTI_SELECT and fewest > 1:
        yield _reply_error("A field of this type takes one reply.", *path, "minReplies")
    elif not field.allow_custom_value and fewest > len(field.values) > 0:
        yield _reply_error("There are not so many values.", *path, "minReplies")


def _fewest_replies(field: FieldDefinition) -> int:
    return field.min_replies if field.allow_min_replies else 0


def _reply_error(detail: str, *path: str | int) -> InputError:
    return InputError(json_pointer(*path), "out_of_range", detail)


@rule
def _dependency_errors(document: FormDefinition, names: Names) -> Iterator[InputError]:
    dependencies = document.field_dependencies
    fields = unless_malformed(lambda: dict(zip(names.ids, document.fields, strict=True)), {})
    ends = [_ends(dependency, names) for dependency in dependencies]
    cyclic = edges_on_cycles([edge for edge in ends if edge is not None])
    for position in repeated(dependencies, "id"):
        yield duplicate("fieldDependencies", position, "id")
    for position, (dependency, edge) in enumerate(zip(dependencies, ends, strict=True)):
        path = ("fieldDependencies", position)
        yield from _shown_field_errors(dependency, names, *path, "field")
        yield from _deciding_field_errors(dependency, names, *path, "dependsOnField")
        if edge is not None and edge in cyclic:
            yield InputError(
                json_pointer(*path, "dependsOnField"),
                "cycle",
                "The field would depend on itself, directly or through other fields.",
            )
        deciding = fields.get(_deciding_field(dependency, names) or "")
        yield from _comparison_errors(dependency, deciding, *path, "dependsOnFieldValues")


def _ends(dependency: FieldDependencyDefinition, fields: Names) -> Edge | None:
    field = unless_malformed(lambda: fields.find(dependency.field), None)
    deciding = _deciding_field(dependency, fields)
    return (field, deciding) if field is not None and deciding is not None else None


def _deciding_field(dependency: FieldDependencyDefinition, fields: Names) -> str | None:
    return unless_malformed(lambda: fields.find(dependency.depends_on_field), None)


@rule
def _shown_field_errors(
    dependency: FieldDependencyDefinition, fields: Names, *path: str | int
) -> Iterator[InputError]:
    if fields.lack(dependency.field):
        yield unknown_reference("field", *path)


@rule
def _deciding_field_errors(
    dependency: FieldDependencyDefinition, fields: Names, *path: str | int
) -> Iterator[InputError]:
    if fields.lack(dependency.depends_on_field):
        yield unknown_reference("field", *path)


@rule
def _comparison_errors(
    dependency: FieldDependencyDefinition, deciding: FieldDefinition | None, *path: str | int
) -> Iterator[InputError]:
    if not dependency.depends_on_field_values:
        yield InputError(json_pointer(*path), "required", "Give a comparison.")
    for position, expected in enumerate(dependency.depends_on_field_values):
        yield from _expected_errors(expected, deciding, *path, position, "value")


@rule
def _expected_errors(
    expected: ExpectedValue, deciding: FieldDefinition | None, *path: str | int
) -> Iterator[InputError]:
    if expected.operator is Comparator.EXISTS:
        if expected.value not in ("true", "false"):
            yield InputError(json_pointer(*path), "not_allowed", "This must be true or false.")
        return
    if not expected.value:
        yield InputError(json_pointer(*path), "required", "Required.")
        return
    allowed = deciding.answers_from_list if deciding else None
    if not allowed or expected.operator not in _CHOSEN_FROM_LIST:
        return
    one = expected.operator in (Comparator.EQ, Comparator.NE)
    wanted = [expected.value] if one else listed(expected.value)
    if not all(any(equal(value, answer) for answer in allowed) for value in wanted):
        yield InputError(
            json_pointer(*path), "not_allowed", "The field cannot be answered with this."
        )


@rule
def _translation_errors(document: FormDefinition, references: References) -> Iterator[InputError]:
    for language, translation in document.translations.items():
        path = ("translations", str(language))
        yield from _own_language_errors(document, language, *path)
        yield from _translated_fields_errors(
            document, references.fields, translation, *path, "fields"
        )
        yield from _translated_groups_errors(translation, references.groups, *path, "groups")


@rule
def _own_language_errors(
    document: FormDefinition, language: Language, *path: str | int
) -> Iterator[InputError]:
    if language is document.language:
        yield InputError(
            json_pointer(*path), "not_allowed", "This is the language of the form itself."
        )


@rule
def _translated_fields_errors(
    document: FormDefinition, names: Names, translation: FormTranslation, *path: str | int
) -> Iterator[InputError]:
    fields = dict(zip(names.keys, document.fields, strict=True))
    for key, texts in translation.fields.items():
        if key in fields:
            yield from _translated_values_errors(texts, fields[key], *path, key, "values")
        elif names.all_known:
            yield unknown_reference("field", *path, key)
        yield from _repeated_values_errors(texts, *path, key, "values")


@rule
def _translated_values_errors(
    texts: FieldTranslation, field: FieldDefinition, *path: str | int
) -> Iterator[InputError]:
    if texts.values and len(texts.values) != len(field.values):
        yield InputError(
            json_pointer(*path),
            "out_of_range",
            f"This must hold {len(field.values)} values, as the field does.",
        )


@rule
def _repeated_values_errors(texts: FieldTranslation, *path: str | int) -> Iterator[InputError]:
    for position in duplicates(texts.values):
        if texts.values[position]:
            yield duplicate(*path, position)


@rule
def _translated_groups_errors(
    translation: FormTranslation, groups: Names, *path: str | int
) -> Iterator[InputError]:
    for key in translation.groups:
        if groups.all_known and key not in groups.keys:
            yield unknown_reference("group", *path, key)
