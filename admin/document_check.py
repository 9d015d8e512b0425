"""Checking documents before any of them is written.

First the shape of each, then what it refers to: brands, stores and customers that either stand in
the same run or are there already. What only the write can find is whether an id is taken: by
another account's form, or by a place of the other kind.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Protocol

from admin.document import Document, FoundDocument, Kind, Problem
from chalicelib.domain import clock
from chalicelib.domain.contact_form_document import parse_contact_form, save_contact_form
from chalicelib.domain.customer import CustomerDocument, customer_from_document
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.faults import Fault
from chalicelib.domain.form_rules import unknown_reference
from chalicelib.domain.ids import parse_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.place import BrandDocument, Directory, Place, PlaceKind, StoreDocument
from chalicelib.domain.purchase import PurchaseDocument
from chalicelib.domain.survey_document import parse_survey, save_survey
from chalicelib.domain.workflow_document import parse_workflow, save_workflow
from chalicelib.settings import settings


class Known(Protocol):
    """What is there already."""

    def has_account(self, account_id: str) -> bool:
        """Whether there is such an account."""

    def directory(self, account_id: str) -> Directory:
        """The account's brands and stores."""

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Whether the account has such a customer."""


def check(
    found: Sequence[FoundDocument], default_account: str | None, known: Known
) -> tuple[list[Document], list[Problem]]:
    """The documents that may be written, in the order found, and every fault of the others.

    ``default_account`` is the account of those documents that name none.
    """
    problems: list[Problem] = []
    documents: list[Document] = []
    for each in found:
        opened = _opened(each, default_account, known)
        if isinstance(opened, Document):
            documents.append(opened)
        else:
            problems += (Problem(each.origin, fault) for fault in opened)
    run = _Run(documents, known)
    for document in documents:
        problems += (Problem(document.origin, fault) for fault in run.faults_of(document))
    return documents, problems


def _opened(
    found: FoundDocument, default_account: str | None, known: Known
) -> Document | list[Fault]:
    if not isinstance(found.content, dict):
        return [Fault("", "wrong_type", "A document must be an object.")]
    content = dict(found.content)
    kind, account = content.pop("kind", None), content.pop("account", None) or default_account
    faults: list[Fault] = []
    if kind not in list(Kind):
        faults.append(Fault("/kind", "not_allowed", f"This must be one of {', '.join(Kind)}."))
    account_id = parse_id(account) if isinstance(account, str) else None
    if account is None:
        faults.append(Fault("/account", "required", "Name the account here or with --account."))
    elif account_id is None:
        faults.append(Fault("/account", "invalid_uuid", "This must be an account's id."))
    elif not known.has_account(account_id):
        faults.append(unknown_reference("account", "account"))
    if account_id is None or faults:
        return faults + (_shape_faults(Kind(kind), content) if kind in list(Kind) else [])
    return Document(found.origin, Kind(kind), account_id, content)


def _shape_faults(kind: Kind, content: dict[str, Any]) -> list[Fault]:
    try:
        _SHAPES[kind](content)
    except InvalidInput as error:
        return error.faults
    return []


class _Run:
    """One run's documents beside what is there already."""

    def __init__(self, documents: Sequence[Document], known: Known) -> None:
        self._known = known
        self._now = clock.now()
        self._origins: dict[tuple[str, Kind, str], str] = {}
        # Also of documents with faults of their own: those would only be told of twice.
        self._ids = {(d.account_id, d.kind, own_id) for d in documents if (own_id := _own_id(d))}
        self._directories: dict[str, Directory] = {}

    def faults_of(self, document: Document) -> Iterator[Fault]:
        """Everything that is wrong with a document."""
        own_id = _own_id(document)
        if own_id:
            first = self._origins.setdefault(
                (document.account_id, document.kind, own_id), document.origin
            )
            if first != document.origin:
                yield Fault("/id", "duplicate", f"This id is already that of {first}.")
        try:
            yield from _CHECKS[document.kind](self, document)
        except InvalidInput as error:
            yield from error.faults
        except InputTooLarge as error:
            yield Fault("", "too_large", str(error))

    def brand(self, document: Document) -> list[Fault]:
        parse(document.content, BrandDocument)
        return []

    def store(self, document: Document) -> list[Fault]:
        store = parse(document.content, StoreDocument)
        if self._directory(document.account_id).brand(store.brand_id) is None:
            return [unknown_reference("brand", "brandId")]
        return []

    def customer(self, document: Document) -> list[Fault]:
        customer_from_document(parse(document.content, CustomerDocument), self._now)
        return []

    def contact_form(self, document: Document) -> list[Fault]:
        form = parse_contact_form(document.content)
        save_contact_form(form, self._directory(document.account_id), self._now)
        return []

    def survey(self, document: Document) -> list[Fault]:
        survey = parse_survey(document.content)
        save_survey(survey, self._directory(document.account_id), self._now)
        return []

    def workflow(self, document: Document) -> list[Fault]:
        workflow = parse_workflow(document.content)
        save_workflow(workflow, self._now, allow_private=settings().private_webhooks)
        return []

    def purchase(self, document: Document) -> list[Fault]:
        purchase = parse(document.content, PurchaseDocument)
        faults: list[Fault] = []
        if self._directory(document.account_id).store(purchase.store_id) is None:
            faults.append(unknown_reference("store", "storeId"))
        customer = purchase.customer_id
        if customer and not self._has_customer(document.account_id, customer):
            faults.append(unknown_reference("customer", "customerId"))
        return faults

    def _has_customer(self, account_id: str, customer_id: str) -> bool:
        of_this_run = (account_id, Kind.CUSTOMER, customer_id) in self._ids
        return of_this_run or self._known.has_customer(account_id, customer_id)

    def _directory(self, account_id: str) -> Directory:
        if account_id not in self._directories:
            of_this_run = [
                Place(id=own_id, kind=_PLACE_KINDS[kind], name="")
                for account, kind, own_id in self._ids
                if account == account_id and kind in _PLACE_KINDS
            ]
            there = self._known.directory(account_id).places
            self._directories[account_id] = Directory.of([*there, *of_this_run])
        return self._directories[account_id]


def _own_id(document: Document) -> str | None:
    given = document.content.get("id")
    return parse_id(given) if isinstance(given, str) else None


_PLACE_KINDS: Final = {Kind.BRAND: PlaceKind.BRAND, Kind.STORE: PlaceKind.STORE}

_SHAPES: Final[dict[Kind, Callable[[Any], object]]] = {
    Kind.BRAND: partial(parse, model=BrandDocument),
    Kind.STORE: partial(parse, model=StoreDocument),
    Kind.CUSTOMER: partial(parse, model=CustomerDocument),
    Kind.CONTACT_FORM: parse_contact_form,
    Kind.SURVEY: parse_survey,
    Kind.WORKFLOW: parse_workflow,
    Kind.PURCHASE: partial(parse, model=PurchaseDocument),
}

_CHECKS: Final[dict[Kind, Callable[[_Run, Document], list[Fault]]]] = {
    Kind.BRAND: _Run.brand,
    Kind.STORE: _Run.store,
    Kind.CUSTOMER: _Run.customer,
    Kind.CONTACT_FORM: _Run.contact_form,
    Kind.SURVEY: _Run.survey,
    Kind.WORKFLOW: _Run.workflow,
    Kind.PURCHASE: _Run.purchase,
}
