"""Test that a test executes each code block of the documentation, and that all links work.

A block that no test executes has a comment with the reason above it:
``<!-- Not executed by tests: needs an AWS account. -->``.
"""

import re
import subprocess
from pathlib import Path

import pytest
import typer.main

from admin.main import app
from tests.docs.blocks import ROOT, Block, blocks

EXECUTED_BY: dict[str, dict[str, tuple[str, ...]]] = {
    "tests/docs/test_operating_commands.py": {
        "docs/operating.md": (
            "kind: brand",
            "kind: workflow",
            "source;externalId",
            "def decode_cell",
        ),
        "docs/sending.md": ('"purchase"', "source,externalId"),
        "docs/runbook.md": (),
    },
    "tests/docs/test_definitions_page.py": {
        "docs/definitions.md": ("definition new survey", "key: lumen"),
    },
    "tests/docs/test_defaults_page.py": {
        "docs/defaults.md": ("key: visit",),
    },
    "tests/docs/test_restore.py": {
        "docs/runbook.md": ("restore-table-to-point-in-time",),
    },
    "tests/docs/test_webhooks_page.py": {
        "docs/webhooks.md": (
            "workflow.action.webhook",
            "from standardwebhooks",
            "from stripe",
            "openssl",
        ),
    },
    "tests/web/partner/test_statistics.py": {
        "docs/integrating.md": ('"interval": "WEEK"',),
    },
    "tests/docs/test_feedback_mirror.py": {
        "docs/integrating.md": (
            "call() {",
            "FEEDBACK=$(",
            "SEND_AT=$(",
            "call purchase/preview",
            "consents.sqlite",
            "RECEIPT=$(",
            "feedback_mirror.py feedback.sqlite",
        ),
    },
    "tests/e2e/test_docs.py": {
        "docs/integrating.md": (
            "/partners/customer/list",
            "Idempotency-Key: $KEY",
            "batch.json",
            "page?id=FORM",
            "embed.js",
            "new FormData",
            "<form",
            "requestId",
        ),
        "docs/operating.md": ("make env", "--show-completion"),
        "docs/runbook.md": ("make logs",),
        "README.md": (
            "/partners/customer/list",
            "customers-batch.json",
            "/public/survey/submit",
            "tail -n 1",
            "mailbox",
            "make env",
        ),
    },
    "tests/e2e/test_deployment.py": {
        "docs/first-deployment.md": (
            "sed",
            "aws iam",
            "STAGE=dev ALARM_EMAIL",
            "stage dev doctor",
        ),
    },
}
"""Executed blocks by test file and page. The test file contains the same part of each block."""

PAGES = (
    "README.md",
    "docs/defaults.md",
    "docs/definitions.md",
    "docs/first-deployment.md",
    "docs/integrating.md",
    "docs/operating.md",
    "docs/runbook.md",
    "docs/sending.md",
    "docs/webhooks.md",
)
NOUNS = typer.main.get_command(app).commands.keys()  # type: ignore[attr-defined]
ALL_PAGES = ("README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")))


def executions(found: Block) -> list[str]:
    """Return the test files that execute a block."""
    files = [
        file
        for file, pages in EXECUTED_BY.items()
        if any(part in found.text for part in pages.get(found.page, ()))
    ]
    has_only_commands = len(found.admin_commands) == len(found.text.splitlines())
    commands_file = "tests/docs/test_operating_commands.py"
    if found.page in EXECUTED_BY[commands_file] and has_only_commands:
        files.append(commands_file)
    return files


@pytest.mark.parametrize("page", PAGES)
def test_exactly_one_test_executes_each_block_unless_page_gives_reason(page: str) -> None:
    wrong = [b for b in blocks(page) if len(executions(b)) != 1 and not b.not_executed]
    assert wrong == []


@pytest.mark.parametrize("page", ALL_PAGES)
def test_commands_of_operators_are_written_as_they_run(page: str) -> None:
    assert "python -m admin" not in (ROOT / page).read_text()
    unknown = [
        command
        for found in blocks(page)
        for command in found.admin_commands
        if re.sub(r"^--stage \w+ ", "", command).split()[0] not in NOUNS
    ]
    assert unknown == []


@pytest.mark.parametrize("file", EXECUTED_BY)
def test_test_file_selects_blocks_that_it_executes(file: str) -> None:
    source = (ROOT / file).read_text()
    for page, parts in EXECUTED_BY[file].items():
        assert page in source
        assert [part for part in parts if part not in source] == []


def without_code(path: Path) -> str:
    return re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub derives from the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", without_code(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_of_page_have_targets(page: str) -> None:
    source = ROOT / page
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(source)):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = (source.parent / path) if path else source
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("source", ["infrastructure/data.yaml", "infrastructure/doctor/examine.py"])
def test_pages_and_sections_named_in_alarms_and_doctor_exist(source: str) -> None:
    found = re.findall(r"(docs/[\w/-]+\.md)(?:#([\w-]+))?", (ROOT / source).read_text())
    assert found
    for path, anchor in found:
        assert not anchor or anchor in anchors(ROOT / path), (path, anchor)


def test_commands_of_recipes_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    recipes = [b.text for b in blocks("docs/contributing.md") if b.language == "sh"]
    assert recipes
    for line in "".join(recipes).splitlines():
        command, *arguments = line.split()
        if command == "make":
            assert arguments[0] in targets, line
        else:
            assert command == ".venv/bin/pytest"
            assert [path for path in arguments if not (ROOT / path).exists()] == []


def test_constants_of_recipe_exist_in_file_of_step() -> None:
    recipes = (ROOT / "docs/contributing.md").read_text()
    steps = re.findall(r"^\d+\. `([\w/]+\.\w+)`(.*?)(?=^\S|\Z)", recipes, re.MULTILINE | re.DOTALL)
    named = [(file, name) for file, step in steps for name in re.findall(r"`(_?[A-Z_]+)`", step)]
    assert named
    for file, name in named:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text()), (file, name)


def test_command_in_list_of_targets_runs_as_written() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 'eval "$(make env)"' in listed.stdout
