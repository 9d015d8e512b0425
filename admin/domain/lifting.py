"""Decide whether an operator can lift the suppression of a contact."""

from typing import Final

from chalicelib.domain.solicitation.contact import Contact, SuppressionReason

LIFTABLE_REASONS: Final = (
    SuppressionReason.UNSUBSCRIBED,
    SuppressionReason.BOUNCED,
    SuppressionReason.OPTED_OUT,
)
"""The reasons of suppressions that an operator can lift, unless there was a complaint or an erasure
before.
"""


def obstacle_to_lifting(contact: Contact) -> str | None:
    """Return why an operator cannot lift the suppression of this contact, or None.

    A later unsubscription replaces the reason of a suppression, so the times are checked too.
    """
    reasons = set(contact.suppressed.values())
    if not reasons:
        return "The address is not suppressed."
    if contact.erased_at or SuppressionReason.ERASED in reasons:
        return "A customer with this address was erased. The address stays suppressed."
    if contact.complained_at or not reasons <= set(LIFTABLE_REASONS):
        return "The recipient reported a message as spam. The address stays suppressed."
    return None
