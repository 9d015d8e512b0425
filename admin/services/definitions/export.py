"""Convert saved resources to definitions: the current ones, which a load leaves as they are, and
earlier ones from the history of the account.
"""

import json
from datetime import datetime
from typing import Any, Final

from admin.domain.forms.build import support_email_definition
from admin.services.accounts.manage import last_changes_of
from admin.services.definitions.definition import Kind
from admin.services.definitions.identify import MODELS
from admin.services.workflows.manage import find_version
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Place
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import Conflict
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.workflows.workflow import Workflow

_DERIVED: Final = ("createdAt", "updatedAt", "dependencies", "dependencyOf", "archived")
_FORMS: Final[dict[Kind, type[SavedContactForm] | type[SavedSurvey]]] = {
    Kind.CONTACT_FORM: SavedContactForm,
    Kind.SURVEY: SavedSurvey,
}
_PARTS: Final = ("fields", "fieldGroups", "fieldDependencies", "targets")


def form_definition(account_id: str, form: SavedContactForm | SavedSurvey) -> dict[str, Any]:
    """Return the definition of a saved form, without default values."""
    content = form.model_dump(mode="json", by_alias=True)
    if isinstance(form, SavedSurvey) and form.support_email:
        content["supportEmail"] = support_email_definition(form.support_email)
    for name in _PARTS:
        content[name] = [_without_derived(part) for part in content.get(name, ())]
    kind = Kind.SURVEY if isinstance(form, SavedSurvey) else Kind.CONTACT_FORM
    if kind is Kind.CONTACT_FORM:
        del content["targets"]
    brief = _brief(_without_derived(content), kind)
    # Keep these values even if they equal the default: the default of a position depends on the
    # other parts of the form, and a pre-redirect question requires a threshold.
    for name in ("fields", "fieldGroups"):
        for part, saved in zip(brief.get(name, ()), content[name], strict=True):
            part["verticalIndex"] = saved["verticalIndex"]
    if "preRedirectConfig" in brief:
        brief["preRedirectConfig"]["threshold"] = content["preRedirectConfig"]["threshold"]
    return {"kind": kind.value, "account": account_id, **brief}


def place_definition(kind: Kind, place: Place) -> dict[str, Any]:
    """Return the definition of a stored brand or store, without default values."""
    stored = place.model_dump(mode="json", by_alias=True)
    names = {field.alias for field in MODELS[kind].model_fields.values()}
    return _brief({k: v for k, v in stored.items() if k in names}, kind)


def workflow_definition(account_id: str, workflow: Workflow) -> dict[str, Any]:
    """Return the definition of a saved workflow, without default values."""
    content = workflow.model_dump(mode="json", by_alias=True)
    content["conditions"] = [_set_properties(condition) for condition in content["conditions"]]
    brief = _brief(_without_derived(content), Kind.WORKFLOW)
    return {"kind": Kind.WORKFLOW.value, "account": account_id, **brief}


def _without_derived(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in _DERIVED}


def _set_properties(condition: dict[str, Any]) -> dict[str, Any]:
    nested = [_set_properties(item) for item in condition["conditions"]]
    return {name: value for name, value in (condition | {"conditions": nested}).items() if value}


def _brief(content: dict[str, Any], kind: Kind) -> dict[str, Any]:
    parsed = parse_definition(content, MODELS[kind])
    return parsed.model_dump(mode="json", by_alias=True, exclude_defaults=True)


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
