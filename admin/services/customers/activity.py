"""Read the purchases, the surveys and the feedback of a customer."""

from dataclasses import dataclass

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationPointer
from chalicelib.services.solicitation.case import Case, load_case
from chalicelib.storage import feedback, purchases, solicitations


@dataclass(frozen=True)
class Activity:
    """The records of a customer, each list with the newest record first."""

    purchases: list[Purchase]
    solicitations: list[Solicitation]
    feedback: list[Feedback]


def read_activity(account_id: str, customer_id: str) -> Activity:
    """Return the customer's purchases, their solicitations, and the linked feedback.

    AWS requests: three, plus one per 100 purchases, solicitations and feedback records.
    """
    return Activity(
        list_purchases(account_id, customer_id),
        list_solicitations(account_id, customer_id),
        sorted(
            (stored.feedback for stored in feedback.of_person(account_id, customer_id, ())),
            key=lambda record: record.created_at,
            reverse=True,
        ),
    )


def list_purchases(account_id: str, customer_id: str) -> list[Purchase]:
    """Return the customer's purchases, the latest first. One AWS request, and one per 100."""
    found = purchases.of_customer(account_id, customer_id)
    return sorted(found, key=lambda purchase: purchase.date, reverse=True)


def list_solicitations(account_id: str, customer_id: str) -> list[Solicitation]:
    """Return the customer's solicitations, newest first. One AWS request, and one per 100."""
    found = solicitations.of_customer(account_id, customer_id)
    return sorted(found, key=lambda solicitation: solicitation.created_at, reverse=True)


def load_cases(account_id: str, customer_id: str) -> list[Case]:
    """Return the solicitations of all purchases of a customer with their facts, latest first.

    AWS requests: those of `list_purchases`, and two per purchase.
    """
    pointers = (
        SolicitationPointer(account_id, purchase.id, customer_id)
        for purchase in list_purchases(account_id, customer_id)
    )
    return [case for pointer in pointers if (case := load_case(pointer))]
