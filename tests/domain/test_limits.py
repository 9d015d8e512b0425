"""Test both sides of limits, and the documented values of limits that other tests import."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from admin.domain import tags
from admin.domain.forms import build
from admin.domain.tags import TagDefinition
from admin.domain.workflows import definition
from admin.domain.workflows.definition import ActionDefinition, ConditionDefinition
from chalicelib.domain import idempotency, input_errors, paging, parsing, schema
from chalicelib.domain.accounts import settings
from chalicelib.domain.comparison import as_number
from chalicelib.domain.customers import body, import_batch
from chalicelib.domain.customers.custom_attribute import CustomAttributeDefinition
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback import answers, submission
from chalicelib.domain.forms import survey
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.mail_content import shortened
from chalicelib.domain.webhooks import retry_schedule
from chalicelib.domain.webhooks.headers import MAX_VALUE_LENGTH, InvalidHeader, validate_headers
from chalicelib.domain.workflows import workflow
from infrastructure.local_cloud.strict import signature
from tests.domain.feedback.factories import answer, build_feedback
from tests.domain.forms.factories import contact_form_errors, field

ACTION = {"key": "crm", "url": "https://hooks.example.com/"}
ATTRIBUTE = {"attribute": "Dish", "type": "TEXT"}


def succeeds(function: Callable[[], object]) -> bool:
    try:
        function()
    except (InvalidInput, InvalidHeader):
        return False
    return True


def is_valid_tag(name: str) -> bool:
    return succeeds(lambda: parse({"tag": name}, TagDefinition))


def is_valid_action(**fields: str) -> bool:
    return succeeds(lambda: parse(ACTION | fields, ActionDefinition))


def is_valid_condition_field(field: str) -> bool:
    condition = {"subject": "answer", "field": field, "operator": "$exists"}
    return succeeds(lambda: parse(condition, ConditionDefinition))


def is_valid_attribute(**fields: str) -> bool:
    return succeeds(lambda: parse(ATTRIBUTE | fields, CustomAttributeDefinition))


def is_valid_header_value(value: str) -> bool:
    return succeeds(lambda: validate_headers({"X-Key": value}))


def is_phone_number_of_respondent(text: str) -> bool:
    return build_feedback(answer("phone", text, kind="PHONE")).phone_number == text


@pytest.mark.parametrize(
    ("is_accepted", "longest"),
    [
        (is_valid_tag, "x" * 255),
        (lambda text: as_number(text) is not None, "1" * 100),
        (is_https_url, "https://a.example/".ljust(2048, "x")),
        (lambda text: is_valid_action(key=text), "x" * 100),
        (lambda text: is_valid_action(description=text), "x" * 2000),
        (is_valid_condition_field, "x" * 100),
        (lambda text: contact_form_errors(name=text) == [], "x" * 255),
        (lambda text: contact_form_errors(description=text) == [], "x" * 2000),
        (lambda text: contact_form_errors(fields=[field(text)]) == [], "x" * 100),
        (lambda text: is_valid_attribute(attribute=text), "x" * 255),
        (lambda text: is_valid_attribute(fromPossibleValue=text), "x" * 255),
        (lambda text: is_valid_attribute(text=text), "x" * 2000),
        (lambda text: is_valid_attribute(rating=text), "x" * 32),
        (lambda text: is_valid_attribute(value=text), "x" * 2000),
        (is_valid_header_value, "x" * MAX_VALUE_LENGTH),
        (lambda text: shortened(text, 200) == text, "x" * 200),
        (is_phone_number_of_respondent, "1" * 255),
    ],
    ids=[
        "tag",
        "number",
        "url",
        "key",
        "description",
        "condition field",
        "form name",
        "form description",
        "field key",
        "attribute",
        "attribute option",
        "attribute text",
        "attribute rating",
        "attribute value",
        "header",
        "line",
        "phone number",
    ],
)
def test_text_is_accepted_up_to_limit(is_accepted: Callable[[str], bool], longest: str) -> None:
    assert is_accepted(longest)
    assert not is_accepted(f"{longest}{longest[-1]}")


@pytest.mark.parametrize(
    ("limit", "documented"),
    [
        (input_errors.MAX_ERRORS, 1_000),
        (paging.DEFAULT_LIMIT, 10),
        (paging.MAX_LIMIT, 100),
        (paging.MAX_PAGE, 2**53 - 1),
        (paging.MAX_LISTED_BYTES, 61_000),
        (idempotency.MAX_KEY, 255),
        (settings.MAX_RETENTION_DAYS, 3_650),
        (settings.MAX_SEGMENT_PRICE, 1_000),
        (tags.MAX_TAGS, 1_000),
        (schema.MAX_TEXT, 255),
        (body.MAX_DESCRIPTION, 2_000),
        (body.MAX_METADATA_KEYS, 50),
        (body.MAX_METADATA_VALUE, 500),
        (parsing.MAX_CUSTOMER_BYTES, 32_768),
        (parsing.MAX_PURCHASE_BYTES, 32_768),
        (parsing.MAX_ROWS, 10_000),
        (import_batch.MAX_LISTED_ERRORS, 1_000),
        (build.MAX_FORM_BYTES, 51_200),
        (survey.MAX_RESOLICITATION_DELAY_S, 31_622_400),
        (submission.MAX_SUBMISSION_BYTES, 262_144),
        (submission.MAX_ANSWERS, 1_000),
        (submission.MAX_TOTAL_VALUES, 10_000),
        (answers.MAX_VALUES, 1_000),
        (answers.MAX_VALUE, 10_000),
        (workflow.MAX_ATTEMPTS, 8),
        (definition.MAX_BODY_BYTES, 200_000),
        (retry_schedule.BASE_DELAY, timedelta(minutes=1)),
        (retry_schedule.MAX_DELAY, timedelta(hours=6)),
        (signature.REPLAY_WINDOW_S, 300),
    ],
)
def test_limit_of_contract_has_documented_value(limit: object, documented: object) -> None:
    assert limit == documented
