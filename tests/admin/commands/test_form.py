"""Tests of ``form|survey|workflow check|export|diff|enable|disable`` and ``form list``."""

import json
from pathlib import Path
from typing import Any

import pytest

from admin.services.definitions.kinds import BRAND, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.storage import workflows
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.forms import ContactFormRow, contact_forms, surveys
from tests.admin.command import new_account, run
from tests.aws.faults import before_request
from tests.domain.forms import factories
from tests.services.webhooks.delivering import add_workflow
from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(cloud: None) -> SeededAccount:
    return seed_account()


def exported(tmp_path: Path, *command: str) -> Path:
    """Export a definition to a file."""
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    file = tmp_path / "exported.yaml"
    file.write_text(result.stdout)
    return file


def export_commands(seeded: SeededAccount) -> dict[str, tuple[str, ...]]:
    known = workflows.list_for_account(seeded.account_id)
    workflow = known[0] if known else add_workflow(seeded.account_id)
    return {
        "form": ("form", "export", seeded.contact_form_id),
        "survey": ("survey", "export", seeded.survey_id),
        "workflow": ("workflow", "export", seeded.account_id, workflow.id),
    }


@pytest.mark.parametrize("noun", ["form", "survey", "workflow"])
def test_exported_definition_equals_saved_definition_and_loads(
    seeded: SeededAccount, tmp_path: Path, noun: str
) -> None:
    file = exported(tmp_path, *export_commands(seeded)[noun])
    assert run(noun, "check", file).stderr.startswith("Valid: 1 ")
    diff = run(noun, "diff", file)
    assert (diff.exit_code, diff.stdout, diff.stderr) == (0, "", "No differences.\n")
    assert run("definition", "load", "--yes", file).exit_code == 0
    assert exported(tmp_path, *export_commands(seeded)[noun]).read_text() == file.read_text()


@pytest.mark.parametrize("noun", ["form", "survey", "workflow"])
def test_diff_shows_changed_lines(seeded: SeededAccount, tmp_path: Path, noun: str) -> None:
    file = exported(tmp_path, *export_commands(seeded)[noun])
    content = json.loads(run(*export_commands(seeded)[noun], "--json").stdout)
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(content | {"name": "Another name"}))
    diff = run(noun, "diff", file)
    assert diff.exit_code == 1
    assert "+name: Another name" in diff.stdout.splitlines()
    assert f"-name: {content['name']}" in diff.stdout.splitlines()
    assert "+name: Another name" in json.loads(run(noun, "diff", file, "--json").stdout)["diff"]


def test_diff_reports_form_of_other_account(seeded: SeededAccount, tmp_path: Path) -> None:
    form = json.loads(run("form", "export", seeded.contact_form_id, "--json").stdout)
    account = new_account()
    brand = save(BRAND, account, {"id": new_id(), "name": "Brand"})
    file = tmp_path / "form.json"
    file.write_text(json.dumps(form | {"account": account, "brandId": brand.id}))
    result = run("form", "diff", file)
    assert result.stderr == "Error: This id is already used by another account's form.\n"
    assert (result.exit_code, result.stdout) == (1, "")
    loaded = run("definition", "load", "--yes", file)
    assert "This id is already used by another account's form." in loaded.stderr


def test_diff_of_new_form_shows_all_lines(seeded: SeededAccount, tmp_path: Path) -> None:
    definition = factories.contact_form(id=new_id(), brandId=seeded.brand_id)
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"kind": "contactForm", **definition}))
    diff = run("form", "diff", file, "--account", seeded.account_id)
    assert diff.exit_code == 1
    assert all(line[0] in "+-@" for line in diff.stdout.splitlines())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "contactForm", "id": "7"}, "/id: Must be a UUID"),
        ({"kind": "brand", "id": new_id(), "name": "A"}, "Contains no definition of the kind"),
    ],
)
def test_check_reports_errors_and_saves_nothing(
    seeded: SeededAccount, tmp_path: Path, content: dict[str, Any], message: str
) -> None:
    file = tmp_path / "invalid.json"
    file.write_text(json.dumps(content))
    for verb in ("check", "diff"):
        result = run("form", verb, file, "--account", seeded.account_id)
        assert (result.exit_code, message in result.stderr) == (1, True)
    shown = run("form", "check", file, "--account", seeded.account_id, "--json").stdout
    assert json.loads(shown)["errors"]


def test_check_of_valid_form_saves_nothing(seeded: SeededAccount, tmp_path: Path) -> None:
    form_id = new_id()
    definition = factories.contact_form(id=form_id, brandId=seeded.brand_id)
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"kind": "contactForm", **definition}))
    assert run("form", "check", file, "--account", seeded.account_id).exit_code == 0
    assert run("form", "export", form_id).exit_code == 1


@pytest.mark.parametrize("noun", ["form", "survey"])
def test_form_is_disabled_and_enabled(seeded: SeededAccount, noun: str) -> None:
    form_id = seeded.contact_form_id if noun == "form" else seeded.survey_id
    for verb, enabled in (("disable", False), ("disable", False), ("enable", True)):
        result = json.loads(run(noun, verb, form_id, "--json").stdout)
        assert result == {"id": form_id, "enabled": enabled}
        (listed,) = [
            form
            for form in json.loads(run(noun, "list", seeded.account_id, "--json").stdout)
            if form["id"] == form_id
        ]
        assert listed["enabled"] is enabled


@pytest.mark.parametrize("noun", ["form", "survey"])
def test_disable_sends_number_of_aws_requests_in_help(seeded: SeededAccount, noun: str) -> None:
    form_id = seeded.contact_form_id if noun == "form" else seeded.survey_id
    with counted_calls() as calls:
        assert run(noun, "disable", form_id).exit_code == 0
    assert calls.total() == 2
    assert "Cost: two AWS requests." in run(noun, "disable", "--help").stdout


@pytest.mark.parametrize(
    ("verb", "requests", "cost"),
    [("check", 3, "three AWS requests."), ("diff", 3, "three AWS requests.")],
)
def test_workflow_file_command_sends_number_of_aws_requests_in_help(
    seeded: SeededAccount, tmp_path: Path, verb: str, requests: int, cost: str
) -> None:
    file = exported(tmp_path, *export_commands(seeded)["workflow"])
    clear_caches()
    with counted_calls() as calls:
        assert run("workflow", verb, file).exit_code == 0
    assert calls.total() == requests
    assert cost in run("workflow", verb, "--help").stdout


@pytest.mark.parametrize("noun", ["form", "survey", "workflow"])
def test_definition_loaded_while_it_is_disabled_is_kept(
    seeded: SeededAccount, tmp_path: Path, noun: str
) -> None:
    _, _, *arguments = export_commands(seeded)[noun]
    export = (noun, "export", *arguments, "--json")
    definition = json.loads(run(*export).stdout)
    file = tmp_path / "definition.json"
    file.write_text(json.dumps(definition | {"name": "New name"}))
    with before_request("UpdateItem", lambda: run("definition", "load", "--yes", file)):
        assert run(noun, "disable", *arguments).exit_code == 0
    stored = json.loads(run(*export).stdout)
    assert (stored["name"], stored.get("enabled")) == ("New name", False)


@pytest.mark.parametrize("noun", ["form", "survey", "workflow"])
def test_definition_deleted_while_it_is_disabled_is_not_created_again(
    seeded: SeededAccount, noun: str
) -> None:
    _, _, *arguments = export_commands(seeded)[noun]
    tables = {"form": contact_forms, "survey": surveys}
    row: Table = workflows.WorkflowRow(*arguments)
    if noun in tables:
        row = tables[noun].row(*arguments, "document")
    with before_request("UpdateItem", row.delete):
        disabled = run(noun, "disable", *arguments)
    assert (disabled.exit_code, "There is no" in disabled.stderr) == (1, True)


def test_form_and_workflow_without_version_are_disabled_and_enabled(seeded: SeededAccount) -> None:
    _, _, *arguments = export_commands(seeded)["workflow"]
    ContactFormRow(seeded.contact_form_id, "document").update([ContactFormRow.revision.remove()])
    workflows.WorkflowRow(*arguments).update([workflows.WorkflowRow.revision.remove()])
    for command in (("form", seeded.contact_form_id), ("workflow", *arguments)):
        for verb, enabled in (("disable", False), ("enable", True)):
            result = run(command[0], verb, *command[1:], "--json")
            assert json.loads(result.stdout)["enabled"] is enabled
            stored = json.loads(run(command[0], "export", *command[1:], "--json").stdout)
            assert stored.get("enabled", True) is enabled


def test_unknown_form_is_reported_in_one_line(seeded: SeededAccount) -> None:
    for noun, word in (("form", "contact form"), ("survey", "survey")):
        for verb in ("export", "enable", "disable"):
            result = run(noun, verb, new_id())
            assert result.stderr == f"Error: There is no {word} with this id.\n"
    assert run("form", "list", new_id()).exit_code == 1
    assert run("form", "list", new_account()).exit_code == 0


def test_archived_survey_is_disabled_and_hidden_until_enabled(seeded: SeededAccount) -> None:
    survey, account = seeded.survey_id, seeded.account_id

    def listed(*options: str) -> dict[str, bool]:
        rows = json.loads(run("survey", "list", account, "--json", *options).stdout)
        return {row["id"]: row["enabled"] for row in rows}

    run("survey", "export", survey, "--json")
    assert run("survey", "archive", survey).exit_code == 0
    assert survey not in listed()
    assert listed("--archived") == {survey: False}
    assert "enabled: false" in run("survey", "export", survey).stdout
    assert run("survey", "disable", survey).exit_code == 0
    assert survey in listed("--archived")
    assert run("survey", "enable", survey).exit_code == 0
    assert (listed()[survey], listed("--archived")) == (True, {})


def test_show_describes_survey_in_words(seeded: SeededAccount) -> None:
    shown = " ".join(run("survey", "show", seeded.survey_id).stdout.split())
    survey = json.loads(run("survey", "export", seeded.survey_id, "--json").stdout)
    assert f"Name {survey['name']}" in shown
    assert "State enabled, 0 submission(s)" in shown
    assert "Sending sent by" in shown
    for field in survey["fields"]:
        assert " ".join((field.get("label") or field["key"]).split()) in shown
    assert "Saved taps ratings and choices" in shown
    assert "Labels" not in shown
    labels = {"table": {"maxDigits": 3}, "season": {"values": ["spring", "autumn"]}}
    seeded.survey(labels=labels, saveTaps=False)
    shown = " ".join(run("survey", "show", seeded.survey_id).stdout.split())
    assert "Labels table: numbers up to 999, season: spring, autumn" in shown
    assert "Saved taps none" in shown


def test_show_describes_conditions_of_fields(seeded: SeededAccount, tmp_path: Path) -> None:
    content = json.loads(run("form", "export", seeded.contact_form_id, "--json").stdout)
    fields = [
        {"key": "nps", "type": "NPS", "label": "Would you recommend us?"},
        {"key": "why", "type": "TEXT", "label": "Why?"},
    ]
    condition = {"field": "why", "dependsOnField": "nps"}
    condition["dependsOnFieldValues"] = [{"operator": "$lte", "value": "6"}]
    file = tmp_path / "form.json"
    changes = {"fields": fields, "fieldGroups": [], "fieldDependencies": [condition]}
    file.write_text(json.dumps(content | changes))
    loaded = run("definition", "load", "--yes", file)
    assert loaded.exit_code == 0, loaded.output
    shown = " ".join(run("form", "show", seeded.contact_form_id).stdout.split())
    assert "Would you recommend us? NPS no" in shown
    assert "Why? TEXT no Would you recommend us? is at most 6" in shown


@pytest.mark.parametrize("noun", ["form", "survey"])
def test_form_is_named_by_its_name_in_account(
    seeded: SeededAccount, tmp_path: Path, noun: str
) -> None:
    form_id = seeded.survey_id if noun == "survey" else seeded.contact_form_id
    name = "The only one"
    file = tmp_path / "form.json"
    content = json.loads(run(noun, "export", form_id, "--json").stdout) | {"name": name}
    file.write_text(json.dumps(content))
    assert run("definition", "load", "--yes", file).exit_code == 0
    named = ("--account", seeded.account_id, "--json")
    assert json.loads(run(noun, "export", name.upper(), *named).stdout)["id"] == form_id
    assert json.loads(run(noun, "show", form_id[:8], *named).stdout)["id"] == form_id
    assert run(noun, "disable", name, *named).exit_code == 0
    assert run(noun, "show", name).exit_code == 2
    unknown = run(noun, "show", "unknown", "--account", seeded.account_id)
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert run(noun, "show", form_id, "--account", new_account()).exit_code == 1


def test_place_list_shows_stores_after_their_brand(seeded: SeededAccount) -> None:
    rows = json.loads(run("place", "list", seeded.account_id, "--json").stdout)
    assert [row["kind"] for row in rows][:2] == ["BRAND", "STORE"]
    assert rows[1]["brand"] == rows[0]["name"]
    assert {seeded.brand_id, seeded.store_id} <= {row["id"] for row in rows}


def test_workflow_is_shown_in_words_and_named_by_beginning(seeded: SeededAccount) -> None:
    workflow = add_workflow(seeded.account_id)
    shown = run("workflow", "show", seeded.account_id, workflow.name[:4])
    assert shown.exit_code == 0, shown.stderr
    assert workflow.actions[0].url in shown.stdout
    named = json.loads(run("workflow", "show", seeded.account_id, workflow.id, "--json").stdout)
    assert named["id"] == workflow.id


def test_feedback_is_filtered_by_names(seeded: SeededAccount) -> None:
    place = json.loads(run("place", "list", seeded.account_id, "--json").stdout)[1]["name"]
    filters = ("--survey", seeded.survey_id[:8], "--store", place)
    assert run("feedback", "list", seeded.account_id, *filters).exit_code == 0
    assert run("feedback", "list", seeded.account_id, "--store", "Atlantis").exit_code == 1
