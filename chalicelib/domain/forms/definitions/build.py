"""From an operator's document to the saved form: ids, links between the parts, and dates."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from chalicelib.domain.errors import InputTooLarge
from chalicelib.domain.forms.definitions.form import FormDefinition
from chalicelib.domain.forms.definitions.references import References
from chalicelib.domain.forms.fields import FieldDependency, FieldTraits, SavedField, SavedFieldGroup
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.part import DatedPart
from chalicelib.domain.schema import format_timestamp

MAX_FORM_BYTES: Final = 50 * 1024
"""The most bytes that a saved form may take as JSON. A page of 100 is still one answer."""

_Part = TypeVar("_Part", bound=DatedPart)
_Saved = TypeVar("_Saved", bound=SavedForm)


def build_saved_form(
    model: type[_Saved],
    document: FormDefinition,
    references: References,
    now: datetime,
    earlier: _Saved | None,
    **own_parts: Any,
) -> _Saved:
    """The form to save in place of the earlier one, whose parts keep their dates.

    ``own_parts`` are those that only this kind of form has, in the way they are saved.

    Raises:
        InputTooLarge: the form takes more than `MAX_FORM_BYTES` bytes.
    """
    moment = format_timestamp(now)
    dependencies = _dependencies(document, references, moment)
    form = model.model_validate(
        document.model_dump(
            by_alias=False, exclude={"fields", "field_groups", "field_dependencies"}
        )
        | {
            "created_at": moment,
            "updated_at": moment,
            "fields": keep_dates(
                _fields(document, references, dependencies, moment),
                earlier.fields if earlier else (),
            ),
            "field_groups": keep_dates(
                _groups(document, references, moment), earlier.field_groups if earlier else ()
            ),
            "field_dependencies": keep_dates(
                dependencies, earlier.field_dependencies if earlier else ()
            ),
        }
        | own_parts
    )
    (form,) = keep_dates([form], [earlier] if earlier else ())
    if len(form.model_dump_json().encode()) > MAX_FORM_BYTES:
        raise InputTooLarge("form", MAX_FORM_BYTES)
    return form


def keep_dates(parts: Iterable[_Part], earlier: Iterable[_Part]) -> list[_Part]:
    """The parts, each created when it first was, and updated only when it differs from before."""
    before = {part.id: part for part in earlier}
    return [_keep_dates(part, before) for part in parts]


def _keep_dates(part: _Part, before: Mapping[str, _Part]) -> _Part:
    earlier = before.get(part.id)
    if earlier is None:
        return part
    unchanged = part.model_copy(
        update={"created_at": earlier.created_at, "updated_at": earlier.updated_at}
    )
    if unchanged == earlier:
        return earlier
    return part.model_copy(update={"created_at": earlier.created_at})


def _fields(
    document: FormDefinition,
    references: References,
    dependencies: Iterable[FieldDependency],
    moment: str,
) -> list[SavedField]:
    decided_by: dict[str, list[str]] = {}
    decides: dict[str, list[str]] = {}
    for dependency in dependencies:
        decided_by.setdefault(dependency.field, []).append(dependency.id)
        decides.setdefault(dependency.depends_on_field, []).append(dependency.id)
    fields: list[SavedField] = []
    for position, (field, field_id, key) in enumerate(
        zip(document.fields, references.fields.ids, references.fields.keys, strict=True)
    ):
        traits = field.model_dump(by_alias=False, include=set(FieldTraits.model_fields))
        if "vertical_index" not in field.model_fields_set:
            traits["vertical_index"] = position
        fields.append(
            SavedField(
                id=field_id,
                key=key,
                created_at=moment,
                updated_at=moment,
                group=references.groups.find(field.group) or "",
                dependencies=decided_by.get(field_id, []),
                dependency_of=decides.get(field_id, []),
                **traits,
            )
        )
    return fields


def _groups(document: FormDefinition, references: References, moment: str) -> list[SavedFieldGroup]:
    return [
        SavedFieldGroup(
            id=group_id,
            key=key,
            created_at=moment,
            updated_at=moment,
            name=group.name,
            vertical_index=group.vertical_index
            if "vertical_index" in group.model_fields_set
            else position,
        )
        for position, (group, group_id, key) in enumerate(
            zip(document.field_groups, references.groups.ids, references.groups.keys, strict=True)
        )
    ]


def _dependencies(
    document: FormDefinition, references: References, moment: str
) -> list[FieldDependency]:
    ids = references.dependency_ids(document.field_dependencies)
    return [
        FieldDependency(
            id=dependency_id,
            created_at=moment,
            updated_at=moment,
            field=references.fields.find(dependency.field) or "",
            depends_on_field=references.fields.find(dependency.depends_on_field) or "",
            operator=dependency.operator,
            depends_on_field_values=dependency.depends_on_field_values,
        )
        for dependency, dependency_id in zip(document.field_dependencies, ids, strict=True)
    ]
