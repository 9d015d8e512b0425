"""Lift the suppression of a contact."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from admin.domain.lifting import LIFTABLE_REASONS
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.storage import account_changes, contacts
from chalicelib.storage.contacts import SUPPRESSED, ContactRow
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.suppressions import change_first


def lift(account_id: str, contact_hash: str, channel: Channel, change: AccountChange) -> None:
    """Lift the suppression of a contact, and store the change for the audit.

    The e-mail address of the customers with this address counts as not bounced afterwards. Their
    opt-in does not change. The requests are those of `suppress`.

    Raises:
        Conflict: the contact is not suppressed, or an operator must not lift the suppression.
        Unavailable: the database throttles, or contention persists.
    """
    key, at = contacts.contact_key(contact_hash), change.changed_at
    values = {"email_bounced": False} if channel is Channel.EMAIL else {}

    def add_writes(write: Rows, further: Mapping[str, Any]) -> None:
        _lift(write, key, channel, change.operator, at, further)
        account_changes.add(write, account_id, [change])

    change_first(account_id, contact_hash, channel, values, at, add_writes, is_learned=True)


def _lift(
    write: Rows,
    key: str,
    channel: Channel,
    operator: str,
    at: datetime,
    further: Mapping[str, Any],
) -> None:
    """Remove the suppression of a contact in this transaction.

    The transaction fails if the contact is not suppressed any more, or if an operator must not lift
    the suppression; see `obstacle_to_lifting`.

    Args:
        further: see `further_customers`.
    """
    is_liftable = SUPPRESSED[channel].is_in(*LIFTABLE_REASONS)
    is_liftable &= ContactRow.has(complained_at=None, erased_at=None)
    values: dict[str, Any] = {
        **dict.fromkeys((SUPPRESSED[channel].attr_name, "suppressed_at")),
        "expires_at": contacts.expires_at(at),
        "lifted_at": at,
        "lifted_by": operator,
        # From now on, customers can opt in again. A worker that still applies a bounce must stop.
        OPTINS[channel]: None,
        "email_bounced": None,
        **further,
    }
    actions = [*ContactRow.changes(**values), ContactRow.revision.add(1)]
    write.update(ContactRow(key), actions, is_liftable)
