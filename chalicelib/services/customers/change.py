"""Change a customer: ``PATCH /partners/customer``."""

from dataclasses import dataclass
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.patch import CustomerPatch, apply_patch
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.solicitation.channel import OPTINS, Channel, optins_off
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.log import logger
from chalicelib.services.customers.read import with_tags
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.storage import contacts, customer_changes, suppressions
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.customers import build_customer, customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit


def change_customer(account_id: str, customer_id: str, patch: CustomerPatch) -> Customer:
    """Change the given fields of a customer and return it.

    An opt-in that is set to false suppresses the customer's address in this channel, also if it was
    false before. An opt-in that is set to true lifts a suppression that a partner caused. If the
    address is suppressed for another reason, the opt-in stays off. If an address changes to a
    suppressed one, the opt-in is turned off.

    Two AWS requests, or one if nothing changes; one more if opt-ins are turned on, one more for
    each opt-in that is turned off, and up to six more if the e-mail address or the phone number
    changes. If the address of an opt-in that is set to false is suppressed already, nothing is
    written for it, and the customer is read once more.

    Raises:
        NotFound: the account has no such customer.
        RecordTooLarge: the changed customer exceeds its size limit.
        Unavailable: the database throttles, or contention persists, before the change is saved.
    """
    customer, revoked = commit(partial(_change, account_id, customer_id, patch))
    for channel, contact_hash in revoked:
        try:
            suppressions.turn_other_optins_off(
                account_id, contact_hash, channel, customer_id, clock.now()
            )
        except Unavailable:
            # The change is saved, and a repeated request would not find it again. The suppressed
            # address receives no messages; dispatch turns the other opt-ins off.
            logger.warning("opt-ins of other customers not turned off", channel=channel)
    return with_tags(account_id, [customer])[0]


@dataclass(frozen=True)
class _Consent:
    """The effect of changed opt-ins and addresses on the contacts of a customer.

    Attributes:
        revoked: the contact hashes to suppress, each with its channel.
        lifted: the keys of the contacts whose opt-out by a partner is lifted, by channel.
        refused: the channels whose opt-in is off, because the address is suppressed.
    """

    revoked: list[tuple[Channel, str]]
    lifted: dict[Channel, str]
    refused: set[Channel]


def _change(
    account_id: str, customer_id: str, patch: CustomerPatch, rows: Rows
) -> tuple[Customer, list[tuple[Channel, str]]]:
    """Change a customer. Return it, and the contact hashes that are suppressed, by channel."""
    key, now = customer_key(account_id, customer_id), clock.now()
    rows.prefetch(key)
    row = rows.get(key)
    if row is None:
        raise NotFound("customer")
    earlier = build_customer(row)
    consent = _consent(rows, account_id, earlier, apply_patch(earlier, patch, now), patch)
    off = optins_off(consent.refused)
    allowed = patch.model_copy(update=off) if off else patch
    # Tags are part of the size of a customer.
    tagged = with_tags(account_id, [earlier])[0]
    changed = apply_patch(tagged, allowed, now).model_copy(update={"tags": earlier.tags})
    revoked = [
        (channel, contact_hash)
        for channel, contact_hash in consent.revoked
        if contacts.opt_out(rows, account_id, contacts.contact_key(contact_hash), channel, now)
        or getattr(earlier, OPTINS[channel])
    ]
    for channel, contact_key in consent.lifted.items():
        contacts.lift(rows, contact_key, channel, now)
    if changed != earlier or consent.lifted or revoked:
        customer_changes.change(rows, account_id, earlier, changed)
    return changed, revoked


def _consent(
    rows: Rows, account_id: str, earlier: Customer, changed: Customer, patch: CustomerPatch
) -> _Consent:
    revoked: dict[tuple[Channel, str], None] = {}
    wanted: dict[str, Channel] = {}
    for channel, optin in OPTINS.items():
        is_given, address = optin in patch.model_fields_set, _address(changed, channel)
        if getattr(changed, optin):
            is_turned_on = is_given or address != _address(earlier, channel)
            if is_turned_on and (contact_hash := address_hash(account_id, channel, address)):
                wanted[contacts.contact_key(contact_hash)] = channel
        elif is_given:
            for each in (_address(earlier, channel), address):
                if contact_hash := address_hash(account_id, channel, each):
                    revoked[channel, contact_hash] = None
    rows.prefetch(*(Key(ContactRow, key) for key in wanted))
    lifted: dict[Channel, str] = {}
    refused: set[Channel] = set()
    for key, channel in wanted.items():
        row = rows.peek(Key(ContactRow, key), because="nothing is sent to a suppressed address")
        reason = contacts.build_contact(key, row).suppressed.get(channel)
        if reason is SuppressionReason.OPTED_OUT and OPTINS[channel] in patch.model_fields_set:
            lifted[channel] = key
        elif reason:
            refused.add(channel)
    return _Consent(list(revoked), lifted, refused)


def _address(customer: Customer, channel: Channel) -> str | None:
    return customer.email if channel is Channel.EMAIL else customer.phone_number
