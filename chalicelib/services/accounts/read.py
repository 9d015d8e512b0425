"""Read a partner's account, and list its brands and stores."""

from chalicelib.domain.accounts.account import Credential, Permission
from chalicelib.domain.accounts.partner_view import (
    PartnerAccount,
    PartnerLimits,
    PartnerPlace,
    PlacePage,
)
from chalicelib.domain.customers.customer import MAX_CUSTOMER_BYTES
from chalicelib.domain.customers.import_batch import MAX_ROWS
from chalicelib.domain.paging import MAX_LIMIT, PageRequest, page_meta
from chalicelib.domain.parsing import MAX_BODY_BYTES
from chalicelib.domain.purchases.purchase import MAX_PURCHASE_BYTES
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.accounts.settings import account_settings


def read_account(credential: Credential) -> PartnerAccount:
    """Return the account of an API key. No AWS request if its settings are cached."""
    settings = account_settings(credential.account_id)
    return PartnerAccount(
        id=credential.account_id,
        name=settings.name,
        time_zone=settings.time_zone,
        permissions=tuple(p for p in Permission if p in credential.permissions),
        limits=PartnerLimits(
            request_bytes=MAX_BODY_BYTES,
            list_items=MAX_LIMIT,
            customer_bytes=MAX_CUSTOMER_BYTES,
            customer_batch_rows=MAX_ROWS,
            purchase_bytes=MAX_PURCHASE_BYTES,
        ),
    )


def list_places(account_id: str, request: PageRequest) -> PlacePage:
    """Return one page of the account's brands and stores, by name. One AWS request."""
    places = current_directory(account_id).places
    items = tuple(PartnerPlace(**place.model_dump(by_alias=False)) for place in request.of(places))
    return PlacePage(items=items, meta=page_meta(request, len(items), len(places)))
