"""Test both sides of limits: the longest accepted text, and a text that is one character longer."""

from collections.abc import Callable

import pytest

from chalicelib.domain.accounts.tags import TagDefinition
from chalicelib.domain.comparison import as_number
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.mail_content import shortened
from chalicelib.domain.webhooks.headers import MAX_VALUE_LENGTH, InvalidHeader, validate_headers
from chalicelib.domain.workflows.definition import ActionDefinition
from tests.domain.feedback.factories import answer, build_feedback

ACTION = {"key": "crm", "url": "https://hooks.example.com/"}


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
        (is_valid_header_value, "x" * MAX_VALUE_LENGTH),
        (lambda text: shortened(text, 200) == text, "x" * 200),
        (is_phone_number_of_respondent, "1" * 255),
    ],
    ids=["tag", "number", "url", "key", "description", "header", "line", "phone number"],
)
def test_text_is_accepted_up_to_limit(is_accepted: Callable[[str], bool], longest: str) -> None:
    assert is_accepted(longest)
    assert not is_accepted(f"{longest}{longest[-1]}")
