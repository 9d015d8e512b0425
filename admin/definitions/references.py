"""Look up the resources to which the definitions of one ``load`` command can refer."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, Protocol

from admin.definitions.definition import Definition, Kind
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.workflows.workflow import Workflow

_PLACE_KINDS: Final = {Kind.BRAND: PlaceKind.BRAND, Kind.STORE: PlaceKind.STORE}


class KnownResources(Protocol):
    """Look up stored resources of accounts."""

    def directory(self, account_id: str) -> Directory:
        """Return the account's brands and stores."""

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Return whether the account has this customer."""

    def workflows(self, account_id: str) -> Sequence[Workflow]:
        """Return the account's workflows."""


class RunReferences:
    """Look up resources that are stored, or defined in the same run of ``load``."""

    def __init__(self, definitions: Iterable[Definition], known: KnownResources) -> None:
        self._known = known
        self._defined = {(d.account_id, d.kind, d.resource_id): d for d in definitions}

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Return whether the customer is stored in the account or defined in the run."""
        return (account_id, Kind.CUSTOMER, customer_id) in self._defined or (
            self._known.has_customer(account_id, customer_id)
        )

    @cache  # noqa: B019 - the process ends with the command
    def directory(self, account_id: str) -> Directory:
        """Return the brands and stores that are stored in the account or defined in the run.

        The size limits of forms include the names of brands and stores.
        """
        defined = [
            Place(id=resource_id, kind=_PLACE_KINDS[kind], name=definition.content["name"])
            for (account, kind, resource_id), definition in self._defined.items()
            if account == account_id and resource_id and kind in _PLACE_KINDS
        ]
        return Directory.of((*self._known.directory(account_id).places, *defined))
