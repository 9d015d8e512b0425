"""Close an account: stop everything that partners and respondents can use, and erase customers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from admin.services.accounts.manage import list_keys, revoke_key
from admin.services.forms.manage import list_forms, set_form_enabled
from admin.services.workflows.manage import list_workflows, set_workflow_enabled
from admin.storage import accounts
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers.read import find_customer, list_customers
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.storage import account_changes, customer_creation
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit

CLOSED: Final = "closed"
_PAGE_SIZE: Final = 100


@dataclass(frozen=True)
class _Disabled:
    revoked_keys: int
    disabled_forms: int
    disabled_workflows: int


@dataclass(frozen=True)
class ClosedAccount(_Disabled):
    """The numbers of changes, and of the customers that were created in the meantime."""

    erased_customers: int
    remaining_customers: int


def close_account(
    account_id: str, operator: str, on_erased: Callable[[int], object]
) -> ClosedAccount:
    """Close the account, and return the number of changes. After a failure, repeat the call.

    The closing is recorded first, so that a restore from a backup does not undo it. Then come keys,
    forms and workflows, because they could create customers. Feedback, purchases
    and numbers without personal data stay. AWS requests: about ten, two per key, form and workflow,
    and about 30 per customer. The customers that were created in the meantime remain.

    Args:
        operator: the identity of the operator, for the history and the receipts.
        on_erased: called with 1 after each erased customer.

    Raises:
        NotFound: the account does not exist.
    """
    commit(partial(_record_closing, account_id, operator))
    disabled = disable(account_id, operator)
    erased = 0
    for customer_id in _customer_ids(account_id):
        continue_erasure(start_erasure(account_id, customer_id, operator).pointer)
        erased += 1
        on_erased(1)
    remaining = list_customers(account_id, PageRequest(limit=1)).meta.total_items
    return ClosedAccount(**vars(disabled), erased_customers=erased, remaining_customers=remaining)


def _record_closing(account_id: str, operator: str, rows: Rows) -> None:
    now = clock.now()
    if accounts.close(rows, account_id, now):
        change = AccountChange(now, subject_of(account_id), operator, None, CLOSED)
        account_changes.add(rows, account_id, [change])


def disable(account_id: str, operator: str) -> _Disabled:
    """Revoke all keys and disable all forms and workflows. Return the number of changes."""
    keys = [key for key in list_keys(account_id) if key.revoked_at is None]
    for key in keys:
        revoke_key(key.api_key, operator)
    forms: list[tuple[FormKind, str]] = []
    for kind in FormKind:
        unreadable: list[str] = []
        readable = list_forms(account_id, kind, unreadable.append)
        enabled = [form.saved.id for form in readable if form.saved.enabled]
        forms += [(kind, form_id) for form_id in (*enabled, *unreadable)]
    for kind, form_id in forms:
        set_form_enabled(kind, form_id, is_enabled=False)
    workflows = [workflow for workflow in list_workflows(account_id) if workflow.enabled]
    for workflow in workflows:
        set_workflow_enabled(account_id, workflow.id, enabled=False)
    return _Disabled(len(keys), len(forms), len(workflows))


def subject_of(account_id: str) -> str:
    """Return the subject of the change that closes an account."""
    return f"account {account_id}"


def _customer_ids(account_id: str) -> Iterator[str]:
    """Yield the ids of listed customers from the last page to the first, then those not listed yet.

    The erasure of a customer moves the last customer of the list into its position, so the earlier
    pages do not change.
    """
    pages = list_customers(account_id, PageRequest(limit=_PAGE_SIZE)).meta.total_pages
    for number in range(pages, 0, -1):
        page = list_customers(account_id, PageRequest(limit=_PAGE_SIZE, page=number))
        yield from (customer.id for customer in page.items)
    prefix = account_key(account_id, "")
    for key in customer_creation.find_unlisted(account_id):
        customer_id = key.removeprefix(prefix)
        if find_customer(account_id, customer_id):  # the index can contain erased customers
            yield customer_id
