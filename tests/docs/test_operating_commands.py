"""Test that the commands and examples of the pages for operators succeed.

The commands run in the order of the pages. An example is the content of the file that a command
reads.
"""

import csv
import json
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from admin.commands import form as form_commands
from admin.commands import purchase as purchase_commands
from admin.services.accounts.manage import issue_key
from admin.services.customers.save import save_customer
from admin.services.feedback.report import send
from admin.services.recount import recount as recount_module
from admin.services.webhooks import send_example
from admin.services.work.parked import list_parked_work
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.ids import parse_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.sending_errors import OutcomeUnknown
from chalicelib.services.solicitation import send_survey
from chalicelib.storage.suppressions import suppress
from tests.admin.command import new_account, run
from tests.admin.commands.test_work import park_import
from tests.docs.blocks import block, blocks
from tests.services.erasure.erasing import erase
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.services.queues import (
    FEEDBACK_QUEUE,
    PURCHASE_QUEUE,
    SOLICITATION_QUEUE,
    WEBHOOK_QUEUE,
)
from tests.services.solicitation.provider import Provider
from tests.services.webhooks.delivering import (
    Receiver,
    add_workflow,
    executions_of,
    response_with,
)
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount, seed_account

PAGE = "docs/operating.md"
SENDING = "docs/sending.md"
PAGES = (PAGE, SENDING, "docs/runbook.md")
DAY_OF_PAGE = datetime(2026, 11, 21, 12, tzinfo=UTC)
RUN_BY_OTHER_TESTS = ("doctor", "stage stop", "stage restore", "stage start")
"""Commands that test_doctor.py and test_restore.py run."""


@pytest.fixture
def receiver(time: Time, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    """Set the clock to the day of the pages. Replace the systems that moto does not simulate."""
    time.ahead = DAY_OF_PAGE - clock.now()
    provider = Provider([OutcomeUnknown("ReadTimeout")])
    monkeypatch.setattr(send_survey, "send_invitation", provider.send)
    monkeypatch.setattr(send, "send_mail", lambda mail: mail.subject)
    monkeypatch.setattr(send_example, "post", receiver.post)
    monkeypatch.setattr(form_commands, "public_base_url", lambda: "https://feedback.example.com")
    monkeypatch.setattr(purchase_commands, "MAX_WRITERS", 1)
    monkeypatch.setattr(recount_module, "MAX_CONCURRENCY", 1)
    monkeypatch.setattr(recount_module, "INDEX_LAG_S", 0)
    receiver.responses = [response_with(410), response_with(410), response_with(200)]
    return receiver


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder that contains the YAML examples of the page."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "definitions.yaml").write_text(block(PAGE, "kind: brand").text)
    (tmp_path / "workflows.yaml").write_text(block(PAGE, "kind: workflow").text)
    return tmp_path


@pytest.fixture
def ids(account: str, receiver: Receiver, folder: Path) -> dict[str, str]:
    """Create an account with feedback. Return the values of the placeholders of the pages."""
    seeded: SeededAccount = seed_account()
    earlier = (folder / "definitions.yaml").read_text().replace("Après la visite", "Visite")
    (folder / "earlier.yaml").write_text(earlier)
    for file in ("earlier.yaml", "definitions.yaml"):
        run("definition", "load", "--yes", file, "--account", seeded.account_id)
    defined = {
        definition["kind"]: definition.get("id", "")
        for name in ("definitions.yaml", "workflows.yaml")
        for definition in yaml.safe_load_all((folder / name).read_text())
    }
    add_workflow(seeded.account_id)
    feedback = answer_contact_form(
        seeded,
        note="=The waiting time; =was long",
        mail="zoe@example.com",
        phone="+33 6 12 34 56 78",
        nps="2",
    )
    answer_survey(seeded, seeded.tracker(), nps="9")
    for queue in (FEEDBACK_QUEUE, WEBHOOK_QUEUE):
        queue.deliver(queue.queued_messages(seeded.account_id))
    erased = save_customer(seeded.account_id, customer_definition())
    ids = {
        "ACCOUNT": seeded.account_id,
        "API_KEY": issue_key(seeded.account_id, "operator")[0].api_key,
        "FORM": seeded.contact_form_id,
        "SURVEY": defined["survey"],
        "FIRST_SURVEY": defined["survey"],
        "CLOSED_ACCOUNT": new_account("Old account"),
        "STORE": defined["store"],
        "CUSTOMER": seeded.customer_id,
        "WORKFLOW": defined["workflow"],
        "DELIVERY": executions_of(seeded.account_id)[0].execution_id,
        "FEEDBACK": feedback.id,
        "PERSON": save_customer(seeded.account_id, customer_definition()).id,
        "ERASURE": erase(seeded.account_id, erased.id).id,
    }
    (folder / "first-day.csv").write_text(block(PAGE, "source;externalId").text)
    (folder / "purchases.csv").write_text(filled(block(SENDING, "source,externalId").text, ids))
    send_purchase(filled(block(SENDING, '"purchase"').text, ids), seeded.account_id)
    bounced = email_hash(seeded.account_id, "bounced@example.com") or ""
    suppress(seeded.account_id, bounced, Channel.EMAIL, SuppressionReason.BOUNCED, clock.now())
    return ids


def filled(text: str, ids: dict[str, str]) -> str:
    """Replace the placeholders in an example."""
    for placeholder in ("ACCOUNT", "STORE"):
        text = text.replace(placeholder, ids[placeholder])
    return text


def send_purchase(message: str, account_id: str) -> None:
    """Deliver a message to the queue of purchases. The outcome of its survey is unknown."""
    assert PURCHASE_QUEUE.deliver([message]) == []
    SOLICITATION_QUEUE.deliver(SOLICITATION_QUEUE.queued_messages(account_id))


def commands() -> list[list[str]]:
    """Return the commands of the pages, each as a list of words after ``bin/feedback-admin``."""
    found = [line for page in PAGES for b in blocks(page) for line in b.admin_commands]
    lines = [line.removeprefix("--stage prod ") for line in found]
    return [
        shlex.split(line, comments=True)
        for line in lines
        if not line.startswith(RUN_BY_OTHER_TESTS)
    ]


def execution_order(words: list[str]) -> int:
    """Return the rank of a command: definitions are first, feedback is deleted last."""
    ranks = {("definition", "new"): -1, ("definition", "load"): 0, ("feedback", "delete"): 2}
    return ranks.get(tuple(words[:2]), 1)


def result_of(words: list[str], ids: dict[str, str], *options: str) -> Any:
    """Run a command with additional options. Return its exit code and its output.

    If the command is redirected, write its output to the file.
    """
    if "IMPORT" in words:
        parked = park_import(ids["ACCOUNT"])
        (part,) = [work.part for work in list_parked_work() if work.owner_id == parked]
        ids = {**ids, "IMPORT": parked, "PART": str(part)}
    arguments = [ids.get(word, word) for word in words]
    output = None
    if ">" in arguments:
        arguments, (output,) = arguments[: arguments.index(">")], arguments[-1:]
    result = run(*arguments, *options)
    if output:
        Path(output).write_text(result.stdout)
    return result


def failure(words: list[str], ids: dict[str, str]) -> str:
    """Run a command. Return the command and its messages if it fails, or ``""``."""
    result = result_of(words, ids)
    return f"{shlex.join(words)}: {result.output}" if result.exit_code else ""


def test_commands_of_pages_succeed(ids: dict[str, str], folder: Path) -> None:
    failures = [failure(words, ids) for words in sorted(commands(), key=execution_order)]
    assert [text for text in failures if text] == []
    assert {path.suffix for path in folder.iterdir()} >= {".csv", ".xlsx", ".jsonl", ".html"}
    check_decoding(folder)
    check_json_names(ids)


def check_json_names(ids: dict[str, str]) -> None:
    """Check that all names that the commands print with ``--json`` are in camelCase."""
    wrong = set()
    for words in (words for words in commands() if not {"--output", "IMPORT"} & {*words}):
        names = names_in(json.loads(result_of(words, ids, "--json").stdout or "[]"))
        wrong |= {(*words, name) for name in names if not re.fullmatch("[a-z][a-zA-Z0-9]*", name)}
    assert wrong == set()


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of all fields in a JSON value, except ids and names that partners choose."""
    if isinstance(value, list):
        for item in value:
            yield from names_in(item)
    if isinstance(value, dict):
        yield from (name for name in value if parse_id(name) is None)
        for name, item in value.items():
            if name not in ("headers", "metadata"):
                yield from names_in(item)


def check_decoding(folder: Path) -> None:
    """Run the program of the page on the exported file."""
    names: dict[str, Any] = {}
    exec(block(PAGE, "def decode_cell").text, names)  # noqa: S102 - the program is part of this repository
    (row,) = names["rows"]
    assert dict(zip(names["header"], row, strict=True))["Note [note]"] == (
        "=The waiting time; =was long"
    )
    assert names["split_values"](r"a\; b; c\\") == ["a; b", "c\\"]
    with (folder / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        _, raw = csv.reader(file)
    assert "'=The waiting time;' =was long" in raw
    assert "+33 6 12 34 56 78" in raw
