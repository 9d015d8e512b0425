"""What the documents of one run may refer to: what stands in it, and what is there already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from admin.definitions.definition import Kind
from admin.definitions.identify import IdentifiedDefinition
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.rule import MalformedValue

_PLACE_KINDS: Final = {Kind.BRAND: PlaceKind.BRAND, Kind.STORE: PlaceKind.STORE}
_REFERRED_TO: Final = (Kind.BRAND, Kind.STORE, Kind.CUSTOMER)


class KnownParts(Protocol):
    """What accounts have already."""

    def directory(self, account_id: str) -> Directory:
        """The account's brands and stores."""

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Whether the account has such a customer."""


class RunReferences:
    """Whether there is what a document refers to.

    That cannot be said of what is nowhere while the run has a document whose account or id is
    malformed, which may be the one that is meant; nor of anything in a malformed account. One whose
    kind is malformed may be what has its id, and nothing else.
    """

    def __init__(
        self, documents: Sequence[IdentifiedDefinition], known: KnownParts, *, is_all: bool
    ) -> None:
        """Of these documents; ``is_all`` says whether they are all that the run has."""
        self._known = known
        # Also of documents with faults of their own: those would only be told of twice.
        self._ids = {(each.account_id, each.kind, each.own_id) for each in documents}
        self._of_some_kind = frozenset(each.own_id for each in documents if each.kind is None)
        self._unsure = _kinds_not_named(documents) if is_all else frozenset(_REFERRED_TO)
        self._directories: dict[str | None, Directory] = {}

    def has_customer(self, account_id: str | None, customer_id: str) -> bool:
        """Whether the account has or will have such a customer.

        Raises:
            MalformedValue: that cannot be said.
        """
        if account_id is None:
            raise MalformedValue
        if (account_id, Kind.CUSTOMER, customer_id) in self._ids:
            return True
        if self._known.has_customer(account_id, customer_id):
            return True
        if Kind.CUSTOMER in self._unsure or customer_id in self._of_some_kind:
            raise MalformedValue
        return False

    def directory(self, account_id: str | None) -> Directory:
        """The brands and stores that the account has or will have.

        Asking it for one of which that cannot be said raises `MalformedValue`.
        """
        if account_id not in self._directories:
            self._directories[account_id] = self._new_directory(account_id)
        return self._directories[account_id]

    def _new_directory(self, account_id: str | None) -> Directory:
        if account_id is None:
            return _UnsureDirectory((), frozenset(PlaceKind), self._of_some_kind)
        of_this_run = [
            Place(id=own_id, kind=_PLACE_KINDS[kind], name="")
            for account, kind, own_id in self._ids
            if account == account_id and own_id and kind in _PLACE_KINDS
        ]
        there = self._known.directory(account_id).places
        unsure = frozenset(_PLACE_KINDS[kind] for kind in self._unsure if kind in _PLACE_KINDS)
        return _UnsureDirectory((*there, *of_this_run), unsure, self._of_some_kind)


@dataclass(frozen=True)
class _UnsureDirectory(Directory):
    """A directory that may lack places.

    Attributes:
        unsure: the kinds of which it may lack some.
        of_some_kind: the ids of what may be a place.
    """

    unsure: frozenset[PlaceKind]
    of_some_kind: frozenset[str | None]

    def _of_kind(self, place_id: str, kind: PlaceKind) -> Place | None:
        place = super()._of_kind(place_id, kind)
        if place is None and (kind in self.unsure or place_id in self.of_some_kind):
            raise MalformedValue
        return place


def _kinds_not_named(documents: Iterable[IdentifiedDefinition]) -> frozenset[Kind]:
    """The kinds of which there is a document that cannot be told by account and id."""
    unnamed = [each for each in documents if not (each.account_id and each.own_id)]
    return frozenset(kind for each in unnamed for kind in _kinds_of(each))


def _kinds_of(document: IdentifiedDefinition) -> Sequence[Kind]:
    """What the document may be; what holds nothing is none of them."""
    if document.kind:
        return (document.kind,)
    return _REFERRED_TO if document.content else ()
