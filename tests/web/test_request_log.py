"""Tests of the log line that the app writes for each request."""

import json
import logging
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest

from admin.services.customers.save import save_customer
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import new_id
from chalicelib.log import logger
from tests.services.queues import FEEDBACK_QUEUE
from tests.services.webhooks.delivering import add_workflow, executions_of
from tests.web.definitions import customer_definition
from tests.web.partner_client import Partner
from tests.web.public.respondent import PublicClient
from tests.web.seeded_account import seed_account


def lines_of(log: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_request_writes_one_log_line(partner: Partner, log: StringIO) -> None:
    customer = save_customer(partner.account_id, customer_definition())
    partner.get("/partners/customer")
    log.truncate(0)
    log.seek(0)
    partner.get(f"/partners/customer?id={customer.id}")
    (line,) = lines_of(log)
    assert line["level"] == "INFO"
    assert line["account_id"] == partner.account_id
    assert line["route"] == "GET /partners/customer"
    assert (line["status"], line["awsCalls"]) == (200, 1)
    assert line["duration"] > 0
    assert line["request_id"]


@pytest.mark.parametrize("path", ["/partners/customer", "/partners/survey/list", "/openapi.json"])
def test_response_has_request_id_of_log_and_body(
    partner: Partner, log: StringIO, path: str
) -> None:
    response = partner.get(path)
    (line,) = lines_of(log)
    assert response.headers["x-request-id"] == line["request_id"]
    if response.status >= 400:
        assert response.json["requestId"] == line["request_id"]


def test_duration_is_only_metric_of_log_line(partner: Partner, log: StringIO) -> None:
    partner.get("/partners/customer")
    (line,) = lines_of(log)
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "feedback-test"
    assert [metric["Name"] for metric in described["Metrics"]] == ["duration"]
    assert [sorted(names) for names in described["Dimensions"]] == [["route", "service"]]
    assert {"duration", "route", "service"} <= line.keys()


def test_message_that_looks_like_json_is_logged_as_string(log: StringIO) -> None:
    logger.info('{"looks": "like JSON"}')
    (line,) = lines_of(log)
    assert line["message"] == '{"looks": "like JSON"}'


def test_log_line_contains_no_secrets_and_no_customer_data(partner: Partner, log: StringIO) -> None:
    partner.get("/partners/customer?id=zoe@example.test")
    partner.post("/partners/customer/list", {"limit": "zoe@example.test"})
    output = log.getvalue()
    assert len(output.splitlines()) == 2
    for secret in (*partner.headers.values(), "zoe@example.test"):
        assert secret not in output


def test_rejected_credentials_are_logged_with_address_and_key_without_secret(
    partner: Partner, log: StringIO
) -> None:
    key, secret = partner.headers["X-API-KEY"], partner.headers["X-API-SECRET"]
    for sent in ({"X-API-KEY": key, "X-API-SECRET": f"{secret}x"}, {"X-API-KEY": secret}):
        Partner(partner.client, "", sent).get("/partners/customer")
    wrong_secret, swapped = lines_of(log)
    assert wrong_secret["status"] == 401
    assert (wrong_secret["source"], wrong_secret["api_key"]) == ("127.0.0.1", key)
    assert (swapped["source"], swapped["api_key"]) == ("127.0.0.1", "")
    assert secret not in log.getvalue()


def test_submission_is_logged_with_source_and_form(partner: Partner, log: StringIO) -> None:
    form = new_id()
    PublicClient("203.0.113.9").submit_fields("/public/contact-form/submit", form, [])
    partner.get("/partners/customer")
    submission, other = lines_of(log)
    assert (submission["source"], submission["form_id"]) == ("203.0.113.9", form)
    assert not {"source", "form_id", "feedback_id", "api_key"} & other.keys()


def test_log_lines_of_submission_and_of_its_processing_contain_ids(
    cloud: None, log: StringIO
) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    log.truncate(0)
    log.seek(0)
    client, form = PublicClient("203.0.113.9"), seeded.contact_form_id
    client.submit_fields("/public/contact-form/submit", form, seeded.answers())
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    request, processed = lines_of(log)
    (execution,) = executions_of(seeded.account_id)
    assert (request["message"], processed["message"]) == ("request", "feedback batch processed")
    assert processed["feedback_ids"] == [request["feedback_id"]]
    assert processed["execution_ids"] == [execution.execution_id]


def test_account_id_is_not_added_to_next_log_line(partner: Partner, log: StringIO) -> None:
    partner.get("/partners/customer")
    Partner(partner.client, "").get("/partners/customer")
    first, second = lines_of(log)
    assert "account_id" in first
    assert "account_id" not in second


def test_log_lines_contain_request_id_of_problem_response(
    partner: Partner, log: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn(*_: object) -> None:
        logger.warning("queue unavailable")
        raise NotFound("customer")

    monkeypatch.setattr("chalicelib.services.customers.read.read_customer", warn)
    response = partner.get(f"/partners/customer?id={new_id()}")
    logger.info("line of the next invocation")
    *lines, later = lines_of(log)
    assert [line["message"] for line in lines] == ["queue unavailable", "request"]
    assert {line["request_id"] for line in lines} == {response.json["requestId"]}
    assert "request_id" not in later


def test_app_keeps_log_level_if_standard_output_is_replaced() -> None:
    code = (
        "import io, sys; from chalicelib.log import logger; sys.stdout = io.StringIO(); "
        "import app; sys.exit(logger.getEffectiveLevel())"
    )
    imported = subprocess.run([sys.executable, "-c", code], check=False)
    assert imported.returncode == logging.INFO
