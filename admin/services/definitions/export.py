"""Convert saved resources to the content of definitions, which a load leaves as they are."""

from typing import Any, Final

from admin.domain.definitions import parse_definition
from admin.domain.forms.build import support_email_definition
from admin.domain.forms.contact_form import ContactFormDefinition
from admin.domain.forms.survey import SurveyDefinition
from admin.domain.places import BrandDefinition, StoreDefinition
from admin.domain.workflows.definition import WorkflowDefinition
from admin.services.definitions.definition import Kind
from chalicelib.domain.accounts.places import Place, PlaceKind
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.schema import Input
from chalicelib.domain.workflows.workflow import Workflow

_DERIVED: Final = ("createdAt", "updatedAt", "dependencies", "dependencyOf", "archived")
_PARTS: Final = ("fields", "fieldGroups", "fieldDependencies", "targets")
_NOT_LOADED: Final = {
    "created_at",
    "updated_at",
    "feedback_count",
    "purchase_count",
    "data_sources",
    "average_feedback_rating",
}
"""The properties of customers that definitions do not contain."""


def form_definition(account_id: str, form: SavedContactForm | SavedSurvey) -> dict[str, Any]:
    """Return the definition of a saved form, without default values."""
    content = form.model_dump(mode="json", by_alias=True)
    if isinstance(form, SavedSurvey) and form.support_email:
        content["supportEmail"] = support_email_definition(form.support_email)
    for name in _PARTS:
        content[name] = [_without_derived(part) for part in content.get(name, ())]
    if isinstance(form, SavedSurvey):
        kind, brief = Kind.SURVEY, _brief(_without_derived(content), SurveyDefinition)
    else:
        del content["targets"]
        kind, brief = Kind.CONTACT_FORM, _brief(_without_derived(content), ContactFormDefinition)
    # Keep these values even if they equal the default: the default of a position depends on the
    # other parts of the form, and a pre-redirect question requires a threshold.
    for name in ("fields", "fieldGroups"):
        for part, saved in zip(brief.get(name, ()), content[name], strict=True):
            part["verticalIndex"] = saved["verticalIndex"]
    if "preRedirectConfig" in brief:
        brief["preRedirectConfig"]["threshold"] = content["preRedirectConfig"]["threshold"]
    return {"kind": kind.value, "account": account_id, **brief}


def place_definition(place: Place) -> dict[str, Any]:
    """Return the definition of a stored brand or store, without default values."""
    model = BrandDefinition if place.kind is PlaceKind.BRAND else StoreDefinition
    stored = place.model_dump(mode="json", by_alias=True)
    names = {field.alias for field in model.model_fields.values()}
    brief = _brief({k: v for k, v in stored.items() if k in names}, model)
    return {"kind": place.kind.lower(), **brief}


def workflow_definition(account_id: str, workflow: Workflow) -> dict[str, Any]:
    """Return the definition of a saved workflow, without default values."""
    content = workflow.model_dump(mode="json", by_alias=True)
    content["conditions"] = [_set_properties(condition) for condition in content["conditions"]]
    brief = _brief(_without_derived(content), WorkflowDefinition)
    return {"kind": Kind.WORKFLOW.value, "account": account_id, **brief}


def customer_content(customer: Customer) -> dict[str, Any]:
    """Return the properties of a stored customer that a definition can change."""
    view = customer.model_dump(mode="json", by_alias=True, exclude=_NOT_LOADED)
    view["tags"] = [{"tag": tag.tag, "color": tag.color} for tag in customer.tags]
    view["attributes"] = [
        attribute.model_dump(mode="json", by_alias=True, exclude={"created_at", "updated_at"})
        for attribute in customer.attributes
    ]
    view["type"] = customer.declared_type
    return {name: value for name, value in view.items() if value not in (None, [], {})}


def _without_derived(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in _DERIVED}


def _set_properties(condition: dict[str, Any]) -> dict[str, Any]:
    nested = [_set_properties(item) for item in condition["conditions"]]
    return {name: value for name, value in (condition | {"conditions": nested}).items() if value}


def _brief(content: dict[str, Any], model: type[Input]) -> dict[str, Any]:
    parsed = parse_definition(content, model)
    return parsed.model_dump(mode="json", by_alias=True, exclude_defaults=True)
