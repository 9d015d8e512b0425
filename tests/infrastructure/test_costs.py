"""Count the requests of the operations whose cost `infrastructure.costs` computes."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.metrics import metric_fields
from chalicelib.services.forms.read import read_survey
from chalicelib.services.solicitation import send_survey
from chalicelib.services.sweeper import run_sweeper
from chalicelib.storage.trackers import TrackerRow
from infrastructure import costs
from tests.aws.stage import metered_requests
from tests.services.queues import FEEDBACK_QUEUE, PURCHASE_QUEUE, SOLICITATION_QUEUE
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import Shop, open_shop
from tests.web.public.respondent import PublicClient, answers


@pytest.fixture
def shop(account: str, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Create an account with a survey. The provider of messages accepts each message."""
    monkeypatch.setattr(send_survey, "send_invitation", Provider().send)
    return open_shop()


def test_purchase_takes_counted_requests_and_units(shop: Shop) -> None:
    process_purchase(shop, "warm-up", lambda _, operation: operation())
    measured: dict[str, costs.Operation] = {}

    def measure(name: str, operation: Callable[[], object]) -> None:
        with metered_requests() as meter:
            operation()
        expected = costs.PURCHASE[name]
        if name == "survey sent":
            meter.requests["ses.SendRawEmail"] += 1  # The test replaces the provider of messages.
        measured[name] = costs.Operation(
            expected.function,
            dict(meter.requests),
            meter.read_units,
            dict(meter.write_units),
            expected.share,
        )

    process_purchase(shop, "measured", measure)
    assert measured.keys() == costs.PURCHASE.keys() - {"script of the page"}
    for name, operation in measured.items():
        assert operation == costs.PURCHASE[name]


def process_purchase(
    shop: Shop, name: str, run: Callable[[str, Callable[[], object]], object]
) -> None:
    """Process a purchase of a new customer until their feedback is processed."""
    customer = {
        "email": f"{name}@example.test",
        "firstName": "Zoé",
        "lastName": "Durand",
        "emailOptin": True,
    }
    purchase = shop.definition(customer=customer)
    message = json.dumps({"accountId": shop.account_id, "purchase": purchase})
    run("purchase recorded", lambda: PURCHASE_QUEUE.deliver([message]))
    sent = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    run("survey sent", lambda: SOLICITATION_QUEUE.deliver(sent))
    (tracker,) = (
        row.tracker_id
        for row in TrackerRow.scan(TrackerRow.account_id == shop.account_id)
        if row.used_at is None
    )
    respondent = PublicClient()
    page = f"/public/survey/page?survey={shop.survey_id}&tracker={tracker}"
    run("page opened", lambda: expect(respondent.get(page), 200))
    question = read_survey(shop.account_id, shop.survey_id).fields[0].id
    fields = answers(**{question: "9"})
    run(
        "survey answered",
        lambda: expect(
            respondent.submit_fields(
                "/public/survey/submit", shop.survey_id, fields, tracker=tracker
            ),
            201,
        ),
    )
    submitted = FEEDBACK_QUEUE.queued_messages(shop.account_id)
    run("feedback processed", lambda: FEEDBACK_QUEUE.deliver(submitted))


def expect(response: Any, status: int) -> None:
    assert response.status == status


def test_idle_sweep_takes_counted_requests_and_units(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics: set[tuple[str, str]] = set()

    def record(dimension: str, value: str, /, **named: float) -> dict[str, Any]:
        metrics.update((value, name) for name in named)
        return metric_fields(dimension, value, **named)

    monkeypatch.setattr("chalicelib.services.sweeper.metric_fields", record)
    with metered_requests() as meter:
        run_sweeper(None)
    assert dict(meter.requests) == costs.SWEEP.requests
    assert meter.read_units == costs.SWEEP.read_units
    assert not meter.write_units
    assert len(metrics) == costs.SWEEP_METRICS


def test_page_contains_computed_table() -> None:
    page = costs.PAGE.read_text()
    assert costs.table() in page, "run make generate"
    assert costs.files() == {costs.PAGE: page}
    page = " ".join(page.split())
    units: Counter[str] = Counter()
    for operation in costs.PURCHASE.values():
        units.update(operation.write_units)
    ((busiest_table, most_units),) = units.most_common(1)
    assert f"`{busiest_table}`, takes {most_units} write units" in page


def test_cost_of_idle_stage_counts_alarms_of_template() -> None:
    assert costs.monthly_cost(0)["CloudWatch"] > 0.10 * costs.alarm_metrics() > 5


def test_cost_grows_with_purchases() -> None:
    totals = [sum(costs.monthly_cost(purchases).values()) for purchases in costs.PURCHASES]
    assert totals == sorted(totals)
