"""Record the purchases that a partner reports: ``POST /partners/purchase`` and ``…/batch``."""

from typing import Any, Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain.customers.import_batch import RowInputError
from chalicelib.domain.errors import InvalidInput, RecordTooLarge, Unavailable
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.purchases.partner_requests import (
    PurchaseReport,
    RecordedBatch,
    RecordedRow,
    RowStatus,
)
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.purchases.read import with_details
from chalicelib.services.purchases.record import record_purchase

MAX_WRITERS: Final = 8
MAX_ROW_ERRORS: Final = 100


def report_purchase(
    account_id: str, report: PurchaseReport, *, with_customer: bool = True
) -> Purchase:
    """Record a purchase and return it. See `record_purchase`.

    Four AWS requests; three if nothing has changed and the survey is not pending. One less without
    the customer.

    Args:
        with_customer: whether to return the customer with the purchase.

    Raises:
        InvalidInput: the purchase violates a rule.
        RecordTooLarge: the purchase exceeds its size limit.
        Unavailable: the database throttles, or contention persists.
    """
    purchase = record_purchase(account_id, report, solicit=report.solicit)
    return with_details(account_id, purchase, with_customer=with_customer)


def report_purchases(account_id: str, rows: list[Any], *, solicit: bool) -> RecordedBatch:
    """Record the purchases of a batch, and return the result of each row.

    Rows of the same purchase are recorded one after another, other rows concurrently. Up to three
    AWS requests for each row.
    """
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(_key_of(row), []).append((index, row))

    def record_group(group: list[tuple[int, Any]]) -> list[RecordedRow]:
        return [_record_row(account_id, index, row, solicit=solicit) for index, row in group]

    recorded = map_concurrently(record_group, list(groups.values()), MAX_WRITERS)
    items = sorted((row for group in recorded for row in group), key=lambda row: row.index)
    return RecordedBatch(items=tuple(items))


def _key_of(row: Any) -> Any:
    if not isinstance(row, dict):
        return None
    return str(row.get("source")).strip(), str(row.get("externalId")).strip()


def _record_row(account_id: str, index: int, row: Any, *, solicit: bool) -> RecordedRow:
    try:
        purchase = record_purchase(account_id, parse(row, PurchaseDefinition), solicit=solicit)
    except InvalidInput as error:
        return _invalid(index, error.errors[:MAX_ROW_ERRORS])
    except RecordTooLarge as error:
        return _invalid(index, [InputError("", "record_too_large", str(error))])
    except Unavailable:
        return RecordedRow(index=index, status=RowStatus.FAILED, id=None)
    return RecordedRow(index=index, status=RowStatus.RECORDED, id=purchase.id)


def _invalid(index: int, errors: list[InputError]) -> RecordedRow:
    row = json_pointer("batch", index)
    described = tuple(
        RowInputError(pointer=row + error.pointer, code=error.code, detail=error.detail)
        for error in errors
    )
    return RecordedRow(index=index, status=RowStatus.INVALID, id=None, errors=described)
