"""Save validated definitions. A definition is saved after the definitions that it refers to."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, Final

from admin.definitions.definition import Definition, Kind, Problem
from admin.services.accounts.save_places import save_brand, save_store
from admin.services.customers.save import save_customer
from admin.services.forms.save import save_contact_form, save_survey
from admin.services.workflows.manage import save_workflow
from chalicelib.domain.errors import Conflict, InvalidInput, NotFound, RecordTooLarge
from chalicelib.domain.input_errors import InputError
from chalicelib.services.purchases.record import record_purchase

MAX_WRITERS: Final = 8

Check = Callable[[Any], object]

_WRITE: Final[dict[Kind, Callable[[str, Any, str | None, Check], object]]] = {
    Kind.BRAND: save_brand,
    Kind.STORE: save_store,
    Kind.CUSTOMER: lambda account_id, content, _, check: save_customer(account_id, content, check),
    Kind.CONTACT_FORM: save_contact_form,
    Kind.SURVEY: save_survey,
    Kind.WORKFLOW: save_workflow,
    Kind.PURCHASE: lambda account_id, content, *_: record_purchase(account_id, content),
}


class ChangedMeanwhile(Exception):
    """The stored resource is not the one with which the definition was compared."""


def write(
    definitions: Iterable[Definition],
    written: Callable[[Definition], None],
    operator: str | None = None,
    check: Callable[[Definition, Any], object] = lambda _definition, _stored: None,
) -> list[Problem]:
    """Save the definitions and return the problems. Call ``written`` for each saved definition.

    Purchases of different customers are saved concurrently. All other definitions are saved one
    after another, because lists in the API have the order in which resources were created.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with a definition and the stored resource that it replaces, or None. If it
            raises `ChangedMeanwhile`, the definition is not saved. It is not called for purchases.

    Raises:
        Unavailable: the database throttles or does not respond. The remaining definitions are not
            saved.
    """
    problems: list[Problem] = []
    lock = Lock()

    def write_lane(lane: Sequence[Definition]) -> None:
        for definition in lane:
            try:
                errors = _save_errors(definition, operator, partial(check, definition))
            except ChangedMeanwhile:
                continue
            with lock:
                problems.extend(Problem(definition.origin, input_error) for input_error in errors)
                if not errors:
                    written(definition)

    by_kind = sorted(definitions, key=lambda definition: list(Kind).index(definition.kind))
    purchases = [definition for definition in by_kind if definition.kind is Kind.PURCHASE]
    write_lane([definition for definition in by_kind if definition.kind is not Kind.PURCHASE])
    first, *lanes = _lanes(purchases)
    write_lane(first)
    with ThreadPoolExecutor(MAX_WRITERS) as threads:
        futures = [threads.submit(write_lane, lane) for lane in lanes]
        try:
            for future in futures:
                future.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return problems


def _save_errors(definition: Definition, operator: str | None, check: Check) -> list[InputError]:
    try:
        _WRITE[definition.kind](definition.account_id, definition.content, operator, check)
    except InvalidInput as error:
        return error.errors
    except (RecordTooLarge, Conflict, NotFound) as error:
        return [InputError("", error.code, str(error))]
    return []


def _lanes(purchases: Sequence[Definition]) -> list[list[Definition]]:
    """Split purchases into lists (lanes). The purchases in a lane are saved one after another.

    The first lane is saved first. Then the other lanes are saved concurrently. The first lane
    contains the purchases that can create a customer, because later purchases must find that
    customer. If any purchase occurs twice in the run, the first lane contains all purchases, so
    that the order of the definitions is preserved.
    """
    occurrences = Counter(
        (d.account_id, d.content.get("source"), d.content.get("externalId")) for d in purchases
    )
    if any(count > 1 for count in occurrences.values()):
        return [list(purchases)]
    first: list[Definition] = []
    lanes: dict[tuple[str, Any], list[Definition]] = {}
    for purchase in purchases:
        customer = purchase.content.get("customerId")
        if customer is None and purchase.content.get("customer") is not None:
            first.append(purchase)
        else:
            lane = customer or purchase.origin
            lanes.setdefault((purchase.account_id, lane), []).append(purchase)
    if not first and lanes:
        # Save one lane before the others start, because the first write opens the
        # connection and loads table descriptions.
        first = lanes.pop(next(iter(lanes)))
    return [first, *lanes.values()]
