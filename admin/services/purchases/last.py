"""List the last purchases of an account."""

from collections.abc import Iterator

from admin.services.solicitation.manage import list_solicitations
from chalicelib.domain.paging import in_groups
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.storage import purchases

_AT_ONCE = 100


def last_purchases(account_id: str, at_most: int) -> Iterator[Purchase]:
    """Yield the account's purchases, the last recorded one first.

    Each purchase has one solicitation, which was created with it and has its id. AWS requests: two,
    and one per 100 purchases.

    Raises:
        NotFound: the account does not exist.
    """
    for group in in_groups(list_solicitations(account_id, at_most=at_most), _AT_ONCE):
        ids = [solicitation.id for solicitation in group]
        found = purchases.find_many(account_id, ids)
        yield from (found[purchase_id] for purchase_id in ids if purchase_id in found)
