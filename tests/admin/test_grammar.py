"""Test that all commands have the form ``noun verb``, an example and the option ``--json``."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from admin.main import app
from tests.admin.command import new_account, run

PROJECT = Path(__file__).parents[2]


def commands(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that the help lists."""
    for name, command in group.commands.items():
        if not command.hidden:
            is_group = hasattr(command, "commands")
            yield from commands(command, *path, name) if is_group else [(*path, name)]


COMMANDS = list(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_shows_example_and_json_option(command: tuple[str, ...]) -> None:
    shown = run(*command, "--help").stdout
    example = rf"bin/feedback-admin (--stage prod )?{' '.join(command)}"
    assert re.search(example, " ".join(shown.split()))
    assert "--json" in shown


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_usage_shows_arguments_in_capitals(command: tuple[str, ...]) -> None:
    usage, _, _ = run(*command, "--help").stdout.strip().partition("\n\n")
    _, _, arguments = usage.partition("[OPTIONS]")
    assert arguments == arguments.upper()


READING = set(
    "check diff doctor export explain find history link list qr recount report show stats "
    "status".split()
)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[-1] in READING], ids=" ".join)
def test_help_of_reading_command_states_cost(command: tuple[str, ...]) -> None:
    assert "Cost: " in run(*command, "--help").stdout


def test_commands_except_doctor_recount_status_have_noun_and_verb() -> None:
    without_noun = {("doctor",), ("recount",), ("status",)}
    with_part = {("customer", "tag", "add"), ("customer", "tag", "remove")}
    assert without_noun | with_part <= set(COMMANDS)
    assert {len(command) for command in set(COMMANDS) - without_noun - with_part} == {2}


def test_help_documents_exit_status() -> None:
    assert "Exit status:\n    0  success" in run("--help").stdout


def test_json_output_is_one_document_with_typed_values(cloud: None) -> None:
    account = new_account("\x9bZoé")
    listed = json.loads(run("account", "list", "--json").stdout)
    (entry,) = [entry for entry in listed if entry["id"] == account]
    assert entry["name"] == "\x9bZoé"
    assert entry["created"].endswith("Z")
    assert "\x9b" not in run("account", "list", "--json").stdout
    assert run("account", "list").stdout.startswith("Id ")


def test_irreversible_command_without_confirmation_exits_with_2(cloud: None) -> None:
    result = run("key", "revoke", "fk_0")
    assert (result.exit_code, "--yes" in result.stderr) == (2, True)


def test_bash_completes_verb() -> None:
    request = {
        "_FEEDBACK_ADMIN_COMPLETE": "complete_bash",
        "COMP_WORDS": "feedback-admin key re",
        "COMP_CWORD": "2",
    }
    program = PROJECT / "bin" / "feedback-admin"
    shown = subprocess.run([program], env=os.environ | request, capture_output=True, text=True)
    assert shown.stdout.split() == ["revoke"]


@pytest.mark.parametrize("request_of_shell", [{}, {"_FEEDBACK_ADMIN_COMPLETE": "complete_bash"}])
def test_program_imports_no_modules_from_current_folder(
    request_of_shell: dict[str, str], tmp_path: Path
) -> None:
    for module in ("typer", "boto3", "admin", "chalicelib", "sitecustomize"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('hostile module')")
    process = subprocess.run(
        [PROJECT / "bin" / "feedback-admin", "--help"],
        cwd=tmp_path,
        env=os.environ | request_of_shell | {"COMP_WORDS": "feedback-admin ", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert "account" in process.stdout
