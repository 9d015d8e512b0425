"""List, explain and resend solicitations."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from admin.services.accounts.manage import require_account
from admin.services.purchases.stored import list_purchases
from admin.storage import solicitations
from chalicelib.domain import clock
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.decide import Decision, Send
from chalicelib.domain.solicitation.sms_segments import TextSize, size_of
from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    SolicitationState,
    reminder_id,
)
from chalicelib.outbound.queues import send
from chalicelib.queues import SOLICITATIONS
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.solicitation.case import Case, load_case
from chalicelib.services.solicitation.send_invitation import build_invitation, message_text
from chalicelib.storage import purchases
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.solicitations import of_customer

_ANY_TRACKER: Final = "00000000-0000-4000-8000-000000000000"
"""A tracker id for computing the size. The short links of all trackers have the same size."""

_NOT_UNKNOWN: Final = "Only solicitations with the outcome UNKNOWN can be sent again."


def list_solicitations(
    account_id: str,
    *,
    state: SolicitationState | None = None,
    reason: str | None = None,
    since: datetime | None = None,
    at_most: int = 50,
) -> Iterator[Solicitation]:
    """Yield the account's solicitations, the newest first.

    Args:
        since: the earliest time of creation.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    return solicitations.list_for_account(
        account_id, state=state, reason=reason, since=since, at_most=at_most
    )


def list_solicitations_of_customer(account_id: str, customer_id: str) -> list[Solicitation]:
    """Return the customer's solicitations, newest first. AWS requests: those of `of_customer`."""
    found = of_customer(account_id, customer_id)
    return sorted(found, key=lambda solicitation: solicitation.created_at, reverse=True)


def load_cases(account_id: str, customer_id: str) -> list[Case]:
    """Return the solicitations of all purchases of a customer with their facts, latest first.

    AWS requests: those of `list_purchases`, and two per purchase.
    """
    pointers = (
        SolicitationPointer(account_id, purchase.id, customer_id)
        for purchase in list_purchases(account_id, customer_id)
    )
    return [case for pointer in pointers if (case := load_case(Rows(), pointer))]


def load_explanation(account_id: str, source: DataSource, external_id: str) -> Case:
    """Return the solicitation of a purchase and the current facts of its decision.

    Raises:
        NotFound: the account has no such purchase, or the purchase has no solicitation.
    """
    record_id = purchase_id(account_id, source, external_id)
    purchase = purchases.find(account_id, record_id)
    if purchase is None:
        raise NotFound("purchase")
    case = load_case(Rows(), SolicitationPointer(account_id, record_id, purchase.customer_id))
    if case is None:
        raise NotFound("solicitation")
    return case


def load_reminder(case: Case) -> Case | None:
    """Return the reminder of a survey and the current facts of its decision, or None."""
    solicitation = case.solicitation
    reminder = reminder_id(solicitation.id)
    return load_case(Rows(), SolicitationPointer(solicitation.account_id, reminder, None))


def text_cost(case: Case, decision: Decision) -> tuple[TextSize, float | None] | None:
    """Return the size and the price of the text message that the decision sends, or None.

    The price is None if the account has no price of a segment. One AWS request if the public base
    URL is not cached.

    Raises:
        Unavailable: the stage has no public base URL, or it cannot be read.
    """
    if not isinstance(decision, Send) or decision.channel is not Channel.SMS:
        return None
    invitation = build_invitation(case, decision.survey, decision.channel, _ANY_TRACKER)
    size = size_of(message_text(invitation))
    segment_price = account_settings(case.solicitation.account_id).sms_segment_price
    return size, None if segment_price is None else size.segments * segment_price


def load_unknown(account_id: str, source: DataSource, external_id: str) -> Case:
    """Return the solicitation of a purchase with the outcome UNKNOWN, and its current facts.

    Raises:
        NotFound: the account has no such purchase, or the purchase has no solicitation.
        Conflict: the solicitation has another state.
    """
    case = load_explanation(account_id, source, external_id)
    if case.solicitation.state is not SolicitationState.UNKNOWN:
        raise Conflict(_NOT_UNKNOWN)
    return case


def resend(case: Case) -> None:
    """Make a solicitation with the outcome UNKNOWN pending again, and queue it. Three AWS requests.

    The customer may receive the survey twice, with the same link.

    Raises:
        Conflict: the solicitation has another state.
    """
    pointer = solicitations.reopen_unknown(case.solicitation.id, clock.now())
    if pointer is None:
        raise Conflict(_NOT_UNKNOWN)
    send(SOLICITATIONS, [pointer])
