"""Build the saved form from a definition: derive ids, resolve references and set timestamps."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from admin.domain.forms.form import FormDefinition
from admin.domain.forms.references import References
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.forms.contact_form import PartnerContactForm, SavedContactForm
from chalicelib.domain.forms.fields import FieldDependency, FieldTraits, SavedField, SavedFieldGroup
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.part import DatedPart
from chalicelib.domain.forms.survey import PartnerSurvey, SavedSurvey, SupportEmail
from chalicelib.domain.paging import check_listable
from chalicelib.domain.schema import format_timestamp

MAX_FORM_BYTES: Final = 50 * 1024
"""Size limit of a saved form as JSON."""

_Part = TypeVar("_Part", bound=DatedPart)
_Saved = TypeVar("_Saved", bound=SavedForm)


def build_form(
    model: type[_Saved],
    view: type[PartnerContactForm] | type[PartnerSurvey],
    definition: FormDefinition,
    directory: Directory,
    now: datetime,
    earlier: _Saved | None,
    **extra_fields: Any,
) -> _Saved:
    """Build the form to save. The form replaces ``earlier``.

    Parts that also exist in ``earlier`` retain timestamps as described in `retain_timestamps`.

    Args:
        view: the model of the partner view. The size of the view is limited too.
        directory: the account's brands and stores, whose names the view contains.
        extra_fields: the properties that only contact forms or only surveys have.

    Raises:
        RecordTooLarge: the form's JSON exceeds `MAX_FORM_BYTES`, or the JSON of the partner view
            exceeds `MAX_LISTED_BYTES` with escaped characters.
    """
    timestamp = format_timestamp(now)
    references = References.of(definition)
    dependencies = _dependencies(definition, references, timestamp)
    parts: dict[str, Sequence[DatedPart]] = {
        "fields": _fields(definition, references, dependencies, timestamp),
        "field_groups": _groups(definition, references, timestamp),
        "field_dependencies": dependencies,
    }
    form = model.model_validate(
        definition.model_dump(by_alias=False, exclude=set(parts))
        | {
            "created_at": timestamp,
            "updated_at": timestamp,
            "archived": bool(earlier and earlier.archived and not definition.enabled),
        }
        | {name: retain_timestamps(new, getattr(earlier, name, ())) for name, new in parts.items()}
        | extra_fields
    )
    (form,) = retain_timestamps([form], [earlier] if earlier else ())
    document = form.model_dump_json().encode()
    if len(document) > MAX_FORM_BYTES:
        raise RecordTooLarge("form", MAX_FORM_BYTES)
    listed = view.read(document, directory, submission_count=0)
    check_listable("form", listed.model_dump_json())
    return form


def with_kept_values(definition: Any, stored: SavedContactForm | SavedSurvey | None) -> Any:
    """Return the definition with the stored `enabled` and `supportEmail`, if it omits them.

    Operators disable forms and verify support addresses with other commands. A file that was
    written before must not enable a form again or remove a verified address. Null restores the
    default: a form is enabled and has no support address.
    """
    if stored is None or not isinstance(definition, dict):
        return definition
    kept: dict[str, Any] = {"enabled": stored.enabled}
    if isinstance(stored, SavedSurvey) and stored.support_email:
        kept["supportEmail"] = support_email_definition(stored.support_email)
    return kept | definition


def support_email_definition(support_email: SupportEmail) -> dict[str, Any]:
    """Return the definition of a stored support address."""
    content = support_email.model_dump(
        mode="json", by_alias=True, exclude={"created_at", "updated_at"}
    )
    return {name: value for name, value in content.items() if name != "forwardingEmail" or value}


def retain_timestamps(parts: Iterable[_Part], earlier: Iterable[_Part]) -> list[_Part]:
    """Return the parts of a form with the timestamps that the parts retain from ``earlier``.

    A part that also exists in ``earlier`` retains its creation time. If the part has not changed,
    it also retains the time of its last change.
    """
    before = {part.id: part for part in earlier}
    return [_retain_timestamps(part, before.get(part.id)) for part in parts]


def _retain_timestamps(part: _Part, earlier: _Part | None) -> _Part:
    if earlier is None:
        return part
    created = part.model_copy(update={"created_at": earlier.created_at})
    unchanged = created.model_copy(update={"updated_at": earlier.updated_at})
    return earlier if unchanged == earlier else created


def _fields(
    definition: FormDefinition,
    references: References,
    dependencies: Iterable[FieldDependency],
    timestamp: str,
) -> list[SavedField]:
    dependencies_of: dict[str, list[str]] = {}
    dependents_of: dict[str, list[str]] = {}
    for dependency in dependencies:
        dependencies_of.setdefault(dependency.field, []).append(dependency.id)
        dependents_of.setdefault(dependency.depends_on_field, []).append(dependency.id)
    fields: list[SavedField] = []
    for position, (field, field_id, key) in enumerate(
        zip(definition.fields, references.fields.ids, references.fields.keys, strict=True)
    ):
        traits = field.model_dump(by_alias=False, include=set(FieldTraits.model_fields))
        if "vertical_index" not in field.model_fields_set:
            traits["vertical_index"] = position
        fields.append(
            SavedField(
                id=field_id,
                key=key,
                created_at=timestamp,
                updated_at=timestamp,
                group=references.groups.find(field.group) or "",
                dependencies=dependencies_of.get(field_id, []),
                dependency_of=dependents_of.get(field_id, []),
                **traits,
            )
        )
    return fields


def _groups(
    definition: FormDefinition, references: References, timestamp: str
) -> list[SavedFieldGroup]:
    return [
        SavedFieldGroup(
            id=group_id,
            key=key,
            created_at=timestamp,
            updated_at=timestamp,
            name=group.name,
            vertical_index=group.vertical_index
            if "vertical_index" in group.model_fields_set
            else position,
        )
        for position, (group, group_id, key) in enumerate(
            zip(definition.field_groups, references.groups.ids, references.groups.keys, strict=True)
        )
    ]


def _dependencies(
    definition: FormDefinition, references: References, timestamp: str
) -> list[FieldDependency]:
    ids = references.dependency_ids(definition.field_dependencies)
    return [
        FieldDependency(
            id=dependency_id,
            created_at=timestamp,
            updated_at=timestamp,
            field=references.fields.find(dependency.field) or "",
            depends_on_field=references.fields.find(dependency.depends_on_field) or "",
            operator=dependency.operator,
            depends_on_field_values=dependency.depends_on_field_values,
        )
        for dependency, dependency_id in zip(definition.field_dependencies, ids, strict=True)
    ]
