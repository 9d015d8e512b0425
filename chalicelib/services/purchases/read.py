"""Read a purchase."""

from chalicelib.domain.errors import NotFound
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.customers.read import find_customer
from chalicelib.storage import purchases


def read_purchase(account_id: str, purchase_id: str) -> Purchase:
    """Return the account's purchase with the current data of its customer and store.

    Two AWS requests if the brands, stores and tags are cached.

    Raises:
        NotFound: the account has no such purchase.
    """
    purchase = purchases.find(account_id, purchase_id)
    if purchase is None:
        raise NotFound("purchase")
    customer_id = purchase.customer_id
    return purchase.model_copy(
        update={
            "store_name": account_directory(account_id).name_of(purchase.store_id),
            "customer": find_customer(account_id, customer_id) if customer_id else None,
        }
    )
