"""Find an earlier definition of a resource in the history of its account."""

import json
from datetime import datetime
from typing import Any, Final

from admin.definitions.definition import Kind
from admin.definitions.export import form_definition, place_definition, workflow_definition
from admin.domain.forms.kept import support_email_definition
from admin.services.accounts.manage import last_changes_of
from admin.services.workflows.manage import find_version
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Place
from chalicelib.domain.errors import Conflict
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey

_FORMS: Final[dict[Kind, type[SavedContactForm] | type[SavedSurvey]]] = {
    Kind.CONTACT_FORM: SavedContactForm,
    Kind.SURVEY: SavedSurvey,
}


def previous_definition(
    account_id: str, kind: Kind, resource_id: str, at: datetime | None
) -> dict[str, Any]:
    """Return the definition before the last change, or the definition of a time.

    Raises:
        Conflict: the history contains no change of the resource, or none after the time, or the
            resource did not exist before the change.
        NotFound: the earlier version of a workflow was not kept.
    """
    changes = last_changes_of(account_id, f"{kind.value} {resource_id}")
    if at is None:
        change = changes[0] if changes else None
    else:
        change = next((c for c in reversed(changes) if c.changed_at > at), None)
    if change is None:
        raise Conflict(f"The history contains no change of this {kind.word} to revert.")
    if change.old is None:
        raise Conflict(f"The {kind.word} did not exist before {change.changed_at:%Y-%m-%d %H:%M}.")
    return _definition(account_id, kind, resource_id, change)


def _definition(
    account_id: str, kind: Kind, resource_id: str, change: AccountChange
) -> dict[str, Any]:
    if model := _FORMS.get(kind):
        form = model.model_validate_json(json.dumps(change.old))
        address = form.support_email if isinstance(form, SavedSurvey) else None
        support = {"supportEmail": support_email_definition(address) if address else None}
        definition = form_definition(account_id, form) | {"enabled": form.enabled}
        return definition | (support if isinstance(form, SavedSurvey) else {})
    if kind is Kind.WORKFLOW:
        workflow = find_version(account_id, resource_id, change.changed_at)
        return workflow_definition(account_id, workflow) | {"enabled": workflow.enabled}
    return place_definition(kind, Place.model_validate_json(json.dumps(change.old))) | {
        "kind": kind.value
    }
