"""Read a partner's account, and list its brands and stores."""

from chalicelib.domain.accounts.account import Credential, Permission
from chalicelib.domain.accounts.partner_view import (
    PartnerAccount,
    PartnerLimits,
    PartnerPlace,
    PlacePage,
)
from chalicelib.domain.paging import PageRequest, page_meta
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
        expires_at=credential.ends_at,
        last_used_at=credential.last_used_at,
        limits=PartnerLimits(),
    )


def list_places(account_id: str, request: PageRequest) -> PlacePage:
    """Return one page of the account's brands and stores, by name. One AWS request."""
    places = current_directory(account_id).places
    items = tuple(PartnerPlace(**place.model_dump(by_alias=False)) for place in request.of(places))
    return PlacePage(items=items, meta=page_meta(request, len(items), len(places)))
