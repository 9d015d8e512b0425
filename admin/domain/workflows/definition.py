"""Parse the definition of a workflow and build the workflow to save."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from admin.domain.definitions import NormalizedInput, parse_and_validate
from admin.domain.input_errors import not_allowed, required
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.comparison import Combination, Comparator, as_number, parse_list
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.forms.labels import MAX_LABEL
from chalicelib.domain.ids import derived_id, parse_id
from chalicelib.domain.input_errors import (
    InputError,
    duplicate,
    duplicate_positions,
    json_pointer,
    unknown_reference,
)
from chalicelib.domain.language import Language
from chalicelib.domain.schema import (
    Identifier,
    Input,
    format_timestamp,
)
from chalicelib.domain.webhooks.execution import TEST_FEEDBACK_ID
from chalicelib.domain.webhooks.headers import header_errors
from chalicelib.domain.webhooks.url import InvalidWebhookUrl, parse_webhook_url
from chalicelib.domain.workflows.metadata import NAMES, names_in
from chalicelib.domain.workflows.workflow import (
    MAX_ATTEMPTS,
    Action,
    Condition,
    Operator,
    Subject,
    Workflow,
    combination_of,
    raw_body,
)

MAX_ACTIONS: Final = 20
MAX_WORKFLOW_BYTES: Final = 350_000
"""Size limit of a workflow as JSON. The DynamoDB limit is 400 KB per item."""

_SUBJECTS_WITH_ID: Final = frozenset({Subject.FORM, Subject.SURVEY, Subject.BRAND, Subject.STORE})
_ALLOWED_VALUES: Final[Mapping[Subject, tuple[str, ...]]] = {
    Subject.LANGUAGE: tuple(Language),
    Subject.SOURCE: tuple(DataSource),
}
_PLACES: Final[Mapping[Subject, Callable[[Directory, str], object]]] = {
    Subject.BRAND: Directory.brand,
    Subject.STORE: Directory.store,
}
_MAX_CONDITIONS: Final = 50
_MAX_DEPTH: Final = 5
_MAX_HEADERS: Final = 50
_MAX_METADATA: Final = 500
MAX_BODY_BYTES: Final = 200_000
_LONGEST_VALUE: Final = "\0" * MAX_LABEL
"""The value of a placeholder that has the longest JSON."""


class ConditionDefinition(Input):
    """A comparison (`subject`, `operator`, `value`), or a group (`operator`, `conditions`)."""

    operator: Annotated[Operator, Field(strict=False)] = Field(
        description="A comparison, or `$and` or `$or` for a group."
    )
    subject: Subject | None = Field(
        default=None, description="The property of the feedback; not for a group."
    )
    field: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="The id or the key of the field, for the subject `answer`; the name of the"
        " label, for the subject `label`.",
    )
    value: str | None = Field(
        default=None,
        description="The value to compare with; a list with commas for `$in` and `$nin`. For"
        " brands, stores, forms and surveys, the id or the key.",
    )
    conditions: list["ConditionDefinition"] | None = Field(
        default=None, max_length=_MAX_CONDITIONS, description="The conditions of a group."
    )


class ActionDefinition(Input):
    """An action of a workflow. The action sends a webhook."""

    id: Identifier | None = Field(
        default=None, description="The id. Default: derived from the key."
    )
    key: str = Field(
        min_length=1, max_length=100, description="The name of the action, unique in the workflow."
    )
    description: str = Field(
        default="", max_length=2000, description="Internal description, in webhooks."
    )
    url: str = Field(description="The https URL of the receiver.")
    headers: dict[str, str] = Field(
        default={}, max_length=_MAX_HEADERS, description="Custom headers of the request."
    )
    metadata: dict[str, str] = Field(
        default={},
        max_length=_MAX_METADATA,
        description="Data that each webhook of the action contains, with placeholders such as"
        " `{rating}`.",
    )
    attempts: int = Field(
        default=MAX_ATTEMPTS,
        ge=1,
        le=MAX_ATTEMPTS,
        description="The maximum number of attempts.",
    )


class WorkflowDefinition(NormalizedInput):
    """The definition of a workflow."""

    id: Identifier = Field(description="The id of the workflow.")
    name: str = Field(
        min_length=1, max_length=255, description="The name of the workflow, in webhooks."
    )
    enabled: bool = Field(
        default=True,
        description="Whether the workflow reacts to feedback. An existing workflow stays as it is"
        " if this field is absent.",
    )
    operator: Combination = Field(
        default=Combination.AND,
        description="Whether all conditions must match (`$and`) or one (`$or`).",
    )
    conditions: list[ConditionDefinition] = Field(
        default=[],
        max_length=_MAX_CONDITIONS,
        description="The conditions. Without conditions, all feedback matches.",
    )
    actions: list[ActionDefinition] = Field(
        min_length=1, max_length=MAX_ACTIONS, description="The webhooks to send."
    )


def parse_workflow_definition(
    definition: Any,
    directory: Directory | None = None,
    others: Iterable[Workflow] = (),
    labels: Callable[[], Collection[str]] | None = None,
    *,
    allow_private: bool = False,
) -> WorkflowDefinition:
    """Parse and validate the definition of a workflow.

    Args:
        directory: the account's brands and stores. If it is None, the ids of brands and stores in
            conditions are not checked for existence.
        others: the account's workflows, which may include the saved version of this workflow.
        labels: returns the names of the labels that the account's forms declare. If it is None, the
            names of placeholders are not checked.
        allow_private: whether plain http and private addresses are allowed.

    Raises:
        InvalidInput: the definition does not match the model or violates a rule.
    """

    def rule_errors(workflow: WorkflowDefinition) -> Iterator[InputError]:
        yield from _conditions_errors(workflow.conditions, directory, 1, "conditions")
        yield from _uniqueness_errors(workflow, others)
        for position, action in enumerate(workflow.actions):
            yield from _action_errors(workflow, action, allow_private, "actions", position)
            if labels:
                yield from _placeholder_errors(action, labels, "actions", position, "metadata")

    return parse_and_validate(definition, WorkflowDefinition, rule_errors)


def build_workflow(
    definition: WorkflowDefinition, now: datetime, earlier: Workflow | None = None
) -> Workflow:
    """Build the workflow to save. The workflow replaces ``earlier``.

    If the definition does not set `enabled`, the workflow stays enabled or disabled. If nothing
    changes, the workflow keeps the time of its last change.

    Raises:
        RecordTooLarge: the workflow's JSON exceeds `MAX_WORKFLOW_BYTES`.
    """
    updated_at = format_timestamp(now)
    workflow = Workflow(
        id=definition.id,
        name=definition.name,
        enabled=earlier.enabled
        if earlier and "enabled" not in definition.model_fields_set
        else definition.enabled,
        operator=definition.operator,
        conditions=tuple(_condition(condition) for condition in definition.conditions),
        actions=tuple(_action(definition, action) for action in definition.actions),
        created_at=earlier.created_at if earlier else updated_at,
        updated_at=updated_at,
    )
    if len(workflow.model_dump_json().encode()) > MAX_WORKFLOW_BYTES:
        raise RecordTooLarge("workflow", MAX_WORKFLOW_BYTES)
    if earlier and workflow.model_copy(update={"updated_at": earlier.updated_at}) == earlier:
        return earlier
    return workflow


def _condition(definition: ConditionDefinition) -> Condition:
    value = definition.value or ""
    return Condition(
        operator=definition.operator,
        subject=definition.subject,
        field=definition.field or "",
        value=value.lower() if definition.subject in _SUBJECTS_WITH_ID else value,
        conditions=tuple(_condition(nested) for nested in definition.conditions or ()),
    )


def _action(workflow: WorkflowDefinition, definition: ActionDefinition) -> Action:
    return Action(**dict(definition) | {"id": _action_id(workflow, definition)})


def _action_id(workflow: WorkflowDefinition, action: ActionDefinition) -> str:
    return action.id or derived_id(workflow.id, "action", action.key)


def _conditions_errors(
    conditions: Sequence[ConditionDefinition],
    directory: Directory | None,
    depth: int,
    *path: str | int,
) -> Iterator[InputError]:
    for position, condition in enumerate(conditions):
        if combination_of(condition.operator):
            yield from _group_errors(condition, directory, depth, *path, position)
        else:
            yield from _comparison_errors(condition, *path, position)
            yield from _value_errors(condition, directory, *path, position, "value")


def _group_errors(
    group: ConditionDefinition, directory: Directory | None, depth: int, *path: str | int
) -> Iterator[InputError]:
    for name in ("subject", "field", "value"):
        if getattr(group, name) is not None:
            yield not_allowed("Not allowed in a group of conditions.", *path, name)
    if not group.conditions:
        yield InputError(
            json_pointer(*path, "conditions"), "required", "Set at least one condition."
        )
    elif depth > _MAX_DEPTH:
        detail = f"Groups can be nested at most {_MAX_DEPTH} levels deep."
        yield not_allowed(detail, *path, "conditions")
    else:
        yield from _conditions_errors(group.conditions, directory, depth + 1, *path, "conditions")


def _comparison_errors(condition: ConditionDefinition, *path: str | int) -> Iterator[InputError]:
    if condition.conditions is not None:
        yield not_allowed("Allowed only if the operator is $and or $or.", *path, "conditions")
    if condition.subject is None:
        yield required(*path, "subject")
    has_field = condition.subject in (Subject.ANSWER, Subject.LABEL)
    if has_field and not condition.field:
        detail = "Set the id or the key of the field, or the name of the label."
        yield InputError(json_pointer(*path, "field"), "required", detail)
    if not has_field and condition.field is not None:
        yield not_allowed("Allowed only if the subject is answer or label.", *path, "field")


def _value_errors(
    condition: ConditionDefinition, directory: Directory | None, *path: str | int
) -> Iterator[InputError]:
    operator, value = condition.operator.value, condition.value
    if operator == Comparator.EXISTS:
        if value not in ("true", "false"):
            yield not_allowed("Must be true or false.", *path)
    elif not value:
        yield required(*path)
    elif condition.subject and operator != Comparator.CONTAINS:
        is_list = operator in (Comparator.IN, Comparator.NIN)
        for item in parse_list(value) if is_list else [value]:
            yield from _item_errors(condition.subject, item, directory, *path)


def _item_errors(
    subject: Subject, value: str, directory: Directory | None, *path: str | int
) -> Iterator[InputError]:
    """Yield the error in a value that a subject is compared with."""
    allowed = _ALLOWED_VALUES.get(subject, (value,))
    look_up = _PLACES.get(subject)
    place_id = parse_id(value)
    if subject in _SUBJECTS_WITH_ID and place_id is None:
        detail = f"{value!r} is not a valid id of a {subject}."
        yield InputError(json_pointer(*path), "invalid_uuid", detail)
    elif subject is Subject.RATING and as_number(value) is None:
        yield not_allowed(f"{value!r} is not a number.", *path)
    elif value not in allowed:
        yield not_allowed(f"{value!r} is not one of {', '.join(allowed)}.", *path)
    elif look_up and directory and not look_up(directory, place_id or ""):
        yield unknown_reference(subject.value, *path)


def _uniqueness_errors(
    workflow: WorkflowDefinition, others: Iterable[Workflow]
) -> Iterator[InputError]:
    actions = workflow.actions
    used_ids = {
        action.id for other in others if other.id != workflow.id for action in other.actions
    }
    ids = [_action_id(workflow, action) for action in actions]
    repeated_ids = duplicate_positions(ids)
    for position, action_id in enumerate(ids):
        if position in repeated_ids or action_id in used_ids:
            yield duplicate("actions", position, "key" if actions[position].id is None else "id")
    for position in duplicate_positions(action.key for action in actions):
        if position not in repeated_ids:
            yield duplicate("actions", position, "key")


def _action_errors(
    workflow: WorkflowDefinition, action: ActionDefinition, allow_private: bool, *path: str | int
) -> Iterator[InputError]:
    invalid_url = url_error(action.url, allow_private=allow_private)
    if invalid_url:
        yield InputError(json_pointer(*path, "url"), "invalid_url", invalid_url)
    for name, code, detail in header_errors(action.headers):
        yield InputError(json_pointer(*path, "headers", name), code, detail)
    # Only the id and the name of the workflow are part of the body.
    body_workflow = Workflow(
        id=workflow.id, name=workflow.name, actions=(), created_at="", updated_at=""
    )
    body = raw_body(
        body_workflow,
        _action(workflow, action),
        TEST_FEEDBACK_ID,
        TEST_FEEDBACK_ID,
        lambda _: _LONGEST_VALUE,
    )
    if len(body) > MAX_BODY_BYTES:
        yield InputError(
            json_pointer(*path, "metadata"),
            "too_large",
            f"The webhook body must be at most {MAX_BODY_BYTES} bytes.",
        )


def _placeholder_errors(
    action: ActionDefinition, labels: Callable[[], Collection[str]], *path: str | int
) -> Iterator[InputError]:
    for key, text in action.metadata.items():
        for name in names_in(text):
            if name not in NAMES and name not in labels():
                names = ", ".join(f"{{{known}}}" for known in (*NAMES, *sorted(labels())))
                detail = f"Unknown placeholder {{{name}}}. Use {names}, or {{{{ for a brace."
                yield InputError(json_pointer(*path, key), "unknown_placeholder", detail)


def url_error(url: str, *, allow_private: bool) -> str | None:
    """Return the error message for an invalid URL, or None if the URL is valid."""
    try:
        parse_webhook_url(url, allow_private=allow_private)
    except InvalidWebhookUrl as error:
        return str(error)
    return None
