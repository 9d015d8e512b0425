"""Describe one feedback record with the records that it refers to."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.webhooks.execution import Execution
from chalicelib.domain.workflows.workflow import Workflow, execution_id
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.feedback.find import read_feedback
from chalicelib.services.forms.cached_forms import AnyCachedForm
from chalicelib.services.forms.wordings import current_form, wordings_of
from chalicelib.storage import customers, executions, purchases, workflows


@dataclass(frozen=True)
class FeedbackDescription:
    """A feedback record and the records that it refers to.

    Attributes:
        form: the current form; its fields can differ from the fields that were answered.
        wording: the wording of the form that the respondent saw.
        directory: the account's brands and stores.
        customer: the respondent's customer, None if unknown or deleted.
        deliveries: the webhook executions of the account's current workflows, with their actions'
            display names.
    """

    stored: StoredFeedback
    form: AnyCachedForm | None
    wording: FormWording
    directory: Directory
    customer: Customer | None
    purchase: Purchase | None
    deliveries: Sequence[tuple[str, Execution]]


def describe_feedback(feedback_id: str) -> FeedbackDescription:
    """Return a feedback record of any account with its details.

    At most seven AWS requests for up to 100 workflow actions of the account; one more request for
    each further 100 actions, and one more if the wording has changed since.

    Raises:
        NotFound: the feedback record does not exist.
    """
    stored = read_feedback(feedback_id)
    record = stored.feedback
    account_id = record.account_id
    (wording,) = wordings_of([record])
    return FeedbackDescription(
        stored,
        current_form(record),
        wording,
        current_directory(account_id),
        customers.find(account_id, record.customer_id) if record.customer_id else None,
        purchases.find(account_id, record.purchase_id) if record.purchase_id else None,
        _deliveries(record, workflows.list_for_account(account_id)),
    )


def _deliveries(
    record: Feedback, account_workflows: Sequence[Workflow]
) -> list[tuple[str, Execution]]:
    names = {
        execution_id(workflow, action, record): f"{workflow.name} / {action.key}"
        for workflow in account_workflows
        for action in workflow.actions
    }
    return [(names[execution.id], execution) for execution in executions.find_many(list(names))]
