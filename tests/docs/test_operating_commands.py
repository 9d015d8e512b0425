"""Test that the commands in docs/operating.md about definitions and feedback succeed."""

import csv
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from chalicelib.services.customers.save import save_customer
from tests.admin.command import run
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.queues import FEEDBACK_QUEUE
from tests.services.webhooks.delivering import add_workflow
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount, seed_account

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
SECTIONS = (
    "Checking, exporting and comparing definitions",
    "Reading feedback",
    "Erasing and exporting a person",
)
EXPECTED_COMMANDS = 37


def section(title: str) -> str:
    """Return the text of a section with its subsections."""
    _, _, rest = PAGE.partition(f"\n## {title}\n")
    assert rest, f"There is no section {title}."
    return rest.partition("\n## ")[0]


def commands(title: str) -> list[list[str]]:
    """Return the commands of a section, each as a list of words after ``python -m admin``."""
    lines = re.findall(r"^    python -m admin (.*)$", section(title), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.fixture(scope="module")
def ids(cloud: None) -> dict[str, str]:
    """Create an account with feedback. Return a dict from placeholders, such as FORM, to ids."""
    seeded: SeededAccount = seed_account()
    workflow = add_workflow(seeded.account_id)
    feedback = answer_contact_form(
        seeded,
        note="=The waiting time; =was long",
        mail="zoe@example.com",
        phone="+33 6 12 34 56 78",
        nps="2",
    )
    answer_survey(seeded, seeded.tracker(), nps="9")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    return {
        "ACCOUNT": seeded.account_id,
        "FORM": seeded.contact_form_id,
        "SURVEY": seeded.survey_id,
        "STORE": seeded.store_id,
        "CUSTOMER": seeded.customer_id,
        "WORKFLOW": workflow.id,
        "FEEDBACK": feedback.id,
        "PERSON": save_customer(seeded.account_id, customer_definition()).id,
    }


def execute(words: list[str], ids: dict[str, str]) -> None:
    """Run a command. If the command is redirected, write its output to the file."""
    arguments = [ids.get(word, word) for word in words]
    output = None
    if ">" in arguments:
        arguments, (output,) = arguments[: arguments.index(">")], arguments[-1:]
    result: Any = run(*arguments)
    assert result.exit_code == 0, (words, result.stderr)
    if output:
        Path(output).write_text(result.stdout)


def test_commands_of_page_succeed(
    ids: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [words for title in SECTIONS for words in commands(title)]
    assert len(shown) == EXPECTED_COMMANDS
    # Run the command that deletes feedback last, because exports and reports need the feedback.
    for words in sorted(shown, key=lambda words: words[:2] == ["feedback", "delete"]):
        execute(words, ids)
    assert {path.suffix for path in tmp_path.iterdir()} >= {".csv", ".xlsx", ".jsonl", ".html"}
    check_decoding(tmp_path)


def check_decoding(folder: Path) -> None:
    """Run the program of the page on the exported file."""
    (program,) = re.findall(r"```python\n(.*?)```", section("Reading feedback"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 - the program is part of this repository
    (row,) = names["rows"]
    assert dict(zip(names["header"], row, strict=True))["Note [note]"] == (
        "=The waiting time; =was long"
    )
    assert names["split_values"](r"a\; b; c\\") == ["a; b", "c\\"]
    with (folder / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        _, raw = csv.reader(file)
    assert "'=The waiting time;' =was long" in raw
    assert "+33 6 12 34 56 78" in raw
