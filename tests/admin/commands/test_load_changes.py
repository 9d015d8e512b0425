"""Tests of ``definition load`` and ``definition revert``: no stored data is lost silently."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from admin.commands import definition as definition_command
from admin.services.accounts.settings import change_account_settings
from admin.services.customers.save import save_customer
from admin.services.feedback import find
from admin.services.feedback.selection import find_answered
from admin.services.forms.manage import change_form, find_form, require_form, set_form_enabled
from chalicelib.domain import clock
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.survey import SavedSurvey, SupportEmail
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.read import find_customer, read_customer
from chalicelib.services.solicitation.suppressions import opt_out
from chalicelib.storage import workflows
from chalicelib.storage.customers import CustomerRow, count_purchases, customer_key
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.dynamodb.unit_of_work import commit
from tests.admin.command import run
from tests.aws.faults import before_request
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.queues import FEEDBACK_QUEUE
from tests.services.webhooks.delivering import add_workflow
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount, seed_account

ACTION = {
    "key": "crm",
    "url": "https://hooks.example.com/feedback",
    "headers": {"X-Token": "secret-value"},
}


@pytest.fixture
def seeded(cloud: None) -> SeededAccount:
    return seed_account()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "definitions.json"


def exported(noun: str, *arguments: str) -> dict[str, Any]:
    definition: dict[str, Any] = json.loads(run(noun, "export", *arguments, "--json").stdout)
    return definition


def load(file: Path, definition: dict[str, Any], seeded: SeededAccount, *options: str) -> Any:
    file.write_text(json.dumps(definition))
    return run("definition", "load", file, "--account", seeded.account_id, *options)


def stored_survey(seeded: SeededAccount) -> SavedSurvey:
    saved = require_form(FormKind.SURVEY, seeded.survey_id, account_id=None).saved
    assert isinstance(saved, SavedSurvey)
    return saved


def test_loaded_survey_stays_disabled(seeded: SeededAccount, file: Path) -> None:
    definition = exported("survey", seeded.survey_id)
    set_form_enabled(FormKind.SURVEY, seeded.survey_id, is_enabled=False)
    renamed = definition | {"name": "Renamed"}
    assert load(file, renamed, seeded, "--yes").exit_code == 0
    assert (stored_survey(seeded).name, stored_survey(seeded).enabled) == ("Renamed", False)
    enabled = load(file, renamed | {"enabled": True}, seeded, "--yes")
    assert "  -enabled: false" in enabled.stderr.splitlines()
    assert stored_survey(seeded).enabled


def test_loaded_workflow_stays_disabled(seeded: SeededAccount, file: Path) -> None:
    workflow = add_workflow(seeded.account_id, ACTION)
    definition = exported("workflow", seeded.account_id, workflow.id)
    run("workflow", "disable", seeded.account_id, workflow.id)
    action = definition["actions"][0] | {"headers": {"X-Token": "other-secret"}}
    result = load(file, definition | {"name": "Renamed", "actions": [action]}, seeded, "--yes")
    assert "secret" not in result.stderr
    assert "+    X-Token: (another hidden value)" in result.stderr
    (saved,) = workflows.list_for_account(seeded.account_id, consistent=True)
    assert (saved.name, saved.enabled) == ("Renamed", False)


def test_loaded_survey_keeps_verified_support_address(seeded: SeededAccount, file: Path) -> None:
    definition = exported("survey", seeded.survey_id)
    verified = SupportEmail(
        id=seeded.brand_id,
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-01T00:00:00.000Z",
        email="help@example.com",
        domain="example.com",
        dkim_verified=True,
        return_path_verified=True,
    )
    change_form(
        FormKind.SURVEY,
        seeded.survey_id,
        lambda form: form.model_copy(update={"support_email": verified}),
    )
    load(file, definition | {"name": "Renamed"}, seeded, "--yes")
    assert stored_survey(seeded).support_email == verified
    load(file, definition | {"supportEmail": {"email": "help@example.com"}}, seeded, "--yes")
    kept = stored_survey(seeded).support_email
    assert kept
    assert (kept.dkim_verified, kept.external_dns_config) == (True, verified.external_dns_config)
    removed = load(file, definition | {"supportEmail": None}, seeded, "--yes")
    assert "  -  email: help@example.com" in removed.stderr.splitlines()
    assert stored_survey(seeded).support_email is None


def test_loaded_customer_keeps_absent_fields_and_clears_null(
    seeded: SeededAccount, file: Path
) -> None:
    definition = customer_definition(
        email="zoe@example.com",
        emailOptin=True,
        metadata={"import": {"a": "1"}, "theFork": {"guestId": "17"}},
        company="Lumen",
    )
    customer = save_customer(seeded.account_id, definition)
    clear_caches()
    tagged = {"kind": "customer", "id": customer.id, "tags": [{"tag": "VIP"}], "lastName": "Roy"}
    changes = {"company": None, "emailOptin": None, "metadata": {"theFork": None}, "email": ""}
    result = load(file, tagged | changes, seeded, "--yes")
    assert (result.exit_code, "  -company: Lumen" in result.stderr) == (0, True)
    merged = read_customer(seeded.account_id, customer.id)
    assert (merged.email, merged.email_optin, merged.company) == ("zoe@example.com", True, None)
    assert (merged.display_name, merged.metadata) == ("Zoé Roy", {"import": {"a": "1"}})
    assert [tag.tag for tag in merged.tags] == ["VIP"]
    load(file, {"kind": "customer", "id": customer.id, "civility": "Dr"}, seeded, "--yes")
    assert [t.tag for t in read_customer(seeded.account_id, customer.id).tags] == ["VIP"]


def test_changed_type_of_answered_field_is_rejected(seeded: SeededAccount, file: Path) -> None:
    definition = exported("form", seeded.contact_form_id)
    changed = json.loads(json.dumps(definition))
    field = next(field for field in changed["fields"] if field["key"] == "note")
    field["type"] = "TEXT"
    dry_run = load(file, changed, seeded, "--dry-run")
    assert dry_run.exit_code == 0, dry_run.stderr
    answer_contact_form(seeded, note="Fine", nps="9")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    refused = load(file, changed, seeded, "--yes")
    assert refused.exit_code == 1
    assert "from LONG_TEXT to TEXT, but responses answer it. Use another" in refused.stderr
    assert exported("form", seeded.contact_form_id) == definition
    assert load(file, changed, seeded, "--yes", "--retype-answered-fields").exit_code == 0
    assert exported("form", seeded.contact_form_id) == changed


def test_changed_type_of_field_without_answers_is_loaded_after_reading_all_responses(
    seeded: SeededAccount, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_READ_AT_ONCE", 1)
    for answers in ({"note": "Fine"}, {}, {}):
        answer_contact_form(seeded, nps="9", **answers)
    answer_survey(seeded, note="Fine")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    form = find_form(FormKind.CONTACT_FORM, seeded.contact_form_id)
    assert form
    fields, read = {field.key: field.id for field in form.saved.fields}, list[int]()
    wanted = {fields["note"], fields["phone"]}
    assert find_answered(form, wanted, read.append) == {fields["note"]}
    assert sum(read) == 4
    read.clear()
    assert find_answered(form, {fields["nps"]}, read.append) == {fields["nps"]}
    assert sum(read) < 4
    definition = exported("form", seeded.contact_form_id)
    (phone,) = (field for field in definition["fields"] if field["key"] == "phone")
    phone["type"] = "TEXT"
    loaded = load(file, definition, seeded, "--yes")
    assert loaded.exit_code == 0, loaded.stderr
    assert exported("form", seeded.contact_form_id) == definition


def test_removed_field_and_option_are_warnings(seeded: SeededAccount, file: Path) -> None:
    definition = exported("form", seeded.contact_form_id)
    select = {"key": "colour", "type": "SINGLE_SELECT", "values": ["Red", "Blue"]}
    load(file, definition | {"fields": [*definition["fields"], select]}, seeded, "--yes")
    fewer = definition | {"fields": [*definition["fields"][1:], select | {"values": ["Red"]}]}
    result = load(file, fewer | {"fieldDependencies": []}, seeded, "--dry-run")
    assert "Removes the option 'Blue' of the field colour. (removed)" in result.stderr
    first = definition["fields"][0]["key"]
    assert f"Removes the field {first}. Responses that answer it: 0. (removed)" in result.stderr
    answer_contact_form(seeded, note="Fine")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    fields = [field for field in definition["fields"] if field["key"] != "note"]
    result = load(file, fewer | {"fields": fields, "fieldDependencies": []}, seeded, "--dry-run")
    assert "Removes the field note. Responses that answer it: 1. (removed)" in result.stderr


def test_dry_run_changes_nothing_and_load_asks(
    seeded: SeededAccount, file: Path, questions: list[str]
) -> None:
    definition = exported("survey", seeded.survey_id)
    renamed = definition | {"name": "Renamed"}
    dry_run = load(file, renamed, seeded, "--dry-run")
    assert dry_run.stdout.splitlines()[-1] == "Nothing was changed."
    assert "  +name: Renamed" in dry_run.stdout.splitlines()
    shown = json.loads(load(file, renamed, seeded, "--dry-run", "--json").stdout)
    assert (shown["changed"], shown["changes"][0]["name"]) == ({"survey": 1}, "Renamed")
    assert load(file, renamed, seeded).exit_code == 1
    assert questions == ["Load 1 definition?"]
    assert exported("survey", seeded.survey_id) == definition
    unchanged = load(file, definition, seeded)
    assert (unchanged.exit_code, len(questions)) == (0, 1)


def test_load_without_terminal_and_confirmation_fails(seeded: SeededAccount, file: Path) -> None:
    definition = exported("survey", seeded.survey_id)
    assert load(file, definition | {"name": "Renamed"}, seeded).exit_code == 2
    assert exported("survey", seeded.survey_id) == definition


@pytest.mark.parametrize("kind", ["survey", "contactForm", "workflow", "store", "brand"])
def test_revert_loads_earlier_definition(seeded: SeededAccount, file: Path, kind: str) -> None:
    account = seeded.account_id
    workflow = add_workflow(account, ACTION)
    definitions = {
        "survey": exported("survey", seeded.survey_id),
        "contactForm": exported("form", seeded.contact_form_id),
        "workflow": exported("workflow", account, workflow.id),
        "store": {"kind": "store", "id": seeded.store_id, "brandId": seeded.brand_id}
        | {"name": "Lyon Bellecour", "timeZone": "Europe/Paris"},
        "brand": {"kind": "brand", "id": seeded.brand_id, "name": "Maison Lumen"},
    }
    original = definitions[kind]
    load(file, original, seeded, "--yes")
    load(file, original | {"name": "Renamed"}, seeded, "--yes")
    history = run("account", "history", account)
    assert "secret-value" not in run("account", "history", account, "--json").stdout
    assert "Renamed" in history.stdout
    reverted = run("definition", "revert", account, kind, original["id"], "--yes")
    assert reverted.exit_code == 0, reverted.stderr
    assert f"  +name: {original['name']}" in reverted.stderr
    assert load(file, original, seeded).stderr.startswith("The definitions are loaded already.")
    again = run("definition", "revert", account, kind, original["id"], "--dry-run")
    assert "  +name: Renamed" in again.stdout


def test_revert_of_unknown_time_or_kind_is_an_error(seeded: SeededAccount, file: Path) -> None:
    command = ("definition", "revert", seeded.account_id)
    assert run(*command, "customer", seeded.customer_id).exit_code == 2
    message = "The history contains no change of this survey to revert."
    unknown = run(*command, "survey", seeded.survey_id)
    assert (unknown.exit_code, unknown.stderr) == (1, f"Error: {message}\n")
    new = {"kind": "brand", "id": seeded.survey_id, "name": "New"}
    load(file, new, seeded, "--yes")
    created = run(*command, "brand", seeded.survey_id)
    assert "The brand did not exist before" in created.stderr
    later = run(*command, "brand", seeded.survey_id, "--at", "2999-01-01")
    assert "no change of this brand to revert" in later.stderr


def test_loaded_optin_of_suppressed_address_is_stored_as_false(
    seeded: SeededAccount, file: Path
) -> None:
    opt_out(seeded.account_id, OptOut(email="zoe@example.test"))
    person = {"kind": "customer", "id": new_id()}
    suppressed = person | {"email": "zoe@example.test", "emailOptin": True}
    for definition, is_on in (
        (suppressed, False),
        (person | {"email": "lea@example.test", "emailOptin": True}, True),
        (person | {"email": "zoe@example.test"}, False),
    ):
        assert load(file, definition, seeded, "--yes").exit_code == 0
        assert read_customer(seeded.account_id, person["id"]).email_optin is is_on
    # Loading the file again shows and changes nothing.
    again = load(file, suppressed, seeded)
    assert (again.exit_code, "Nothing to change" in again.stderr) == (0, True)


def test_history_contains_numbers_of_customers(seeded: SeededAccount, file: Path) -> None:
    load(file, {"kind": "customer"} | customer_definition(email="x@example.com"), seeded, "--yes")
    changes = json.loads(run("account", "history", seeded.account_id, "--json").stdout)
    assert (changes[0]["subject"], changes[0]["new"]) == (
        "loaded definitions",
        {"customer": {"new": 1}},
    )
    assert "x@example.com" not in json.dumps(changes)


def definitions_of(seeded: SeededAccount) -> dict[str, dict[str, Any]]:
    """Return a definition of each kind of resource that the account has."""
    workflow = add_workflow(seeded.account_id, ACTION)
    return {
        "brand": {"kind": "brand", "id": seeded.brand_id, "name": "Maison Lumen"},
        "store": {"kind": "store", "id": seeded.store_id, "brandId": seeded.brand_id}
        | {"name": "Lyon Bellecour", "timeZone": "Europe/Paris"},
        "customer": {"kind": "customer", "id": seeded.customer_id, "company": "Lumen"},
        "contactForm": exported("form", seeded.contact_form_id),
        "survey": exported("survey", seeded.survey_id),
        "workflow": exported("workflow", seeded.account_id, workflow.id),
    }


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Run these actions, one after each confirmation, as another operator would."""
    actions: list[Callable[[], object]] = []

    def confirm(_question: object, *, is_confirmed: bool) -> None:
        if actions:
            actions.pop(0)()

    monkeypatch.setattr(definition_command, "confirm", confirm)
    return actions


WORDS = {"contactForm": "contact form"}
KINDS = ["brand", "store", "customer", "contactForm", "survey", "workflow"]


@pytest.mark.parametrize("kind", KINDS)
def test_definition_that_changed_after_the_confirmation_is_not_saved(
    seeded: SeededAccount, file: Path, meanwhile: list[Callable[[], object]], kind: str
) -> None:
    loaded = definitions_of(seeded)[kind]
    load(file, loaded, seeded, "--yes")
    name = "company" if kind == "customer" else "name"
    other = file.with_name("other.json")
    meanwhile.append(lambda: load(other, loaded | {name: "Theirs"}, seeded, "--yes"))
    result = load(file, loaded | {name: "Ours"}, seeded, "--yes")
    assert result.exit_code == 1
    assert "1 definition not loaded, because the stored resource has changed" in result.stderr
    assert f"  -{name}: Theirs" in result.stderr.splitlines()
    shown = load(file, loaded | {name: "Theirs"}, seeded, "--dry-run")
    assert f"Unchanged: 1 {WORDS.get(kind, kind)}" in shown.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_definition_that_changed_is_saved_after_another_confirmation(
    seeded: SeededAccount, file: Path, meanwhile: list[Callable[[], object]], kind: str
) -> None:
    loaded = definitions_of(seeded)[kind]
    load(file, loaded, seeded, "--yes")
    name = "company" if kind == "customer" else "name"
    other = file.with_name("other.json")
    meanwhile.append(lambda: load(other, loaded | {name: "Theirs"}, seeded, "--yes"))
    result = load(file, loaded | {name: "Ours"}, seeded)
    assert (result.exit_code, result.stdout.strip()) == (0, f"Loaded: 1 {WORDS.get(kind, kind)}")
    assert f"  -{name}: Theirs" in result.stderr.splitlines()
    again = load(file, loaded | {name: "Ours"}, seeded, "--yes")
    assert "The definitions are loaded already." in again.stderr


def test_other_definitions_of_the_load_are_saved(
    seeded: SeededAccount, file: Path, meanwhile: list[Callable[[], object]]
) -> None:
    found = definitions_of(seeded)
    file.write_text(json.dumps([found[kind] | {"name": "Ours"} for kind in ("survey", "brand")]))
    other = file.with_name("other.json")
    meanwhile.append(lambda: load(other, found["survey"] | {"name": "Theirs"}, seeded, "--yes"))
    result = run("definition", "load", file, "--account", seeded.account_id, "--yes")
    assert (result.exit_code, result.stdout) == (1, "Loaded: 1 brand\n")
    assert stored_survey(seeded).name == "Theirs"


def test_definition_that_another_operator_created_or_erased_meanwhile_is_not_saved(
    seeded: SeededAccount, file: Path, meanwhile: list[Callable[[], object]]
) -> None:
    new = {"kind": "customer", "id": new_id(), "company": "Ours"}
    other = file.with_name("other.json")
    meanwhile.append(lambda: load(other, new | {"company": "Theirs"}, seeded, "--yes"))
    assert load(file, new, seeded, "--yes").exit_code == 1
    assert read_customer(seeded.account_id, new["id"]).company == "Theirs"
    meanwhile.append(lambda: run("customer", "erase", seeded.account_id, new["id"], "--yes"))
    assert load(file, new, seeded, "--yes").exit_code == 1
    assert find_customer(seeded.account_id, new["id"]) is None


def test_changed_counts_and_tag_colours_do_not_prevent_a_load(
    seeded: SeededAccount, file: Path, meanwhile: list[Callable[[], object]]
) -> None:
    first, second = (
        {"kind": "customer", "id": new_id(), "company": "Before", "tags": [{"tag": "VIP"}]}
        for _ in range(2)
    )
    file.write_text(json.dumps([first, second]))
    arguments = ("definition", "load", file, "--account", seeded.account_id, "--yes")
    assert run(*arguments).exit_code == 0
    red = {"tags": [{"tag": "VIP", "color": "#ff0000"}], "company": "After"}
    file.write_text(json.dumps([first | red, second | red]))
    row = CustomerRow.get(account_key(seeded.account_id, first["id"]))
    meanwhile.append(lambda: row.update([CustomerRow.purchase_count.set(3)]))
    assert run(*arguments).exit_code == 0
    assert read_customer(seeded.account_id, second["id"]).company == "After"


def test_tag_that_another_load_creates_at_the_same_time_keeps_its_colour(
    seeded: SeededAccount, file: Path
) -> None:
    other = file.with_name("other.json")
    ours, theirs = (
        {"kind": "customer", "id": new_id(), "tags": [{"tag": "VIP"} | color]}
        for color in ({}, {"color": "#ff0000"})
    )
    with before_request("PutItem", lambda: load(other, theirs, seeded, "--yes")):
        assert load(file, ours, seeded, "--yes").exit_code == 0
    (tag,) = read_customer(seeded.account_id, ours["id"]).tags
    assert tag.color == "#ff0000"


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "customer"])
def test_definition_that_changes_between_reading_and_writing_is_not_overwritten(
    seeded: SeededAccount, file: Path, kind: str, is_new: bool
) -> None:
    definition = definitions_of(seeded)[kind]
    if is_new:
        definition["id"] = new_id()
        if kind == "workflow":
            definition["actions"] = [ACTION]
    else:
        load(file, definition, seeded, "--yes")
    other = file.with_name("other.json")

    def load_theirs() -> None:
        assert load(other, definition | {"name": "Theirs"}, seeded, "--yes").exit_code == 0

    with before_request("TransactWriteItems", load_theirs):
        result = load(file, definition | {"name": "Ours"}, seeded, "--yes")
    assert result.exit_code == 1
    shown = load(file, definition | {"name": "Theirs"}, seeded, "--dry-run")
    assert f"Unchanged: 1 {WORDS.get(kind, kind)}" in shown.stdout


def test_opening_time_without_offset_is_in_time_zone_of_account(
    file: Path, seeded: SeededAccount
) -> None:
    change_account_settings(seeded.account_id, {"timeZone": "Europe/Paris"}, "operator")
    clear_caches()
    definition = exported("survey", seeded.survey_id)
    times = {"opensAt": "2026-12-01", "closesAt": "2026-12-24T18:00:00"}
    assert load(file, definition | times, seeded, "--yes").exit_code == 0
    shown = exported("survey", seeded.survey_id)
    assert shown["opensAt"] == "2026-11-30T23:00:00.000Z"
    assert shown["closesAt"] == "2026-12-24T17:00:00.000Z"


def test_placeholder_is_label_of_stored_form_or_of_form_in_same_run(
    file: Path, seeded: SeededAccount
) -> None:
    workflow = {
        "kind": "workflow",
        "id": new_id(),
        "name": "Tables",
        "actions": [ACTION | {"metadata": {"where": "table {table}, {rating}"}}],
    }
    form = exported("form", seeded.contact_form_id)
    labelled = form | {"labels": {"table": {"maxDigits": 2}}}
    file.write_text(json.dumps([workflow, form]))
    result = run("definition", "load", file, "--account", seeded.account_id, "--yes")
    assert (result.exit_code, "{table}" in result.stderr) == (1, True)
    file.write_text(json.dumps([workflow, labelled]))
    assert run("definition", "load", file, "--account", seeded.account_id, "--yes").exit_code == 0
    changed = workflow | {"name": "All tables"}
    assert load(file, changed, seeded, "--yes").exit_code == 0


def test_loaded_data_source_keeps_source_that_a_purchase_adds_meanwhile(
    seeded: SeededAccount,
) -> None:
    customer = save_customer(seeded.account_id, customer_definition(emailOptin=False))
    key = customer_key(seeded.account_id, customer.id)

    def record() -> None:
        commit(lambda rows: count_purchases(rows, key, 1, clock.now(), DataSource["Site"]))

    with before_request("UpdateItem", record):
        save_customer(seeded.account_id, {"id": customer.id, "dataSources": ["Sms"]})
    found = read_customer(seeded.account_id, customer.id)
    assert {*found.data_sources} >= {DataSource["Sms"], DataSource["Site"]}
