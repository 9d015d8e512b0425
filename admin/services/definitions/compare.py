"""Compare definitions with the stored resources: what a load creates, changes and removes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from typing import Any, Final

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.domain.customers.merge import merge_customer
from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from admin.domain.tags import merge_tags
from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.customers.save import without_suppressed_optins
from admin.services.definitions.definition import Definition, Kind, Problem
from admin.services.definitions.export import (
    form_definition,
    place_definition,
    workflow_definition,
)
from admin.services.definitions.identify import MODELS
from admin.services.definitions.plain_yaml import write_yaml
from admin.services.definitions.references import FORM_KINDS, RunReferences, StoredResources
from admin.services.feedback.selection import count_answers, find_answered
from admin.services.forms.manage import AccountForm, SavedForm, find_form
from admin.services.workflows.manage import find_workflow
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import Conflict, NotFound, RecordTooLarge
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.customers.read import find_customer
from chalicelib.settings import settings


class Outcome(StrEnum):
    """The effect of loading a definition."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Effect:
    """The effect of loading one definition.

    Attributes:
        saved: the content of the stored resource; None if there is none.
        is_compared: whether the definition was compared with the stored resource. Definitions that
            cannot be saved are not.
        diff: the changed lines of the definition, as in a unified diff.
        warnings: what respondents no longer see.
        refusals: changes that make stored responses ambiguous.
    """

    definition: Definition
    outcome: Outcome
    saved: dict[str, Any] | None = None
    is_compared: bool = False
    name: str = ""
    diff: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    refusals: tuple[Problem, ...] = ()

    def is_current(self, stored: Any) -> bool:
        """Return whether the stored resource has the content with which this was computed.

        The colours of a customer's tags do not count: they belong to the account.
        """
        content = _content(self.definition, stored) if stored else None
        return not self.is_compared or _without_colours(content) == _without_colours(self.saved)


def effects(
    definitions: Sequence[Definition],
    known: StoredResources,
    on_read: Callable[[int], None] = lambda _: None,
) -> list[Effect]:
    """Return the effect of each definition, in the order of the definitions.

    AWS requests: one per contact form, survey, workflow and customer, one more per customer with an
    opt-in, those of `find_answered` for forms with fields whose type changes, and those of
    `count_answers` for forms with fields that are removed.

    Args:
        on_read: called with the number of responses that were read.
    """
    references = RunReferences(definitions, known)
    return [_effect(definition, references, on_read) for definition in definitions]


def differences(
    kind: Kind, definitions: Sequence[Definition], known: StoredResources
) -> Iterator[str]:
    """Yield the lines of a unified diff from the saved definitions to these definitions.

    Only definitions of this kind are compared. The other definitions are used to resolve
    references.

    Raises:
        Conflict: another account uses the id of a form. `load` would reject the form.
    """
    references = RunReferences(definitions, known)
    for definition in definitions:
        if definition.kind is kind:
            saved, new = _COMPARE[kind](definition, references)
            name = f"{kind.value} {definition.resource_id}"
            yield from unified_diff(
                write_yaml(saved).splitlines() if saved else [],
                write_yaml(new).splitlines(),
                f"saved {name}",
                f"{definition.origin}: {name}",
                lineterm="",
            )


def _effect(
    definition: Definition, references: RunReferences, on_read: Callable[[int], None]
) -> Effect:
    try:
        saved, new = _COMPARE[definition.kind](definition, references)
    except (Conflict, RecordTooLarge):
        # Saving reports the error.
        return Effect(definition, Outcome.NEW)
    name = str(new.get("name") or new.get("displayName") or new.get("email") or "")
    if saved is None:
        return Effect(definition, Outcome.NEW, None, True, name)
    if saved == new:
        return Effect(definition, Outcome.UNCHANGED, saved, True, name)
    warnings, refusals = _field_problems(definition, references, on_read)
    return Effect(
        definition,
        Outcome.CHANGED,
        saved,
        True,
        name,
        tuple(_changed_lines(_without_secrets(saved, {}), _without_secrets(new, saved))),
        tuple(warnings),
        tuple(refusals),
    )


def _changed_lines(saved: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    lines = unified_diff(
        write_yaml(saved).splitlines(), write_yaml(new).splitlines(), lineterm="", n=1
    )
    for number, line in enumerate(lines):
        if number > 1:  # after the names of the two files
            yield "…" if line.startswith("@@") else line


def _without_secrets(content: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the values of webhook headers, which can be credentials.

    Args:
        saved: the stored definition. Values that differ from it are marked.
    """
    before = {action["key"]: action.get("headers", {}) for action in saved.get("actions", ())}
    actions = [
        action
        | {
            "headers": {
                name: "(another hidden value)"
                if saved and value != before.get(action["key"], {}).get(name)
                else "(hidden value)"
                for name, value in action["headers"].items()
            }
        }
        if action.get("headers")
        else action
        for action in content.get("actions", ())
    ]
    return content | {"actions": actions} if actions else content


def _field_problems(
    definition: Definition, references: RunReferences, on_read: Callable[[int], None]
) -> tuple[list[Problem], list[Problem]]:
    """Return warnings about removed fields and options, and the changed types with answers."""
    form = _own_form(definition) if definition.kind in FORM_KINDS else None
    if form is None:
        return [], []
    new = _define(definition, references, form)
    by_key = {field.key: field for field in new.fields}
    by_id = {field.id: field for field in new.fields}
    warnings, removed, retyped = [], {}, {}
    for field in form.saved.fields:
        replacing = by_id.get(field.id) or by_key.get(field.key)
        if replacing is None:
            removed[field.id] = field.key
            continue
        for option in (value for value in field.values if value not in replacing.values):
            detail = f"Removes the option {option!r} of the field {field.key}."
            warnings.append(_problem(definition, "removed", detail))
        if replacing.type is not field.type:
            retyped[field.id] = (
                f"Changes the type of the field {field.key} from {field.type} to"
                f" {replacing.type}, but responses answer it. Use another key for the new question,"
                " or add --retype-answered-fields."
            )
    counts = count_answers(form, removed, on_read) if removed else Counter[str]()
    for field_id, key in removed.items():
        detail = f"Removes the field {key}. Responses that answer it: {counts[field_id]:,}."
        warnings.append(_problem(definition, "removed", detail))
    answered = find_answered(form, retyped, on_read) if retyped else ()
    refusals = [
        _problem(definition, "answered_field", detail)
        for field_id, detail in retyped.items()
        if field_id in answered
    ]
    return warnings, refusals


def _problem(definition: Definition, code: str, detail: str) -> Problem:
    return Problem(definition.origin, InputError("/fields", code, detail))


_Compared = tuple[dict[str, Any] | None, dict[str, Any]]


def _own_form(definition: Definition) -> AccountForm | None:
    form = find_form(FORM_KINDS[definition.kind], definition.resource_id)
    if form and form.account_id != definition.account_id:
        raise Conflict("This id is already used by another account's form.")
    return form


def _define(
    definition: Definition, references: RunReferences, stored: AccountForm | None
) -> SavedForm:
    define: Callable[..., SavedForm] = (
        define_survey if definition.kind is Kind.SURVEY else define_contact_form
    )
    directory = references.directory(definition.account_id)
    return define(definition.content, directory, clock.now(), stored.saved if stored else None)


def _compare_form(definition: Definition, references: RunReferences) -> _Compared:
    stored, account_id = _own_form(definition), definition.account_id
    new = form_definition(account_id, _define(definition, references, stored))
    return _content(definition, stored.saved) if stored else None, new


def _compare_workflow(definition: Definition, references: RunReferences) -> _Compared:
    account_id = definition.account_id
    earlier: Workflow | None
    try:
        earlier = find_workflow(account_id, definition.resource_id)
    except NotFound:
        earlier = None
    parsed = parse_workflow_definition(
        definition.content,
        references.directory(account_id),
        allow_private=settings().private_webhooks,
    )
    new = workflow_definition(account_id, build_workflow(parsed, clock.now(), earlier))
    return _content(definition, earlier) if earlier else None, new


def _compare_place(definition: Definition, references: RunReferences) -> _Compared:
    directory = references.stored.directory(definition.account_id)
    stored = directory.by_id.get(definition.resource_id)
    new = parse_definition(definition.content, MODELS[definition.kind])
    return _content(definition, stored) if stored else None, new.model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )


def _compare_customer(definition: Definition, references: RunReferences) -> _Compared:
    account_id, content = definition.account_id, definition.content
    parsed = parse_definition(content, CustomerDefinition)
    now = clock.now()
    tags = merge_tags(account_id, parsed.tags, references.stored.directory(account_id).tags, now)
    defined = build_customer(parsed, tags, now)
    stored = find_customer(account_id, definition.resource_id)
    saved = merge_customer(content, defined, stored) if stored else defined
    new = _customer_view(without_suppressed_optins(account_id, saved))
    return _content(definition, stored) if stored else None, new


def _content(definition: Definition, stored: Any) -> dict[str, Any]:
    """Return the content of the stored resource of a definition, as a definition."""
    match definition.kind:
        case Kind.BRAND | Kind.STORE:
            return place_definition(definition.kind, stored)
        case Kind.CUSTOMER:
            return _customer_view(stored)
        case Kind.WORKFLOW:
            return workflow_definition(definition.account_id, stored)
    return form_definition(definition.account_id, stored)


def _without_colours(content: dict[str, Any] | None) -> dict[str, Any] | None:
    tags = [tag["tag"] for tag in (content or {}).get("tags", ())]
    return content and content | {"tags": tags}


def _customer_view(customer: Customer) -> dict[str, Any]:
    view = customer.model_dump(mode="json", by_alias=True, exclude=_NOT_LOADED)
    view["tags"] = [{"tag": tag.tag, "color": tag.color} for tag in customer.tags]
    view["attributes"] = [
        attribute.model_dump(mode="json", by_alias=True, exclude={"created_at", "updated_at"})
        for attribute in customer.attributes
    ]
    view["type"] = customer.declared_type
    return {name: value for name, value in view.items() if value not in (None, [], {})}


_NOT_LOADED: Final = {
    "created_at",
    "updated_at",
    "feedback_count",
    "purchase_count",
    "data_sources",
    "average_feedback_rating",
}
_COMPARE: Final[Mapping[Kind, Callable[[Definition, RunReferences], _Compared]]] = {
    Kind.BRAND: _compare_place,
    Kind.STORE: _compare_place,
    Kind.CUSTOMER: _compare_customer,
    Kind.CONTACT_FORM: _compare_form,
    Kind.SURVEY: _compare_form,
    Kind.WORKFLOW: _compare_workflow,
}
