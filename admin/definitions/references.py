"""Resources that the definitions of one run may refer to."""

from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol

from admin.definitions.definition import Definition, Kind
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind

_PLACE_KINDS: Final = {Kind.BRAND: PlaceKind.BRAND, Kind.STORE: PlaceKind.STORE}


class KnownParts(Protocol):
    """The resources that accounts have already."""

    def directory(self, account_id: str) -> Directory:
        """Return the account's brands and stores."""

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Return whether the account has this customer."""


class RunReferences:
    """The resources that exist already, and those that the run defines."""

    def __init__(self, definitions: Iterable[Definition], known: KnownParts) -> None:
        self._known = known
        self._defined = {(each.account_id, each.kind, each.own_id) for each in definitions}

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Return whether the account has this customer or the run defines it."""
        return (account_id, Kind.CUSTOMER, customer_id) in self._defined or (
            self._known.has_customer(account_id, customer_id)
        )

    @cache  # noqa: B019 - lives as long as one run of the command
    def directory(self, account_id: str) -> Directory:
        """Return the brands and stores that the account has or that the run defines."""
        defined = [
            Place(id=own_id, kind=_PLACE_KINDS[kind], name="")
            for account, kind, own_id in self._defined
            if account == account_id and own_id and kind in _PLACE_KINDS
        ]
        return Directory.of((*self._known.directory(account_id).places, *defined))
