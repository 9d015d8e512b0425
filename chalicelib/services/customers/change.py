"""Change a customer: ``PATCH /partners/customer``."""

from dataclasses import dataclass

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.patch import CustomerPatch, apply_patch
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.solicitation.channel import OPTINS, Channel, optins_off
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.log import logger
from chalicelib.services.customers.read import with_tags
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.storage import contacts, customer_changes, customers, suppressions
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction


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
    suppressed: set[str] = set()
    customer, revoked = retry_on_contention(
        lambda: _attempt(account_id, customer_id, patch, suppressed)
    )
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
        lifted: the contacts whose opt-out by a partner is lifted, each with its channel.
        refused: the channels whose opt-in is off, because the address is suppressed.
    """

    revoked: list[tuple[Channel, str]]
    lifted: list[tuple[Channel, Contact]]
    refused: set[Channel]


def _attempt(
    account_id: str, customer_id: str, patch: CustomerPatch, suppressed: set[str]
) -> tuple[Customer, list[tuple[Channel, str]]]:
    """Change a customer. Return it, and the contact hashes that are suppressed, by channel.

    Args:
        suppressed: the keys of contacts that an earlier attempt found suppressed. This attempt adds
            to them.
    """
    earlier, now = customers.find(account_id, customer_id), clock.now()
    if earlier is None:
        raise NotFound("customer")
    patched = apply_patch(earlier, patch, now)
    consent = _consent(account_id, earlier, patched, patch)
    off = optins_off(consent.refused)
    allowed = patch.model_copy(update=off) if off else patch
    # Tags are part of the size of a customer.
    tagged = with_tags(account_id, [earlier])[0]
    changed = apply_patch(tagged, allowed, now).model_copy(update={"tags": earlier.tags})

    keys = {contacts.contact_key(each): (channel, each) for channel, each in consent.revoked}
    wishes = {key: channel for key, (channel, _) in keys.items() if key not in suppressed}
    if changed != earlier or consent.lifted or wishes:
        change = customer_changes.plan(account_id, earlier, changed)
        try:
            with transaction() as write:
                customer_changes.save(write, change)
                for key, channel in wishes.items():
                    contacts.opt_out(write, account_id, key, channel, now)
                for channel, contact in consent.lifted:
                    contacts.lift_opt_out(write, contact.key, channel, now)
        except Contention as contention:
            suppressed |= contacts.failed_conditions(contention) & wishes.keys()
            raise
    revoked = [
        (channel, contact_hash)
        for key, (channel, contact_hash) in keys.items()
        if key in wishes or getattr(earlier, OPTINS[channel])
    ]
    return changed, revoked


def _consent(
    account_id: str, earlier: Customer, changed: Customer, patch: CustomerPatch
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
    lifted, refused = [], set()
    for key, contact in (contacts.find_many(wanted) if wanted else {}).items():
        channel = wanted[key]
        reason = contact.suppressed.get(channel)
        if reason is SuppressionReason.OPTED_OUT and OPTINS[channel] in patch.model_fields_set:
            lifted.append((channel, contact))
        elif reason:
            refused.add(channel)
    lifted = [(channel, contact) for channel, contact in lifted if channel not in refused]
    return _Consent(list(revoked), lifted, refused)


def _address(customer: Customer, channel: Channel) -> str | None:
    return customer.email if channel is Channel.EMAIL else customer.phone_number
