"""Workflows: conditions that feedback must satisfy, and actions that send webhooks."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from chalicelib.domain.comparison import Combination, Comparator, evaluate
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.ids import derived_id
from chalicelib.domain.schema import Choice, Resource, TimestampText
from chalicelib.domain.webhooks.execution import TEST_FEEDBACK_ID, Execution, ExecutionState
from chalicelib.domain.workflows.metadata import fill, values_of

EVENT: Final = "workflow.action.webhook"
MAX_ATTEMPTS: Final = 8


class Subject(Choice):
    """The property of a feedback record that a condition compares."""

    RATING = "rating"
    FORM = "form"
    SURVEY = "survey"
    BRAND = "brand"
    STORE = "store"
    LANGUAGE = "language"
    SOURCE = "source"
    ANSWER = "answer"
    LABEL = "label"


Operator = StrEnum(  # type: ignore[misc]
    "Operator", {member.name: member.value for member in (*Combination, *Comparator)}
)
Operator.__doc__ = "Operator of a condition: compares a value, or combines several conditions."

_COMBINATIONS: Final = {member.value: member for member in Combination}


def combination_of(operator: Operator) -> Combination | None:
    """Return the operator as a `Combination`, or None if it is a comparison operator."""
    return _COMBINATIONS.get(operator.value)


class Condition(Resource):
    """A comparison with a property of the feedback, or a group of conditions.

    Attributes:
        operator: the comparison operator, or for a group the operator that combines `conditions`.
        subject: the property of the feedback to compare; None for a group.
        field: the id or key of the form field whose answer is compared, or the name of the label.
    """

    operator: Operator
    subject: Subject | None = None
    field: str = ""
    value: str = ""
    conditions: tuple["Condition", ...] = ()

    def matches(self, feedback: Feedback) -> bool:
        """Return whether the feedback satisfies this condition."""
        if self.combination:
            return self.combination.of(nested.matches(feedback) for nested in self.conditions)
        return evaluate(Comparator(self.operator.value), self._values(feedback), self.value)

    @property
    def combination(self) -> Combination | None:
        """The operator that combines the conditions of a group; None for a comparison."""
        return combination_of(self.operator)

    def _values(self, feedback: Feedback) -> list[str]:
        is_survey = feedback.kind is FormKind.SURVEY
        values = {
            Subject.RATING: feedback.rating,
            Subject.FORM: None if is_survey else feedback.form_id,
            Subject.SURVEY: feedback.form_id if is_survey else None,
            Subject.BRAND: feedback.brand_id,
            Subject.STORE: feedback.store_id,
            Subject.LANGUAGE: feedback.language,
            Subject.SOURCE: feedback.source,
            Subject.LABEL: feedback.labels.get(self.field),
        }
        if self.subject in values:
            value = values[self.subject]
            return [] if value is None else [str(value)]
        answers = (a for a in feedback.answers if self.field in (a.field_id, a.key))
        return [value for answer in answers for value in answer.values]


class Action(Resource):
    """A webhook of a workflow.

    Attributes:
        headers: custom headers. A system header with the same name takes precedence.
        attempts: the maximum number of attempts.
    """

    id: str
    key: str
    description: str = ""
    url: str
    headers: dict[str, str] = {}
    metadata: dict[str, str] = {}
    attempts: int = MAX_ATTEMPTS

    @property
    def host(self) -> str:
        """The host of the URL."""
        return urlsplit(self.url).hostname or ""


class Workflow(Resource):
    """A saved workflow."""

    id: str
    name: str
    enabled: bool = True
    operator: Combination = Combination.AND
    conditions: tuple[Condition, ...] = ()
    actions: tuple[Action, ...]
    created_at: TimestampText
    updated_at: TimestampText

    def reacts_to(self, feedback: Feedback) -> bool:
        """Return whether the feedback triggers this workflow.

        A workflow without conditions is triggered by all feedback.
        """
        if not self.enabled:
            return False
        return not self.conditions or self.operator.of(
            condition.matches(feedback) for condition in self.conditions
        )

    def action(self, action_id: str) -> Action | None:
        """Return the action with this id, or None."""
        return next((action for action in self.actions if action.id == action_id), None)


def reactions(
    workflows: Iterable[Workflow], feedback: Feedback
) -> Iterator[tuple[Workflow, Action]]:
    """Yield every action that the feedback triggers, with the action's workflow."""
    for workflow in workflows:
        if workflow.reacts_to(feedback):
            for action in workflow.actions:
                yield workflow, action


def new_execution(
    workflow: Workflow, action: Action, feedback: Feedback, now: datetime
) -> Execution:
    """Build the execution of an action for a feedback record.

    The execution's id is derived from the ids of the feedback, the workflow and the action.
    """
    record_id, context_id = execution_id(workflow, action, feedback), feedback.context_id
    body = raw_body(workflow, action, feedback.id, context_id, values_of(feedback))
    return _execution(feedback.account_id, workflow, action, record_id, feedback.id, body, now)


def new_test_execution(
    account_id: str, workflow: Workflow, action: Action, execution_id: str, now: datetime
) -> Execution:
    """Build the execution of a test webhook."""
    body = example_body(workflow, action)
    return _execution(account_id, workflow, action, execution_id, TEST_FEEDBACK_ID, body, now)


def _execution(
    account_id: str,
    workflow: Workflow,
    action: Action,
    execution_id: str,
    feedback_id: str,
    body: bytes,
    now: datetime,
) -> Execution:
    state = ExecutionState.PENDING
    return Execution(
        execution_id, account_id, workflow.id, action.id, feedback_id, body, state, now
    )


def execution_id(workflow: Workflow, action: Action, feedback: Feedback) -> str:
    """Return the id of the execution of an action for a feedback record."""
    return derived_id("execution", feedback.id, workflow.id, action.id)


def raw_body(
    workflow: Workflow,
    action: Action,
    feedback_id: str,
    context_id: str,
    value_of: Callable[[str], str] = lambda _: "",
) -> bytes:
    """Return the request body of a webhook: the bytes to sign and send.

    Args:
        value_of: returns the value of a placeholder in the metadata. By default, all are empty.
    """
    body: dict[str, Any] = {
        "event": EVENT,
        "workflow": {"id": workflow.id, "name": workflow.name},
        "action": {"id": action.id, "key": action.key, "description": action.description},
        "feedback": {"id": feedback_id, "contextId": context_id},
        "metadata": fill(action.metadata, value_of),
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def example_body(workflow: Workflow, action: Action) -> bytes:
    """Return the request body of a test webhook. Its feedback ids contain only zeros."""
    return raw_body(workflow, action, TEST_FEEDBACK_ID, TEST_FEEDBACK_ID)
