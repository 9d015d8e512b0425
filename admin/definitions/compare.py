"""Compare definitions in files with the saved forms and workflows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any, Final

from admin.definitions.check import Known
from admin.definitions.definition import Definition, Kind
from admin.definitions.export import form_definition, workflow_definition
from admin.definitions.plain_yaml import write_yaml
from admin.definitions.references import RunReferences
from admin.domain.forms.contact_form import (
    build_contact_form,
    parse_contact_form_definition,
)
from admin.domain.forms.survey import build_survey, parse_survey_definition
from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.workflows.manage import find_workflow
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.services.forms.saved import find_form
from chalicelib.settings import settings


def differences(kind: Kind, definitions: Sequence[Definition], known: Known) -> Iterator[str]:
    """Yield the lines of a unified diff from the saved definitions to these definitions.

    Only definitions of this kind are compared. The other definitions are used to resolve
    references.

    Raises:
        Conflict: another account uses the id of a form. `load` would reject the form.
    """
    references = RunReferences(definitions, known)
    for definition in definitions:
        if definition.kind is kind:
            new = _NEW[kind](definition, references.directory(definition.account_id))
            saved = _SAVED[kind](definition)
            name = f"{kind.value} {definition.resource_id}"
            yield from unified_diff(
                write_yaml(saved).splitlines() if saved else [],
                write_yaml(new).splitlines(),
                f"saved {name}",
                f"{definition.origin}: {name}",
                lineterm="",
            )


def _new_contact_form(definition: Definition, directory: Directory) -> dict[str, Any]:
    parsed = parse_contact_form_definition(definition.content, directory)
    return form_definition(
        definition.account_id, build_contact_form(parsed, directory, clock.now())
    )


def _new_survey(definition: Definition, directory: Directory) -> dict[str, Any]:
    parsed = parse_survey_definition(definition.content, directory)
    return form_definition(definition.account_id, build_survey(parsed, directory, clock.now()))


def _new_workflow(definition: Definition, directory: Directory) -> dict[str, Any]:
    allow_private = settings().private_webhooks
    parsed = parse_workflow_definition(definition.content, directory, allow_private=allow_private)
    return workflow_definition(definition.account_id, build_workflow(parsed, clock.now()))


def _saved_form(kind: FormKind) -> Callable[[Definition], dict[str, Any] | None]:
    def saved(definition: Definition) -> dict[str, Any] | None:
        form = find_form(kind, definition.resource_id or "")
        if form and form.account_id != definition.account_id:
            raise Conflict("This id is already used by another account's form.")
        return form_definition(form.account_id, form.saved) if form else None

    return saved


def _saved_workflow(definition: Definition) -> dict[str, Any] | None:
    try:
        workflow = find_workflow(definition.account_id, definition.resource_id or "")
    except NotFound:
        return None
    return workflow_definition(definition.account_id, workflow)


_NEW: Final[Mapping[Kind, Callable[[Definition, Directory], dict[str, Any]]]] = {
    Kind.CONTACT_FORM: _new_contact_form,
    Kind.SURVEY: _new_survey,
    Kind.WORKFLOW: _new_workflow,
}
_SAVED: Final[Mapping[Kind, Callable[[Definition], dict[str, Any] | None]]] = {
    Kind.CONTACT_FORM: _saved_form(FormKind.CONTACT_FORM),
    Kind.SURVEY: _saved_form(FormKind.SURVEY),
    Kind.WORKFLOW: _saved_workflow,
}
