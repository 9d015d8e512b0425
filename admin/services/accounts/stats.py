"""Read the numbers of an account's records from the account's counters."""

from dataclasses import dataclass

from admin.services.accounts.manage import require_account
from chalicelib.storage import counters
from chalicelib.storage.counters import Counted, Listed


@dataclass(frozen=True)
class AccountStats:
    """The numbers of an account's records.

    Attributes:
        customers: the number of listed customers. A new customer is listed within seconds.
        feedback: the number of processed feedback records.
        surveys_sent, surveys_skipped, surveys_rejected, surveys_unknown: the number of
            solicitations by outcome. Pending solicitations are not counted.
    """

    customers: int
    contact_forms: int
    surveys: int
    purchases: int
    feedback: int
    surveys_sent: int
    surveys_skipped: int
    surveys_rejected: int
    surveys_unknown: int


def read_stats(account_id: str) -> AccountStats:
    """Return the numbers of the account's records. Two requests.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    counts = counters.load_counts(account_id)
    return AccountStats(
        customers=counts[Listed.CUSTOMERS],
        contact_forms=counts[Listed.CONTACT_FORMS],
        surveys=counts[Listed.SURVEYS],
        purchases=counts[Counted.PURCHASES],
        feedback=counts[Counted.FEEDBACK],
        surveys_sent=counts[Counted.SENT],
        surveys_skipped=counts[Counted.SKIPPED],
        surveys_rejected=counts[Counted.REJECTED],
        surveys_unknown=counts[Counted.UNKNOWN],
    )
