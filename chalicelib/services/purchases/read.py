"""Read and list purchases."""

from typing import Final

from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import MAX_LIMIT, marshalled_bytes
from chalicelib.domain.purchases.partner_requests import PurchaseList, PurchaseListRequest
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.customers.read import find_customer, with_tags
from chalicelib.storage import customers, purchases, solicitations

_MAX_PAGE_BYTES: Final = 4_000_000
"""Maximum size of the purchases of a page, as Lambda marshals them, unless one alone is larger."""


def read_purchase(account_id: str, purchase_id: str) -> Purchase:
    """Return the account's purchase with the current data of its customer and store.

    Two AWS requests if the brands, stores and tags are cached.

    Raises:
        NotFound: the account has no such purchase.
    """
    purchase = purchases.find(account_id, purchase_id)
    if purchase is None:
        raise NotFound("purchase")
    return with_details(account_id, purchase)


def with_details(account_id: str, purchase: Purchase, *, with_customer: bool = True) -> Purchase:
    """Return a purchase with the current data of its customer and store.

    One AWS request if the brands, stores and tags are cached; none without a customer.

    Args:
        with_customer: whether to return the customer.
    """
    customer_id = purchase.customer_id if with_customer else None
    return purchase.model_copy(
        update={
            "store_name": account_directory(account_id).name_of(purchase.store_id),
            "customer": find_customer(account_id, customer_id) if customer_id else None,
        }
    )


def list_purchases(account_id: str, request: PurchaseListRequest) -> PurchaseList:
    """Return a page of the account's purchases, in the order of creation.

    Three AWS requests: the index, the purchases and the customers. The index is eventually
    consistent. A filter that matches little returns a short page.

    Raises:
        InvalidInput: the cursor is invalid.
    """
    at_most = MAX_LIMIT if request.store_ids else request.limit
    after, customer_id = request.position(), request.customer_id
    # Each purchase has one solicitation, which was created with it and has its id.
    positions, is_end = (
        purchases.list_page_of_customer(account_id, customer_id, after, at_most)
        if customer_id
        else solicitations.list_page(account_id, after, at_most)
    )
    found = purchases.find_many(account_id, [record_id for _, record_id in positions])
    wanted = {
        purchase_id: purchase
        for purchase_id, purchase in found.items()
        if not request.store_ids or purchase.store_id in request.store_ids
    }
    loaded = customers.find_many(
        account_id, {p.customer_id for p in wanted.values() if p.customer_id}
    )
    tagged = {each.id: each for each in with_tags(account_id, loaded.values())}
    directory = account_directory(account_id)
    items: list[Purchase] = []
    size, end = 0, None
    for position in positions:
        if purchase := wanted.get(position[1]):
            details = {
                "store_name": directory.name_of(purchase.store_id),
                "customer": tagged.get(purchase.customer_id or ""),
            }
            item = purchase.model_copy(update=details)
            size += marshalled_bytes(item.model_dump_json())
            if items and (size > _MAX_PAGE_BYTES or len(items) == request.limit):
                break
            items.append(item)
        end = position
    meta = request.page_meta(len(items), positions, end, is_end=is_end)
    return PurchaseList(items=tuple(items), meta=meta)
