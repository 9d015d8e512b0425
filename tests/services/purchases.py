"""Record purchases from their JSON, as requests, messages and files contain it."""

from typing import Any

from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.purchases.partner_requests import PurchaseReport
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.purchases import record, report


def record_purchase(account_id: str, definition: Any, **options: Any) -> Purchase:
    return record.record_purchase(account_id, parse(definition, PurchaseDefinition), **options)


def report_purchase(account_id: str, definition: Any, *, solicit: bool) -> Purchase:
    body = parse({**definition, "solicit": solicit}, PurchaseReport)
    return report.report_purchase(account_id, body)
