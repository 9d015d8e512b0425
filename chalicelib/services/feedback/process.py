"""Process feedback exactly once, however often its message is delivered.

1. Create the webhook executions and the customer under ids derived from the feedback, so that a
   repetition has no effect.
2. Update the counts and mark the feedback as done, in one transaction. Feedback that is done is
   skipped, so its workflows are not evaluated again.
3. Queue the executions. If queueing fails, the sweeper queues them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback, FeedbackState, FormKind
from chalicelib.domain.webhooks.execution import Execution
from chalicelib.domain.workflows.workflow import new_execution, reactions
from chalicelib.outbound.queues import send
from chalicelib.queues import WEBHOOKS
from chalicelib.services.workflows.cached_workflows import workflows_of
from chalicelib.storage import customers, executions, feedback
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction
from chalicelib.storage.forms import FormTable
from chalicelib.storage.surveys import surveys

MAX_BATCH_SIZE: Final = 25
"""A feedback needs up to three writes (form, customer, feedback); a transaction allows 100."""

_TABLES: Final[dict[FormKind, FormTable]] = {
    FormKind.CONTACT_FORM: contact_forms,
    FormKind.SURVEY: surveys,
}


def process_feedback(feedback_ids: Collection[str]) -> int:
    """Process up to `MAX_BATCH_SIZE` feedback records; return how many were pending.

    AWS requests: three for the batch; one or two more for each feedback whose customer must be
    found; one more for each 25 executions; one more for each ten to queue.

    Raises:
        Unavailable: the database throttles or contention persists. The counts are unchanged;
            executions and customers may exist already.
    """
    created: dict[str, list[Execution]] = {}
    processed = retry_on_contention(lambda: _attempt(feedback_ids, created))
    send(WEBHOOKS, [execution.pointer for each in created.values() for execution in each])
    return processed


def record_failure(feedback_id: str, reason: str) -> bool:
    """Record a failed attempt and schedule the next one. Return True if the record is parked."""
    return feedback.WORK.record_failure(feedback_id, feedback.PART, reason, clock.now())


def _attempt(feedback_ids: Collection[str], created: dict[str, list[Execution]]) -> int:
    found = feedback.find_many(set(feedback_ids))
    pending = [each.feedback for each in found.values() if each.state is FeedbackState.PENDING]
    if not pending:
        return 0
    _create_executions([each for each in pending if each.id not in created], created)
    identified = [_with_customer(each) for each in pending]
    _count(identified)
    return len(identified)


def _create_executions(pending: Sequence[Feedback], created: dict[str, list[Execution]]) -> None:
    """Create the executions and add them to ``created``, so that the next attempt skips them."""
    now = clock.now()
    new = {
        each.id: [
            new_execution(workflow, action, each, now)
            for workflow, action in reactions(workflows_of(each.account_id), each)
        ]
        for each in pending
    }
    executions.create([execution for each in new.values() for execution in each])
    created.update(new)


def _with_customer(each: Feedback) -> Feedback:
    """Return the feedback with the id of its customer, if the respondent can be identified."""
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
    # If the customer was erased in the meantime, the feedback still counts for its form.
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
