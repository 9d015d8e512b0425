"""Find an account's feedback records, and describe one with the records that it refers to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Final

from admin.domain.feedback_filter import FeedbackFilter
from admin.storage import accounts, feedback_ids
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.daily import DailyGroup
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.paging import in_groups
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.webhooks.execution import Execution
from chalicelib.domain.workflows.workflow import Workflow, execution_id
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.forms.cached_forms import AnyCachedForm
from chalicelib.services.forms.wordings import forms_and_wordings
from chalicelib.storage import (
    customers,
    executions,
    feedback,
    purchases,
    workflows,
)

MAX_CONCURRENCY: Final = 8


_READ_AT_ONCE: Final = 100


def find_feedback(
    account_id: str,
    wanted: FeedbackFilter,
    *,
    newest_first: bool = False,
    at_most: int | None = None,
    on_read: Callable[[int], None] = lambda _: None,
    is_needed: Callable[[DailyGroup], bool] | None = None,
) -> Iterator[StoredFeedback]:
    """Yield the account's feedback records that the filter selects, by creation time.

    The function needs the same memory for any number of records. AWS requests: one per 100
    records of the period, plus about one per 5,000 records.

    Args:
        at_most: the maximum number of records to yield.
        on_read: called after each group of records that was read, with the number of its records.
        is_needed: whether to read the records that the statistics count in a group. Test responses
            are omitted. One more request per 100 records of the period.
    """
    ids = feedback_ids.list_ids(account_id, wanted.since, wanted.until, newest_first=newest_first)
    if at_most is not None and wanted.selects_all:
        ids = islice(ids, at_most)
    return islice(_read(ids, wanted, on_read, is_needed), at_most)


def _read(
    ids: Iterator[str],
    wanted: FeedbackFilter,
    on_read: Callable[[int], None],
    is_needed: Callable[[DailyGroup], bool] | None,
) -> Iterator[StoredFeedback]:
    # The first group often contains enough records, so no second group is read concurrently.
    groups_at_once = 1
    while read := list(islice(ids, groups_at_once * _READ_AT_ONCE)):
        groups = list(in_groups(read, _READ_AT_ONCE))
        if is_needed:
            counted = map_concurrently(feedback_ids.find_groups, groups, MAX_CONCURRENCY)
            chosen = (each for found in counted for each, group in found if is_needed(group))
            groups = list(in_groups(chosen, _READ_AT_ONCE))
        for group, records in zip(
            groups, map_concurrently(feedback.find_many, groups, MAX_CONCURRENCY), strict=True
        ):
            for feedback_id in group:
                record = records.get(feedback_id)
                if record and wanted.matches(record.feedback):
                    yield record
        on_read(len(read))
        groups_at_once = MAX_CONCURRENCY


def read_feedback(feedback_id: str) -> StoredFeedback:
    """Return a feedback record of any account. One AWS request.

    Raises:
        NotFound: the feedback record does not exist.
    """
    record = feedback.find(feedback_id)
    if record is None:
        raise NotFound("feedback")
    return record


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
    each further 100 actions.

    Raises:
        NotFound: the feedback record does not exist.
    """
    stored = read_feedback(feedback_id)
    record = stored.feedback
    account_id = record.account_id
    ((form, wording),) = forms_and_wordings([record])
    return FeedbackDescription(
        stored,
        form,
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


MAX_COUNTED: Final = 10_000
"""Maximum number of records that `count_old_feedback` counts."""


def count_old_feedback(account_id: str, retention_days: int) -> int:
    """Return the number of feedback records that a retention period would anonymize now.

    The count stops after `MAX_COUNTED` records. Two AWS requests, and one more per 5,000 records.
    The count includes records that were anonymized by an erasure.
    """
    until = clock.now() - timedelta(days=retention_days)
    after = accounts.find_anonymized_until(account_id)
    return len(feedback.list_created(account_id, after, until, MAX_COUNTED))
