"""Writing checked documents, in an order in which each finds what it refers to."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

from admin.definitions.definition import Document, Kind, Problem
from chalicelib.domain.errors import Conflict, InputTooLarge, InvalidInput, NotFound
from chalicelib.domain.input_errors import InputError
from chalicelib.services.accounts.save_places import save_brand, save_store
from chalicelib.services.customers.save import save_customer
from chalicelib.services.forms.save import save_contact_form, save_survey
from chalicelib.services.purchases.record import record_purchase
from chalicelib.services.workflows.manage import save_workflow

MAX_WRITERS: Final = 8

_WRITE: Final[dict[Kind, Callable[[str, Any], object]]] = {
    Kind.BRAND: save_brand,
    Kind.STORE: save_store,
    Kind.CUSTOMER: save_customer,
    Kind.CONTACT_FORM: save_contact_form,
    Kind.SURVEY: save_survey,
    Kind.WORKFLOW: save_workflow,
    Kind.PURCHASE: record_purchase,
}


def write(documents: Iterable[Document], written: Callable[[Document], None]) -> list[Problem]:
    """Writes the documents and tells ``written`` of each; answers what was refused after all.

    What is listed by page is written one after the other, which keeps its order; purchases of
    different customers are written side by side.

    Raises:
        Unavailable: the database throttles or does not answer; the rest is not written.
    """
    problems: list[Problem] = []
    one_at_a_time = Lock()

    def write_in_turn(lane: Sequence[Document]) -> None:
        for document in lane:
            errors = _faults_in_writing(document)
            with one_at_a_time:
                problems.extend(Problem(document.origin, input_error) for input_error in errors)
                if not errors:
                    written(document)

    by_kind = sorted(documents, key=lambda document: list(Kind).index(document.kind))
    purchases = [document for document in by_kind if document.kind is Kind.PURCHASE]
    write_in_turn([document for document in by_kind if document.kind is not Kind.PURCHASE])
    first, *lanes = _lanes(purchases)
    write_in_turn(first)
    with ThreadPoolExecutor(MAX_WRITERS) as threads:
        ends = [threads.submit(write_in_turn, lane) for lane in lanes]
        try:
            for end in ends:
                end.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return problems


def _faults_in_writing(document: Document) -> list[InputError]:
    try:
        _WRITE[document.kind](document.account_id, document.content)
    except InvalidInput as error:
        return error.errors
    except InputTooLarge as error:
        return [InputError("", "too_large", str(error))]
    except (Conflict, NotFound) as error:
        return [InputError("", "refused", str(error))]
    return []


def _lanes(purchases: Sequence[Document]) -> list[list[Document]]:
    """Purchases that must follow one another, lane by lane.

    The first lane is written alone: it holds those that may make a new customer, whose second
    purchase must find it, and everything when a purchase arrives twice in one run.
    """
    names = Counter(
        (d.account_id, d.content.get("source"), d.content.get("externalId")) for d in purchases
    )
    if any(count > 1 for count in names.values()):
        return [list(purchases)]
    alone: list[Document] = []
    lanes: dict[tuple[str, Any], list[Document]] = {}
    for purchase in purchases:
        customer = purchase.content.get("customerId")
        if customer is None and purchase.content.get("customer") is not None:
            alone.append(purchase)
        else:
            lane = customer or purchase.origin
            lanes.setdefault((purchase.account_id, lane), []).append(purchase)
    if not alone and lanes:
        # Connections and tables are made ready by the first write, which therefore goes ahead.
        alone = lanes.pop(next(iter(lanes)))
    return [alone, *lanes.values()]
