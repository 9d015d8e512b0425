"""Read all records that are needed to record a purchase, in one request, and write the changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.storage import (
    contacts,
    counters,
    customer_creation,
    customers,
    purchases,
    solicitations,
)
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow, PairHolder, pair_row_keys
from chalicelib.storage.dynamodb.table import Key, account_key, read_with_response, time_of
from chalicelib.storage.dynamodb.unit_of_work import Rows, transaction
from chalicelib.storage.erasures import ErasureRow
from chalicelib.storage.purchases import PurchaseRow, Version, build_version
from chalicelib.storage.solicitations import SolicitationRow

_PersonKey: TypeAlias = tuple[type[ContactRow] | type[ErasureRow], str]

_CHECKED: Final = {
    ContactRow: ("erased_at", "suppressed_email", "suppressed_sms"),
    ErasureRow: ("erased_at",),
}
"""The attributes that must not change between reading the records and writing the purchase."""


@dataclass(frozen=True)
class Known:
    """The stored data that is needed to record a purchase.

    Attributes:
        version: the stored version of the purchase, if it was recorded before.
        customer_id: the existing customer of the purchase: the customer with the purchase's pair
            or, if there is none, the customer with the customer id in the purchase. None if neither
            exists.
        holder: the oldest customer with the purchase's pair; None if no customer has the pair.
        total: the number of listed customers; None if the counter is reserved.
        suppressed: the channels that are suppressed for the addresses of the purchase.
        second: the time at which the data was read, in full seconds of DynamoDB.
        erased_at: the time of the last erasure of this customer, or of a customer with one of the
            addresses.
        persons: the erasure and the suppressions of each contact and erasure that was read: the
            attributes of `_CHECKED`, by row.
    """

    version: Version | None
    solicitation: Solicitation | None
    customer_id: str | None
    holder: PairHolder | None
    total: int | None
    suppressed: frozenset[Channel]
    second: datetime
    erased_at: datetime | None = None
    persons: Mapping[_PersonKey, Mapping[str, Any]] = field(default_factory=dict)


def load_known(
    account_id: str,
    purchase_id: str,
    customer_id: str | None,
    pair: CustomerPair | None,
    contact_keys: Mapping[Channel, str],
    now: datetime,
    erasure_id: str | None = None,
) -> Known:
    """Load the records that a purchase refers to. One consistent request.

    Args:
        customer_id: the id of the purchase's customer, or the id for a new customer.
        contact_keys: the keys of the contacts of the purchase's addresses, by channel.
        erasure_id: the id of the erasure of the purchase's customer; None if the purchase does not
            name an existing customer.
    """
    keys: dict[Any, Any] = {
        "purchase": (PurchaseRow, account_key(account_id, purchase_id)),
        "solicitation": (SolicitationRow, purchase_id),
    }
    if customer_id:
        keys["counter"] = (CounterRow, account_id, Listed.CUSTOMERS.value)
        keys["customer"] = (CustomerRow, account_key(account_id, customer_id))
    person_keys: list[_PersonKey] = [(ContactRow, key) for key in contact_keys.values()]
    if erasure_id:
        person_keys.append((ErasureRow, erasure_id))
    keys |= {key: key for key in person_keys}
    pair_keys = pair_row_keys(account_id, pair)
    found, response = read_with_response(*keys.values(), *pair_keys)
    rows = dict(zip(keys, found, strict=False))
    purchase, solicitation = rows["purchase"], rows["solicitation"]
    pair_row = next(filter(None, found[len(keys) :]), None)
    persons = {
        key: {name: getattr(rows[key], name, None) for name in _CHECKED[key[0]]}
        for key in person_keys
    }
    existing_id = customer_id if rows.get("customer") else None
    return Known(
        version=build_version(purchase) if purchase else None,
        solicitation=solicitations.build_solicitation(solicitation) if solicitation else None,
        customer_id=pair_row.customer_id if pair_row else existing_id,
        holder=PairHolder(pair_row.customer_id, pair_row.key) if pair_row else None,
        total=counters.usable_total(rows.get("counter"), now),
        suppressed=suppressed_channels(
            (channel, contacts.build_contact(key, rows[ContactRow, key]))
            for channel, key in contact_keys.items()
        ),
        second=time_of(response),
        erased_at=max(filter(None, (seen["erased_at"] for seen in persons.values())), default=None),
        persons=persons,
    )


@dataclass(frozen=True)
class Recording:
    """The new version of a purchase, and the changes that it causes.

    Attributes:
        solicitation: the solicitation to create if the purchase has none.
        customer: the customer to create; None if the purchase has a customer or needs none.
        pair_digest: the digest of the pair of ``customer``.
        optins: the fields of the opt-ins that the purchase turns on, such as ``email_optin``.
    """

    version: Version
    solicitation: Solicitation
    customer: Customer | None = None
    pair_digest: str | None = None
    optins: tuple[str, ...] = ()


def save(account_id: str, known: Known, new: Recording) -> bool:
    """Store a purchase with all changes that it causes, in one transaction.

    Return False if the transaction creates a customer without a position in the list. One request;
    one more if the purchase had another customer, and up to two more if counters of the account are
    contended.

    Raises:
        Contention: one of the records has changed since it was loaded.
    """
    purchase = new.version.purchase
    before = known.version.purchase.customer_id if known.version else None
    is_moved = purchase.customer_id != before
    has_left = bool(before and is_moved and customers.find_many(account_id, [before]))

    def write_all(write: Rows) -> None:
        at = purchase.updated_at
        purchases.put(write, account_id, new.version, known.version)
        if known.solicitation is None:
            solicitations.add(write, new.solicitation)
        elif known.solicitation.is_open:
            solicitations.decide_again(write, known.solicitation, purchase.customer_id, at)
        elif not known.solicitation.outcome_is_final:
            solicitations.confirm_not_open(write, known.solicitation)
        source = purchase.source
        if known.customer_id and (is_moved or new.optins):
            number, sources = ({"purchase_count": 1}, [source]) if is_moved else ({}, [])
            customers.count(write, account_id, known.customer_id, number, sources, at, new.optins)
            if known.holder:
                customers.confirm_holder(write, known.holder)
        if before and has_left:
            customers.count(write, account_id, before, {"purchase_count": -1}, (), at)
        _confirm_persons(write, known)

    if new.customer:
        return customer_creation.insert(
            account_id, new.customer, known.total, new.pair_digest, also=write_all
        )
    with transaction() as write:
        write_all(write)
    return True


def _confirm_persons(write: Rows, known: Known) -> None:
    """Check in this transaction that nobody was erased and no address was suppressed meanwhile.

    The transaction fails if a contact of the addresses, or the erasure of the customer, differs
    from the loaded one. The opt-in of a suppressed address must not be turned on.
    """
    for (row, key), seen in known.persons.items():
        write.condition_check(Key(row, key), row.has(**seen))
