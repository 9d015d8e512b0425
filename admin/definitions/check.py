"""Checking documents before any of them is written.

Each is judged by its shape, by its rules, and by what it refers to: brands, stores and customers
that either stand in the same run or are there already. What only the write can find is whether an
id is taken: by another account's form, or by a place of the other kind.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from admin.definitions.definition import Document, Kind, Problem, RawDefinition
from admin.definitions.identify import IdentifiedDefinition, KnownAccounts, identify_definition
from admin.definitions.references import KnownParts, RunReferences
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import BrandDefinition, Directory, StoreDefinition
from chalicelib.domain.customers.customer import CustomerDefinition, customer_from_definition
from chalicelib.domain.definitions import parse_and_validate
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.forms.definitions.contact_form import read_contact_form, save_contact_form
from chalicelib.domain.forms.definitions.survey import read_survey, save_survey
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import PurchaseDefinition, purchase_errors
from chalicelib.domain.rule import rule
from chalicelib.domain.workflows.definition import read_workflow, save_workflow
from chalicelib.settings import settings


class Known(KnownAccounts, KnownParts, Protocol):
    """What is there already."""


def check(
    found: Sequence[RawDefinition],
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
    opened = [identify_definition(each, default_account, known) for each in found]
    run = _Run(RunReferences(opened, known, is_all=is_all))
    problems: list[Problem] = []
    documents: list[Document] = []
    for each in opened:
        errors = [*each.errors, *run.errors_of(each)]
        problems += (Problem(each.origin, input_error) for input_error in errors)
        if each.kind and each.account_id and not errors:
            documents.append(Document(each.origin, each.kind, each.account_id, each.content))
    return documents, problems


class _Run:
    """The documents of one run, judged one after the other."""

    def __init__(self, references: RunReferences) -> None:
        self._references = references
        self._now = clock.now()
        self._origins: dict[tuple[str, Kind, str], str] = {}

    def errors_of(self, document: IdentifiedDefinition) -> Iterator[InputError]:
        """Everything that is wrong with a document, besides its kind and account."""
        yield from self._repeated_id_errors(document)
        try:
            if document.kind:
                _CHECKS[document.kind](self, document)
        except InvalidInput as error:
            yield from error.errors
        except InputTooLarge as error:
            yield InputError("", "too_large", str(error))

    def _repeated_id_errors(self, document: IdentifiedDefinition) -> Iterator[InputError]:
        if document.account_id and document.kind and document.own_id:
            named = (document.account_id, document.kind, document.own_id)
            first = self._origins.setdefault(named, document.origin)
            if first != document.origin:
                yield InputError("/id", "duplicate", f"This id is already that of {first}.")

    def brand(self, document: IdentifiedDefinition) -> None:
        parse(document.content, BrandDefinition)

    def store(self, document: IdentifiedDefinition) -> None:
        directory = self._references.directory(document.account_id)
        parse_and_validate(
            document.content, StoreDefinition, lambda store: _brand_errors(store, directory)
        )

    def customer(self, document: IdentifiedDefinition) -> None:
        customer_from_definition(parse(document.content, CustomerDefinition), self._now)

    def contact_form(self, document: IdentifiedDefinition) -> None:
        directory = self._references.directory(document.account_id)
        save_contact_form(read_contact_form(document.content, directory), self._now)

    def survey(self, document: IdentifiedDefinition) -> None:
        directory = self._references.directory(document.account_id)
        save_survey(read_survey(document.content, directory), self._now)

    def workflow(self, document: IdentifiedDefinition) -> None:
        directory = self._references.directory(document.account_id)
        allow_private = settings().private_webhooks
        workflow = read_workflow(document.content, directory, allow_private=allow_private)
        save_workflow(workflow, self._now)

    def purchase(self, document: IdentifiedDefinition) -> None:
        def rule_errors(purchase: PurchaseDefinition) -> Iterator[InputError]:
            yield from purchase_errors(purchase)
            yield from _store_errors(purchase, self._references.directory(document.account_id))
            yield from _customer_errors(purchase, self._references, document.account_id)

        parse_and_validate(document.content, PurchaseDefinition, rule_errors)


@rule
def _brand_errors(store: StoreDefinition, directory: Directory) -> Iterator[InputError]:
    if directory.brand(store.brand_id) is None:
        yield unknown_reference("brand", "brandId")


@rule
def _store_errors(purchase: PurchaseDefinition, directory: Directory) -> Iterator[InputError]:
    if directory.store(purchase.store_id) is None:
        yield unknown_reference("store", "storeId")


@rule
def _customer_errors(
    purchase: PurchaseDefinition, references: RunReferences, account_id: str | None
) -> Iterator[InputError]:
    customer_id = purchase.customer_id
    if customer_id and not references.has_customer(account_id, customer_id):
        yield unknown_reference("customer", "customerId")


_CHECKS: Final[dict[Kind, Callable[[_Run, IdentifiedDefinition], None]]] = {
    Kind.BRAND: _Run.brand,
    Kind.STORE: _Run.store,
    Kind.CUSTOMER: _Run.customer,
    Kind.CONTACT_FORM: _Run.contact_form,
    Kind.SURVEY: _Run.survey,
    Kind.WORKFLOW: _Run.workflow,
    Kind.PURCHASE: _Run.purchase,
}
