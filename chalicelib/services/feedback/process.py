"""What follows from a feedback, each thing once, however often its message comes.

The steps before the last make what they make under ids that follow from the feedback, so making it
again changes nothing. The last step counts everything in one transaction with the marks that the
feedback is done; a feedback that is done is left alone, so its workflows are not matched again.
Webhooks are queued after that mark; those that are not, the sweeper finds.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback, FeedbackState, FormKind
from chalicelib.domain.webhooks.execution import Execution, new_execution
from chalicelib.domain.workflows.workflow import reactions
from chalicelib.outbound.webhook_queue import queue_executions
from chalicelib.services.workflows.cached_workflows import workflows_of
from chalicelib.storage import customers, executions, feedback
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction
from chalicelib.storage.forms import FormTable
from chalicelib.storage.surveys import surveys

MAX_BATCH_SIZE: Final = 25
"""A feedback is at most three writes: its form's count, its customer's, its own mark. A transaction
takes a hundred."""

_TABLES: Final[dict[FormKind, FormTable]] = {
    FormKind.CONTACT_FORM: contact_forms,
    FormKind.SURVEY: surveys,
}


def process_feedback(feedback_ids: Collection[str]) -> int:
    """Does what follows from these feedbacks, at most `MAX_BATCH_SIZE`; answers how many were open.

    Requests to AWS: three together, one or two more for each whose respondent must be found, one
    more for each 25 webhooks, and one for each ten of them to queue them.

    Raises:
        Unavailable: the database throttles or contention does not end; all are as they were, or
            some of the earlier steps are done.
    """
    made: dict[str, list[Execution]] = {}
    done = retry_on_contention(lambda: _attempt(feedback_ids, made))
    queue_executions([execution.pointer for each in made.values() for execution in each])
    return done


def record_failure(feedback_id: str, reason: str) -> bool:
    """Counts a claim that came to no end; it is tried again later. True when it is parked now."""
    return feedback.WORK.record_failure(feedback_id, feedback.PART, reason, clock.now())


def _attempt(feedback_ids: Collection[str], made: dict[str, list[Execution]]) -> int:
    found = feedback.find_many(set(feedback_ids))
    pending = [kept.feedback for kept in found.values() if kept.state is FeedbackState.PENDING]
    if not pending:
        return 0
    _start_workflows([each for each in pending if each.id not in made], made)
    identified = [_with_customer(each) for each in pending]
    _count(identified)
    return len(identified)


def _start_workflows(pending: Sequence[Feedback], made: dict[str, list[Execution]]) -> None:
    """Makes the webhooks that follow, and notes them, so that another round need not."""
    now = clock.now()
    following = {
        each.id: [
            new_execution(workflow, action, each, now)
            for workflow, action in reactions(workflows_of(each.account_id), each)
        ]
        for each in pending
    }
    executions.create([execution for own in following.values() for execution in own])
    made.update(following)


def _with_customer(each: Feedback) -> Feedback:
    """The feedback tied to whoever gave it, as far as that can be known."""
    pair = each.pair
    if each.customer_id or pair is None:
        return each
    customer_id = customers.find_or_create(each.account_id, each.respondent(), pair)
    return each.model_copy(update={"customer_id": customer_id})


def _count(identified: Sequence[Feedback]) -> None:
    now = clock.now()
    by_form = Counter((each.kind, each.form_id) for each in identified)
    by_customer: dict[tuple[str, str], list[Feedback]] = defaultdict(list)
    for each in identified:
        if each.customer_id:
            by_customer[each.account_id, each.customer_id].append(each)
    # A customer may have been erased since; the feedback stays, and counts for its form.
    known = customers.find_existing(by_customer)
    with transaction() as write:
        for (kind, form_id), submissions in by_form.items():
            _TABLES[kind].count_submissions(write, form_id, submissions)
        for account_id, customer_id in known:
            given = by_customer[account_id, customer_id]
            customers.count_feedback(
                write,
                account_id,
                customer_id,
                [each.rating for each in given],
                {each.source for each in given},
                now,
            )
        for each in identified:
            own_customer = (each.account_id, each.customer_id or "")
            feedback.finish(write, each, each.customer_id if own_customer in known else None, now)
