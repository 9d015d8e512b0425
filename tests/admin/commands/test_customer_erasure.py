"""Tests of ``customer export`` and ``customer erase``."""

import json
from pathlib import Path

import pytest

from chalicelib.domain.ids import new_id
from tests.admin.command import run
from tests.services.feedback.submitting import answer_survey
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount, seed_account

pytestmark = pytest.mark.usefixtures("time")


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    return seed_account()


def submit(seeded: SeededAccount) -> None:
    answer_survey(seeded, seeded.tracker(), nps="9", note="Slow service")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))


def test_export_writes_all_data_of_person_to_private_file(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    submit(seeded)
    output = tmp_path / "zoe.json"
    arguments = ("customer", "export", seeded.account_id, seeded.customer_id)
    assert run(*arguments, "--output", output).exit_code == 0
    assert output.stat().st_mode & 0o777 == 0o600
    document = json.loads(output.read_text())
    assert document == json.loads(run(*arguments).stdout)
    assert document["customer"]["firstName"] == "Zoé"
    (feedback,) = document["feedback"]
    assert "Slow service" in json.dumps(feedback["answers"])
    assert len(document["purchases"]) == len(document["trackers"]) == 1
    assert document["importRows"] == []


def test_export_of_unknown_customer_fails(seeded: SeededAccount) -> None:
    assert run("customer", "export", seeded.account_id, new_id()).exit_code == 1


def test_erase_prints_receipt_and_can_be_repeated(seeded: SeededAccount) -> None:
    submit(seeded)
    arguments = ("customer", "erase", seeded.account_id, seeded.customer_id, "--yes")
    receipts = [json.loads(run(*arguments, "--json").stdout) for _ in range(2)]
    assert receipts[0] == receipts[1]
    assert receipts[0]["erased"] == {
        "customers": 1,
        "purchases": 1,
        "feedback": 1,
        "solicitations": 1,
        "trackers": 1,
        "messages": 0,
        "importRows": 0,
    }
    text = run(*arguments).stdout
    assert "Erased feedback: 1" in text
    assert "Erased import rows: 0" in text
    assert "backups" in text


def test_erase_needs_confirmation(seeded: SeededAccount) -> None:
    result = run("customer", "erase", seeded.account_id, seeded.customer_id)
    assert (result.exit_code, "--yes" in result.stderr) == (2, True)
    assert seeded.customer.first_name == "Zoé"


def test_erase_shows_person_before_confirmation(
    seeded: SeededAccount, questions: list[str]
) -> None:
    unknown = new_id()
    for customer_id in (seeded.customer_id, unknown):
        assert run("customer", "erase", seeded.account_id, customer_id).exit_code == 1
    assert questions == [
        f"Erase all data of the customer {seeded.customer_id} ({seeded.customer.display_name})?",
        f"Erase all data of the customer {unknown}?",
    ]
    assert seeded.customer.first_name == "Zoé"


@pytest.mark.parametrize(
    "arguments", [(), ("--replay", "account"), ("--replay", "account", "customer")]
)
def test_erase_needs_either_customer_or_replay(
    seeded: SeededAccount, arguments: tuple[str, ...]
) -> None:
    ids = {"account": seeded.account_id, "customer": seeded.customer_id}
    result = run("customer", "erase", "--yes", *(ids.get(name, name) for name in arguments))
    assert result.exit_code == 2


def test_replay_names_stage_before_confirmation(
    seeded: SeededAccount, questions: list[str]
) -> None:
    assert run("customer", "erase", "--replay").exit_code == 1
    assert questions == ["Repeat all recorded erasures of the stage test?"]


def test_replay_without_restored_records_repeats_nothing(seeded: SeededAccount) -> None:
    run("customer", "erase", seeded.account_id, seeded.customer_id, "--yes")
    result = run("customer", "erase", "--replay", "--yes", "--json")
    assert json.loads(result.stdout) == {"repeated": []}
