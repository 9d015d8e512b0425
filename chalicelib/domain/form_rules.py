"""The rules that a form document must keep beyond the shape of its parts.

Each function yields one fault for each rule that is broken, in the order of the document.
"""

from collections.abc import Iterator, Sequence

from chalicelib.domain.comparison import Comparator, equal, listed
from chalicelib.domain.dependency_cycle import Edge, edges_on_cycles
from chalicelib.domain.document_values import value_faults
from chalicelib.domain.faults import Fault, json_pointer
from chalicelib.domain.form_document import (
    FieldDependencyDocument,
    FieldDocument,
    FormDocument,
    KeyedPart,
)
from chalicelib.domain.form_fields import SELECT_TYPES, ExpectedValue, FieldType
from chalicelib.domain.form_references import Names, References

_CHOSEN_FROM_LIST = (Comparator.EQ, Comparator.NE, Comparator.IN, Comparator.NIN)


def form_faults(document: FormDocument, references: References) -> Iterator[Fault]:
    """Everything that is wrong with what contact forms and surveys have in common."""
    yield from value_faults(document)
    yield from _naming_faults("fields", document.fields, references.fields)
    yield from _naming_faults("fieldGroups", document.field_groups, references.groups)
    for position, field in enumerate(document.fields):
        yield from _field_faults(field, references.groups, "fields", position)
    yield from _dependency_faults(document, references)
    yield from _translation_faults(document, references)


def duplicates(texts: Sequence[str | None]) -> list[int]:
    """The positions of the texts that stood earlier in the list."""
    seen: set[str] = set()
    repeated: list[int] = []
    for position, text in enumerate(texts):
        if text is not None and text in seen:
            repeated.append(position)
        elif text is not None:
            seen.add(text)
    return repeated


def duplicate(*path: str | int) -> Fault:
    """The fault of a value that must be the only one of its kind."""
    return Fault(json_pointer(*path), "duplicate", "This stood before; it may be there only once.")


def unknown_reference(what: str, *path: str | int) -> Fault:
    """The fault of a reference that points nowhere."""
    return Fault(json_pointer(*path), "unknown_reference", f"There is no such {what}.")


def _naming_faults(kind: str, parts: Sequence[KeyedPart], names: Names) -> Iterator[Fault]:
    for position, part in enumerate(parts):
        if part.id is None and part.key is None:
            yield Fault(json_pointer(kind, position, "key"), "required", "Give a key or an id.")
    repeated_ids = duplicates(names.ids)
    for position in repeated_ids:
        yield duplicate(kind, position, "key" if parts[position].id is None else "id")
    for position in duplicates(names.keys):
        if position not in repeated_ids:
            yield duplicate(kind, position, "key")


def _field_faults(field: FieldDocument, groups: Names, *path: str | int) -> Iterator[Fault]:
    if field.group and groups.find(field.group) is None:
        yield unknown_reference("group", *path, "group")
    if field.type in SELECT_TYPES and not field.values:
        yield Fault(
            json_pointer(*path, "values"), "required", "A field to choose from needs values."
        )
    for position in duplicates(field.values):
        yield duplicate(*path, "values", position)
    for position, value in enumerate(field.values):
        if not value:
            yield Fault(
                json_pointer(*path, "values", position), "required", "A value is not empty."
            )
    yield from _reply_faults(field, *path)


def _reply_faults(field: FieldDocument, *path: str | int) -> Iterator[Fault]:
    fewest = field.min_replies if field.allow_min_replies else 0
    if field.allow_max_replies and field.max_replies < 1:
        yield _reply_fault("A field takes at least one reply.", *path, "maxReplies")
    elif field.allow_max_replies and field.max_replies < fewest:
        yield _reply_fault("This is less than minReplies.", *path, "maxReplies")
    if field.type is not FieldType.MULTI_SELECT and fewest > 1:
        yield _reply_fault("A field of this type takes one reply.", *path, "minReplies")
    elif not field.allow_custom_value and fewest > len(field.values) > 0:
        yield _reply_fault("There are not so many values.", *path, "minReplies")


def _reply_fault(detail: str, *path: str | int) -> Fault:
    return Fault(json_pointer(*path), "out_of_range", detail)


def _dependency_faults(document: FormDocument, references: References) -> Iterator[Fault]:
    dependencies = document.field_dependencies
    fields = dict(zip(references.fields.ids, document.fields, strict=True))
    ends = [_ends(dependency, references.fields) for dependency in dependencies]
    cyclic = edges_on_cycles([edge for edge in ends if edge is not None])
    for position in duplicates([dependency.id for dependency in dependencies]):
        yield duplicate("fieldDependencies", position, "id")
    for position, (dependency, edge) in enumerate(zip(dependencies, ends, strict=True)):
        path = ("fieldDependencies", position)
        if references.fields.find(dependency.field) is None:
            yield unknown_reference("field", *path, "field")
        if references.fields.find(dependency.depends_on_field) is None:
            yield unknown_reference("field", *path, "dependsOnField")
        if edge is not None and edge in cyclic:
            yield Fault(
                json_pointer(*path, "dependsOnField"),
                "cycle",
                "The field would depend on itself, directly or through other fields.",
            )
        if not dependency.depends_on_field_values:
            yield Fault(
                json_pointer(*path, "dependsOnFieldValues"), "required", "Give a comparison."
            )
        deciding = fields.get(references.fields.find(dependency.depends_on_field) or "")
        for place, expected in enumerate(dependency.depends_on_field_values):
            yield from _expected_faults(
                expected, deciding, *path, "dependsOnFieldValues", place, "value"
            )


def _ends(dependency: FieldDependencyDocument, fields: Names) -> Edge | None:
    field, deciding = fields.find(dependency.field), fields.find(dependency.depends_on_field)
    return (field, deciding) if field is not None and deciding is not None else None


def _expected_faults(
    expected: ExpectedValue, deciding: FieldDocument | None, *path: str | int
) -> Iterator[Fault]:
    if expected.operator is Comparator.EXISTS:
        if expected.value not in ("true", "false"):
            yield Fault(json_pointer(*path), "not_allowed", "This must be true or false.")
        return
    if not expected.value:
        yield Fault(json_pointer(*path), "required", "This is required.")
        return
    allowed = deciding.answers_from_list if deciding else None
    if not allowed or expected.operator not in _CHOSEN_FROM_LIST:
        return
    one = expected.operator in (Comparator.EQ, Comparator.NE)
    wanted = [expected.value] if one else listed(expected.value)
    if not all(any(equal(value, answer) for answer in allowed) for value in wanted):
        yield Fault(json_pointer(*path), "not_allowed", "The field cannot be answered with this.")


def _translation_faults(document: FormDocument, references: References) -> Iterator[Fault]:
    fields = dict(zip(references.fields.keys, document.fields, strict=True))
    for language, texts in document.translations.items():
        path = ("translations", str(language))
        if language is document.language:
            yield Fault(
                json_pointer(*path), "not_allowed", "This is the language of the form itself."
            )
        for key, translation in texts.fields.items():
            field = fields.get(key)
            if field is None:
                yield unknown_reference("field", *path, "fields", key)
            elif translation.values and len(translation.values) != len(field.values):
                yield Fault(
                    json_pointer(*path, "fields", key, "values"),
                    "out_of_range",
                    f"This must hold {len(field.values)} values, as the field does.",
                )
            for position in duplicates(translation.values):
                if translation.values[position]:
                    yield duplicate(*path, "fields", key, "values", position)
        for key in texts.groups:
            if key not in references.groups.keys:
                yield unknown_reference("group", *path, "groups", key)
