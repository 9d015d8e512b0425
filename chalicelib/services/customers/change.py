"""Change a customer: ``PATCH /partners/customer``."""

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.patch import CustomerPatch, apply_patch
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.log import logger
from chalicelib.services.customers.read import with_tags
from chalicelib.services.solicitation.contact_keys import contact_hashes
from chalicelib.services.solicitation.suppressions import opt_out_others
from chalicelib.storage import contacts, customer_changes, customers
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction


def change_customer(account_id: str, customer_id: str, patch: CustomerPatch) -> Customer:
    """Change the given fields of a customer and return it.

    An opt-in that changes from true to false suppresses the customer's address in this channel. An
    opt-in that is set to true lifts a suppression that a partner caused. If the address is
    suppressed for another reason, the opt-in stays off.

    Two AWS requests, or one if nothing changes. One more if opt-ins are turned on, one more for
    each opt-in that is turned off, and up to five more if the e-mail address or the phone number
    changes.

    Raises:
        NotFound: the account has no such customer.
        InputTooLarge: the changed customer exceeds its size limit.
        Unavailable: the database throttles, or contention persists, before the change is saved.
    """
    customer, revoked = retry_on_contention(lambda: _attempt(account_id, customer_id, patch))
    for channel, contact_hash in revoked:
        try:
            opt_out_others(account_id, contact_hash, channel, customer_id)
        except Unavailable:
            # The change is saved, and a repeated request would not find it again. The suppressed
            # address receives no messages; dispatch turns the other opt-ins off.
            logger.warning("opt-ins of other customers not turned off", channel=channel)
    return with_tags(account_id, [customer])[0]


def _attempt(
    account_id: str, customer_id: str, patch: CustomerPatch
) -> tuple[Customer, list[tuple[Channel, str]]]:
    earlier, now = customers.find(account_id, customer_id), clock.now()
    if earlier is None:
        raise NotFound("customer")
    patched = apply_patch(earlier, patch, now)
    revoked, lifted, refused = _consent(account_id, earlier, patched, patch)
    off = {OPTINS[channel]: False for channel in refused}
    allowed = patch.model_copy(update=off) if off else patch
    # Tags are part of the size of a customer.
    tagged = with_tags(account_id, [earlier])[0]
    changed = apply_patch(tagged, allowed, now).model_copy(update={"tags": earlier.tags})

    if changed != earlier or lifted:
        change = customer_changes.plan(account_id, earlier, changed)
        with transaction() as write:
            customer_changes.save(write, change)
            for channel, contact_hash in revoked:
                key = contacts.contact_key(contact_hash)
                reason = SuppressionReason.OPTED_OUT
                contacts.suppress(write, account_id, key, channel, reason, now)
            for channel, contact in lifted:
                contacts.lift_opt_out(write, contact.key, channel, now)
    return changed, revoked


def _consent(
    account_id: str, earlier: Customer, changed: Customer, patch: CustomerPatch
) -> tuple[list[tuple[Channel, str]], list[tuple[Channel, Contact]], set[Channel]]:
    """Return the effect of changed opt-ins on the addresses of a customer.

    The result is the contact hashes to suppress; the contacts whose opt-out by a partner is lifted,
    both with their channels; and the channels whose opt-in stays off, because the address is
    suppressed for another reason.
    """
    revoked: dict[tuple[Channel, str], None] = {}
    wanted: dict[Channel, tuple[str, ...]] = {}
    for channel, optin in OPTINS.items():
        if optin not in patch.model_fields_set:
            continue
        now_on, was_on = getattr(patch, optin), getattr(earlier, optin)
        if now_on:
            wanted[channel] = contact_hashes(account_id, channel, _address(changed, channel))
        elif was_on:
            for customer in (earlier, changed):
                hashes = contact_hashes(account_id, channel, _address(customer, channel))
                revoked |= dict.fromkeys((channel, each) for each in hashes[:1])
    keys = {contacts.contact_key(each): c for c, hashes in wanted.items() for each in hashes}
    suppressed = [
        (keys[key], contact)
        for key, contact in (contacts.find_many(keys) if keys else {}).items()
        if keys[key] in contact.suppressed
    ]
    opted_out = SuppressionReason.OPTED_OUT
    refused = {channel for channel, each in suppressed if each.suppressed[channel] != opted_out}
    lifted = [(channel, each) for channel, each in suppressed if channel not in refused]
    return list(revoked), lifted, refused


def _address(customer: Customer, channel: Channel) -> str | None:
    return customer.email if channel is Channel.EMAIL else customer.phone_number
