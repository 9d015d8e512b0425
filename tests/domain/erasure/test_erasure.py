"""Test the receipt of an erasure."""

from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain.erasure.erasure import Erasure, build_receipt
from chalicelib.domain.ids import new_id

PENDING = Erasure(
    id="e",
    account_id=new_id(),
    erased_at=datetime(2026, 11, 20, 10, tzinfo=UTC),
    customer_id=None,
    operator="anna",
)
ENDED = replace(PENDING, ended_at=datetime(2026, 11, 21, 10, tzinfo=UTC))


def test_receipt_lists_expiry_of_remaining_copies() -> None:
    copies = build_receipt(ENDED)["remainingCopies"]
    assert [(copy["retentionDays"], copy["expiresAt"]) for copy in copies] == [
        (35, "2026-12-26T10:00:00.000Z"),
        (90, "2027-02-19T10:00:00.000Z"),
        (14, "2026-12-05T10:00:00.000Z"),
        (30, "2026-12-21T10:00:00.000Z"),
        (90, "2027-02-19T10:00:00.000Z"),
    ]


def test_copies_of_pending_erasure_have_no_expiry() -> None:
    receipt = build_receipt(PENDING)
    assert receipt["endedAt"] is None
    assert [copy["expiresAt"] for copy in receipt["remainingCopies"]] == [None] * 5
