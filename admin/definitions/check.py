"""Checking documents before any of them is written.

Each is judged by its shape, by its rules, and by what it refers to: brands, stores and customers
that either stand in the same run or are there already. What only the write can find is whether an
id is taken: by another account's form, or by a place of the other kind.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from admin.definitions.definition import Document, FoundDocument, Kind, Problem
from admin.definitions.identify import KnownAccounts, OpenedDocument, open_document
from admin.definitions.references import KnownParts, RunReferences
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import BrandDocument, Directory, StoreDocument
from chalicelib.domain.customers.customer import CustomerDocument, customer_from_document
from chalicelib.domain.definitions import read_and_judge
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.forms.definitions.contact_form import read_contact_form, save_contact_form
from chalicelib.domain.forms.definitions.rule import rule
from chalicelib.domain.forms.definitions.rules import unknown_reference
from chalicelib.domain.forms.definitions.survey import read_survey, save_survey
from chalicelib.domain.input_errors import Fault
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import PurchaseDocument, purchase_faults
from chalicelib.domain.workflows.definition import read_workflow, save_workflow
from chalicelib.settings import settings


class Known(KnownAccounts, KnownParts, Protocol):
    """What is there already."""


def check(
    found: Sequence[FoundDocument],
    default_account: str | None,
    known: Known,
    *,
    is_all: bool = True,
) -> tuple[list[Document], list[Problem]]:
    """The documents that may be written, in the order found, and every fault of the others.

    Args:
        default_account: the account of those documents that name none.
        is_all: whether these are all documents of the run, none of which could not be read.
    """
    opened = [open_document(each, default_account, known) for each in found]
    run = _Run(RunReferences(opened, known, is_all=is_all))
    problems: list[Problem] = []
    documents: list[Document] = []
    for each in opened:
        faults = [*each.faults, *run.faults_of(each)]
        problems += (Problem(each.origin, fault) for fault in faults)
        if each.kind and each.account_id and not faults:
            documents.append(Document(each.origin, each.kind, each.account_id, each.content))
    return documents, problems


class _Run:
    """The documents of one run, judged one after the other."""

    def __init__(self, references: RunReferences) -> None:
        self._references = references
        self._now = clock.now()
        self._origins: dict[tuple[str, Kind, str], str] = {}

    def faults_of(self, document: OpenedDocument) -> Iterator[Fault]:
        """Everything that is wrong with a document, besides its kind and account."""
        yield from self._repeated_id_faults(document)
        try:
            if document.kind:
                _CHECKS[document.kind](self, document)
        except InvalidInput as error:
            yield from error.faults
        except InputTooLarge as error:
            yield Fault("", "too_large", str(error))

    def _repeated_id_faults(self, document: OpenedDocument) -> Iterator[Fault]:
        if document.account_id and document.kind and document.own_id:
            named = (document.account_id, document.kind, document.own_id)
            first = self._origins.setdefault(named, document.origin)
            if first != document.origin:
                yield Fault("/id", "duplicate", f"This id is already that of {first}.")

    def brand(self, document: OpenedDocument) -> None:
        parse(document.content, BrandDocument)

    def store(self, document: OpenedDocument) -> None:
        directory = self._references.directory(document.account_id)
        read_and_judge(
            document.content, StoreDocument, lambda store: _brand_faults(store, directory)
        )

    def customer(self, document: OpenedDocument) -> None:
        customer_from_document(parse(document.content, CustomerDocument), self._now)

    def contact_form(self, document: OpenedDocument) -> None:
        directory = self._references.directory(document.account_id)
        save_contact_form(read_contact_form(document.content, directory), self._now)

    def survey(self, document: OpenedDocument) -> None:
        directory = self._references.directory(document.account_id)
        save_survey(read_survey(document.content, directory), self._now)

    def workflow(self, document: OpenedDocument) -> None:
        directory = self._references.directory(document.account_id)
        allow_private = settings().private_webhooks
        workflow = read_workflow(document.content, directory, allow_private=allow_private)
        save_workflow(workflow, self._now)

    def purchase(self, document: OpenedDocument) -> None:
        def faults_in(purchase: PurchaseDocument) -> Iterator[Fault]:
            yield from purchase_faults(purchase)
            yield from _store_faults(purchase, self._references.directory(document.account_id))
            yield from _customer_faults(purchase, self._references, document.account_id)

        read_and_judge(document.content, PurchaseDocument, faults_in)


@rule
def _brand_faults(store: StoreDocument, directory: Directory) -> Iterator[Fault]:
    if directory.brand(store.brand_id) is None:
        yield unknown_reference("brand", "brandId")


@rule
def _store_faults(purchase: PurchaseDocument, directory: Directory) -> Iterator[Fault]:
    if directory.store(purchase.store_id) is None:
        yield unknown_reference("store", "storeId")


@rule
def _customer_faults(
    purchase: PurchaseDocument, references: RunReferences, account_id: str | None
) -> Iterator[Fault]:
    customer_id = purchase.customer_id
    if customer_id and not references.has_customer(account_id, customer_id):
        yield unknown_reference("customer", "customerId")


_CHECKS: Final[dict[Kind, Callable[[_Run, OpenedDocument], None]]] = {
    Kind.BRAND: _Run.brand,
    Kind.STORE: _Run.store,
    Kind.CUSTOMER: _Run.customer,
    Kind.CONTACT_FORM: _Run.contact_form,
    Kind.SURVEY: _Run.survey,
    Kind.WORKFLOW: _Run.workflow,
    Kind.PURCHASE: _Run.purchase,
}
