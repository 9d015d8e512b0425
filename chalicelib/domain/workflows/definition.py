"""A workflow as an operator writes it, checked and turned into what is saved."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

from pydantic import Field

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.comparison import Combination, Comparator
from chalicelib.domain.errors import InputTooLarge
from chalicelib.domain.forms.definitions.form import parse_definition
from chalicelib.domain.forms.definitions.rule import rule, unless_malformed
from chalicelib.domain.forms.definitions.rules import duplicate, duplicates, repeated
from chalicelib.domain.forms.fields import CombinationName
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.schema import Identifier, Input, format_timestamp
from chalicelib.domain.webhooks.headers import (
    InvalidHeader,
    normalize_header_name,
    validate_headers,
)
from chalicelib.domain.webhooks.url import url_error
from chalicelib.domain.workflows.condition_values import NAMED_BY_ID, condition_value_errors
from chalicelib.domain.workflows.workflow import (
    MAX_ATTEMPTS,
    MAX_BODY_BYTES,
    Action,
    Condition,
    Operator,
    Subject,
    Workflow,
    body_size,
    combination_of,
)

MAX_ACTIONS: Final = 20
MAX_WORKFLOW_BYTES: Final = 350_000
"""As JSON; a row of DynamoDB takes 400 KB."""

_MAX_CONDITIONS: Final = 50
_MAX_DEPTH: Final = 5
_MAX_HEADERS: Final = 50
_MAX_METADATA: Final = 500


class ConditionDefinition(Input):
    """A comparison (`subject`, `operator`, `value`), or a group (`operator`, `conditions`)."""

    operator: Annotated[Operator, Field(strict=False)]
    subject: Annotated[Subject | None, Field(strict=False)] = None
    field: str | None = Field(default=None, min_length=1, max_length=100)
    value: str | None = None
    conditions: list["ConditionDefinition"] | None = Field(default=None, max_length=_MAX_CONDITIONS)


class ActionDefinition(Input):
    """A webhook. Without an id one follows from the workflow's id and the key."""

    id: Identifier | None = None
    key: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=2000)
    url: str
    headers: dict[str, str] = Field(default={}, max_length=_MAX_HEADERS)
    metadata: dict[str, str] = Field(default={}, max_length=_MAX_METADATA)
    attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=MAX_ATTEMPTS)


class WorkflowDefinition(Input):
    """A workflow."""

    id: Identifier
    name: str = Field(min_length=1, max_length=255)
    enabled: bool = True
    operator: CombinationName = Combination.AND
    conditions: list[ConditionDefinition] = Field(default=[], max_length=_MAX_CONDITIONS)
    actions: list[ActionDefinition] = Field(min_length=1, max_length=MAX_ACTIONS)


def read_workflow(
    document: Any,
    directory: Directory | None = None,
    others: Iterable[Workflow] = (),
    *,
    allow_private: bool = False,
) -> WorkflowDefinition:
    """The document as its model.

    Args:
        directory: the account's brands and stores; None leaves out whether there are those that
            conditions name.
        others: the account's other workflows; the one with the document's id may be among them.
        allow_private: whether plain http and private addresses will do.

    Raises:
        InvalidInput: with every key and value that does not fit, and every rule that is broken.
    """

    def rule_errors(workflow: WorkflowDefinition) -> Iterator[InputError]:
        yield from _workflow_condition_errors(workflow, directory)
        yield from _uniqueness_errors(workflow, others)
        yield from _workflow_action_errors(workflow, allow_private)

    return parse_definition(WorkflowDefinition, document, rule_errors)


def save_workflow(
    document: WorkflowDefinition, now: datetime, earlier: Workflow | None = None
) -> Workflow:
    """The workflow to save, in place of the earlier one if there is one.

    Raises:
        InputTooLarge: it takes more than `MAX_WORKFLOW_BYTES`.
    """
    written = format_timestamp(now)
    workflow = Workflow(
        id=document.id,
        name=document.name,
        enabled=document.enabled,
        operator=document.operator,
        conditions=tuple(_condition(each) for each in document.conditions),
        actions=tuple(_action(document, each) for each in document.actions),
        created_at=earlier.created_at if earlier else written,
        updated_at=written,
    )
    if len(workflow.model_dump_json().encode()) > MAX_WORKFLOW_BYTES:
        raise InputTooLarge("workflow", MAX_WORKFLOW_BYTES)
    return workflow


def _condition(document: ConditionDefinition) -> Condition:
    value = document.value or ""
    return Condition(
        operator=document.operator,
        subject=document.subject,
        field=document.field or "",
        value=value.lower() if document.subject in NAMED_BY_ID else value,
        conditions=tuple(_condition(each) for each in document.conditions or ()),
    )


def _action(workflow: WorkflowDefinition, document: ActionDefinition) -> Action:
    return Action(
        id=_action_id(workflow, document),
        key=document.key,
        description=document.description,
        url=document.url,
        headers=document.headers,
        metadata=document.metadata,
        attempts=document.attempts,
    )


def _action_id(workflow: WorkflowDefinition, action: ActionDefinition) -> str:
    return action.id or derived_id(workflow.id, "action", action.key)


@rule
def _workflow_condition_errors(
    document: WorkflowDefinition, directory: Directory | None
) -> Iterator[InputError]:
    yield from _group_errors(document.conditions, directory, 1, "conditions")


def _group_errors(
    conditions: Sequence[ConditionDefinition],
    directory: Directory | None,
    depth: int,
    *path: str | int,
) -> Iterator[InputError]:
    for position, condition in enumerate(conditions):
        yield from _condition_errors(condition, directory, depth, *path, position)


@rule
def _condition_errors(
    condition: ConditionDefinition, directory: Directory | None, depth: int, *path: str | int
) -> Iterator[InputError]:
    if combination_of(condition.operator):
        for key in ("subject", "field", "value"):
            if getattr(condition, key) is not None:
                yield _not_here("A group of conditions has none.", *path, key)
        if not condition.conditions:
            yield InputError(json_pointer(*path, "conditions"), "required", "Give a condition.")
        elif depth > _MAX_DEPTH:
            yield _not_here(f"Groups are at most {_MAX_DEPTH} deep.", *path, "conditions")
        else:
            groups = condition.conditions
            yield from _group_errors(groups, directory, depth + 1, *path, "conditions")
        return
    yield from _comparison_errors(condition, *path)
    yield from _field_errors(condition, *path)
    yield from _compared_value_errors(condition, directory, *path)


@rule
def _comparison_errors(condition: ConditionDefinition, *path: str | int) -> Iterator[InputError]:
    if condition.conditions is not None:
        yield _not_here("Only $and and $or have conditions.", *path, "conditions")
    if condition.subject is None:
        yield InputError(json_pointer(*path, "subject"), "required", "Required.")


@rule
def _field_errors(condition: ConditionDefinition, *path: str | int) -> Iterator[InputError]:
    if condition.subject is Subject.ANSWER and not condition.field:
        yield InputError(
            json_pointer(*path, "field"), "required", "Name the field by its id or key."
        )
    if condition.subject is not Subject.ANSWER and condition.field is not None:
        yield _not_here("Only an answer has a field.", *path, "field")


@rule
def _compared_value_errors(
    condition: ConditionDefinition, directory: Directory | None, *path: str | int
) -> Iterator[InputError]:
    if condition.operator.value == Comparator.EXISTS:
        if condition.value not in ("true", "false"):
            yield InputError(
                json_pointer(*path, "value"), "not_allowed", "This must be true or false."
            )
    elif not condition.value:
        yield InputError(json_pointer(*path, "value"), "required", "Required.")
    elif condition.subject:
        comparator = Comparator(condition.operator.value)
        yield from condition_value_errors(
            condition.subject, comparator, condition.value, directory, *path, "value"
        )


@rule
def _uniqueness_errors(
    document: WorkflowDefinition, others: Iterable[Workflow]
) -> Iterator[InputError]:
    actions = document.actions
    taken = unless_malformed(lambda: _taken_ids(document, others), set())
    ids = [unless_malformed(partial(_action_id, document, action), None) for action in actions]
    repeated_ids = duplicates(ids)
    for position, action_id in enumerate(ids):
        if position in repeated_ids or action_id in taken:
            named_by = "key" if actions[position].id is None else "id"
            yield duplicate("actions", position, named_by)
    for position in repeated(actions, "key"):
        if position not in repeated_ids:
            yield duplicate("actions", position, "key")


def _taken_ids(document: WorkflowDefinition, others: Iterable[Workflow]) -> set[str]:
    return {action.id for other in others if other.id != document.id for action in other.actions}


@rule
def _workflow_action_errors(
    document: WorkflowDefinition, allow_private: bool
) -> Iterator[InputError]:
    for position, action in enumerate(document.actions):
        yield from _url_errors(action, allow_private, "actions", position, "url")
        yield from _header_errors(action, "actions", position, "headers")
        yield from _size_errors(document, action, "actions", position, "metadata")


@rule
def _url_errors(
    action: ActionDefinition, allow_private: bool, *path: str | int
) -> Iterator[InputError]:
    refused = url_error(action.url, allow_private=allow_private)
    if refused:
        yield InputError(json_pointer(*path), "invalid_url", refused)


@rule
def _header_errors(action: ActionDefinition, *path: str | int) -> Iterator[InputError]:
    seen: set[str] = set()
    for name, value in action.headers.items():
        try:
            validate_headers({name: value})
        except InvalidHeader as error:
            yield _not_here(str(error), *path, name)
        if normalize_header_name(name) in seen:
            yield duplicate(*path, name)
        seen.add(normalize_header_name(name))


@rule
def _size_errors(
    document: WorkflowDefinition, action: ActionDefinition, *path: str | int
) -> Iterator[InputError]:
    named = Workflow(id=document.id, name=document.name, actions=(), created_at="", updated_at="")
    if body_size(named, _action(document, action)) > MAX_BODY_BYTES:
        yield InputError(
            json_pointer(*path),
            "too_large",
            f"The webhook's body would be larger than {MAX_BODY_BYTES} bytes.",
        )


def _not_here(detail: str, *path: str | int) -> InputError:
    return InputError(json_pointer(*path), "not_allowed", detail)
