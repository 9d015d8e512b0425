"""List the stored purchases of an account, and compare purchases with them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from admin.services.accounts.manage import require_account
from admin.storage import accounts, input_hashes
from admin.storage.solicitations import list_for_account
from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from chalicelib.services.purchases.record import input_hash_of
from chalicelib.storage import purchases

_READ_AT_ONCE: Final = 100


def time_of_import(account_id: str) -> datetime:
    """Return the time of an import that starts now. One AWS request.

    The order of versions must not depend on the clock of the operator's computer.
    """
    return clock.within(accounts.time_of_read(account_id))


def is_stored(account_id: str, definitions: Sequence[PurchaseDefinition]) -> list[bool | None]:
    """Return for each purchase whether it is stored unchanged. None if it is not stored at all.

    A purchase that was recorded with other values, or whose customer was erased, is not unchanged.
    One AWS request per 100 purchases.
    """
    ids = [purchase_id(account_id, d.source, d.external_id) for d in definitions]
    stored: dict[str, str | None] = {}
    for group in in_groups(dict.fromkeys(ids), _READ_AT_ONCE):
        stored |= input_hashes.find_input_hashes(account_id, group)
    return [
        stored[id_] == input_hash_of(definition) if id_ in stored else None
        for id_, definition in zip(ids, definitions, strict=True)
    ]


def last_purchases(account_id: str, at_most: int) -> Iterator[Purchase]:
    """Yield the account's purchases, the last recorded one first.

    Each purchase has one solicitation, which was created with it and has its id. AWS requests: two,
    and one per 100 purchases.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    listed = list_for_account(account_id, at_most=at_most)
    for group in in_groups(listed, _READ_AT_ONCE):
        ids = [solicitation.id for solicitation in group]
        found = purchases.find_many(account_id, ids)
        yield from (found[each] for each in ids if each in found)


def list_purchases(account_id: str, customer_id: str) -> list[Purchase]:
    """Return the customer's purchases, the latest first. One AWS request, and one per 100."""
    found = purchases.of_customer(account_id, customer_id)
    return sorted(found, key=lambda purchase: purchase.date, reverse=True)
