"""List webhook deliveries."""

from collections.abc import Sequence
from itertools import islice

from chalicelib.domain.webhooks.execution import Execution, ExecutionState
from chalicelib.storage import executions


def list_executions(
    account_id: str, state: ExecutionState | None, at_most: int
) -> Sequence[Execution]:
    """Return the account's executions, newest first, without their bodies.

    Return none if the account does not exist. Four AWS requests; with a state, one more per 1,000
    executions that are read.
    """
    page_size = executions.FILTERED_PAGE_SIZE if state else at_most + 2
    return list(islice(executions.newest_first(account_id, state, page_size=page_size), at_most))
