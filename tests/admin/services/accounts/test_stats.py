"""Tests of the numbers of an account's records."""

import json

import pytest

from admin.services.accounts.manage import read_stats
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import NotFound
from chalicelib.services.feedback.process import process_feedback
from tests.admin.command import run
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.purchases import record_purchase
from tests.web.definitions import purchase_definition
from tests.web.seeded_account import SeededAccount


def test_stats_count_each_record_once_in_two_requests(seeded: SeededAccount) -> None:
    for _ in range(2):
        record_purchase(seeded.account_id, purchase_definition(seeded.store_id))
    repeated = purchase_definition(seeded.store_id)
    for _ in range(2):
        record_purchase(seeded.account_id, repeated)
    ids = [answer_survey(seeded, nps="9").id, answer_contact_form(seeded, nps="2").id]
    assert read_stats(seeded.account_id)["feedback"] == 0
    for _ in range(2):
        process_feedback(ids)
    with counted_calls() as calls:
        stats = read_stats(seeded.account_id)
    assert stats == {
        "customers": 1,
        "contact_forms": 1,
        "surveys": 2,
        "purchases": 3,
        "feedback": 2,
        "surveys_sent": 0,
        "surveys_skipped": 3,
        "surveys_rejected": 0,
        "surveys_unknown": 0,
    }
    assert calls.total() == 2


def test_stats_of_unknown_account_raise_not_found(account: str) -> None:
    with pytest.raises(NotFound):
        read_stats(account)


@pytest.mark.parametrize("is_json", [True, False])
def test_account_stats_command_prints_numbers(seeded: SeededAccount, is_json: bool) -> None:
    result = run("account", "stats", seeded.account_id, *(["--json"] if is_json else []))
    assert result.exit_code == 0
    if is_json:
        assert json.loads(result.stdout)["contactForms"] == 1
    else:
        assert ["contact", "forms", "1"] in [line.split() for line in result.stdout.splitlines()]
