"""Tests of the commands ``purchase`` and ``solicitation``."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from admin.commands import purchase as purchase_commands
from admin.main import app
from admin.services.accounts.settings import change_account_settings
from admin.services.definitions.kinds import STORE, save
from admin.storage import counts
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.sending_errors import OutcomeUnknown
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.caching import clear_caches
from chalicelib.services.solicitation import links
from chalicelib.storage.counters import Counted
from chalicelib.storage.stage_values import forget_stage_secret
from tests.admin.command import run
from tests.aws.faults import before_request
from tests.services.moved_time import wrong_clock
from tests.services.purchases import record_purchase, report_purchase
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import Shop


@pytest.fixture
def provider(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setattr(purchase_commands, "MAX_WRITERS", 1)
    return provider


def csv_file(folder: Path, shop: Shop, *rows: str) -> Path:
    """Write a CSV file. Each row has an external id, a store or ``""``, and an e-mail address."""
    header = "source,externalId,storeId,date,customer.email,customer.emailOptin,metadata.table"
    date = format_timestamp(clock.now() - timedelta(minutes=1))
    lines = [header]
    for row in rows:
        external_id, store, email = row.split("|")
        lines.append(f"Site,{external_id},{store or shop.store_id},{date},{email},true,4")
    path = folder / "purchases.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def purchase_count(shop: Shop) -> int:
    return counts.load_counts(shop.account_id)[Counted.PURCHASES].number


def listed(shop: Shop, *options: str) -> list[dict[str, Any]]:
    result = run("solicitation", "list", shop.account_id, "--json", *options)
    assert result.exit_code == 0
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_purchase_import_without_solicit_sends_no_survey(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test", "2||b@example.test")
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert (result.exit_code, result.stdout.strip()) == (
        0,
        "New: 2. Updated: 0. Unchanged: 0. Invalid: 0.",
    )
    shop.solicit()
    assert shop.provider.sent == []
    assert [row["reason"] for row in listed(shop)] == ["NOT_REQUESTED"] * 2


def test_repeated_import_changes_nothing(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test", "2||b@example.test")
    for _ in range(2):
        assert (
            run("purchase", "import", path, "--account", shop.account_id, "--solicit").exit_code
            == 0
        )
    shop.solicit()
    assert len(shop.provider.sent) == 2
    assert purchase_count(shop) == 2


def test_invalid_lines_are_reported_with_their_numbers(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test", "2|nowhere|b@example.test", "3||broken")
    path.write_text(path.read_text() + "Site,4\n")
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.exit_code == 1
    assert result.stdout.strip() == "New: 1. Updated: 0. Unchanged: 0. Invalid: 3."
    assert f"{path}, line 3: storeId 'nowhere': " in result.stderr
    assert f"{path}, line 4: customer.email 'broken': " in result.stderr
    assert f"{path}, line 5: Must have 7 cells, has 2." in result.stderr
    assert purchase_count(shop) == 1


def test_errors_of_cells_show_the_value_and_advice_for_the_file(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "purchases.csv"
    path.write_text(
        "source,externalId,storeId,date,customer.emailOptin\n"
        f"Site,1,{shop.store_id},31/02/2026,oui\nSite,2,{shop.store_id},tomorrow,peut-être\n"
    )
    result = run("purchase", "import", path, "--account", shop.account_id, "--dates", "day-first")
    assert result.exit_code == 1
    advice = "Must be a word for yes or no, such as yes, no, oui, non, 1 or 0."
    assert "line 2: date '31/02/2026': There is no such date or time." in result.stderr
    assert (
        "line 3: date 'tomorrow': Must be a date, such as 20/11/2026, 20/11/2026 14:30"
        in result.stderr
    )
    assert f"customer.emailOptin 'peut-être': {advice}" in result.stderr


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ("source,externalID,storeId,date", "Unknown column externalID. Did you mean externalId?"),
        ("source,externalId,storeId,dates", "Unknown column dates. Did you mean date?"),
        (
            "source,externalId,store,date,customer.emial",
            "Unknown column customer.emial. Did you mean customer.email?",
        ),
        ("", "The first line must contain the column names."),
        ("source,externalId,store", "The column date is missing."),
    ],
)
def test_wrong_header_is_one_error(shop: Shop, tmp_path: Path, header: str, error: str) -> None:
    path = tmp_path / "purchases.csv"
    path.write_text(f"{header}\n" + "x,y,z\n" * 3)
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert (result.exit_code, result.stderr) == (1, f"{path}: {error}\n")


@pytest.mark.parametrize("text", ["", "source,externalId,storeId,date\n", "\n\n"])
def test_file_without_purchases_is_an_error(shop: Shop, tmp_path: Path, text: str) -> None:
    path = tmp_path / "purchases.csv"
    path.write_text(text)
    assert run("purchase", "import", path, "--account", shop.account_id).exit_code == 1


def test_line_number_counts_line_breaks_inside_cells(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test", "2|nowhere|b@example.test")
    path.write_text(path.read_text().replace("true,4\n", 'true,"4\n5"\n', 1))
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert "line 4: storeId 'nowhere'" in result.stderr


def excel_file(folder: Path, encoding: str, separator: str, *rows: str) -> Path:
    """Write a CSV file as Excel does: with Windows line breaks and an empty line of separators."""
    header = "source|externalId|store|date|customer.email|customer.emailOptin|customer.firstName"
    lines = [line.replace("|", separator) for line in (header, *rows, "||||||")]
    path = folder / "excel.csv"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
    return path


@pytest.mark.parametrize(
    ("encoding", "separator"),
    [("windows-1252", ";"), ("utf-8-sig", ","), ("utf-16", "\t"), ("utf-8", ";")],
)
def test_import_accepts_files_of_excel(
    shop: Shop, tmp_path: Path, encoding: str, separator: str
) -> None:
    change_account_settings(shop.account_id, {"timeZone": "Europe/Paris"}, "operator")
    place = current_directory(shop.account_id).by_id[shop.store_id]
    save(
        STORE,
        shop.account_id,
        {"id": place.id, "brandId": place.brand_id, "name": place.name, "key": "LYO-1"},
    )
    store = place.name
    path = excel_file(
        tmp_path,
        encoding,
        separator,
        f"Site|1|{store.upper()}|20/11/2026 14:30|a@example.test|OUI|Zoé",
        "Site|2|lyo-1|3/2/2026|b@example.test|faux|Ana",
        f"Site|3|{shop.store_id}|3/2/26|c@example.test|nie|Ana",
    )
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.stdout.strip() == "New: 2. Updated: 0. Unchanged: 0. Invalid: 1."
    assert ("Read as windows-1252" in result.stderr) == (encoding == "windows-1252")
    assert f"line 4: No store is called '{shop.store_id}'. Use storeId." in result.stderr
    first, second = (
        json.loads(run("purchase", "show", shop.account_id, "Site", number).stdout)
        for number in "12"
    )
    assert (first["date"], second["date"]) == (
        "2026-11-20T13:30:00.000Z",
        "2026-02-02T23:00:00.000Z",
    )
    assert (first["customer"]["firstName"], first["customer"]["emailOptin"]) == ("Zoé", True)


def test_import_asks_how_to_read_dates_that_have_two_meanings(shop: Shop, tmp_path: Path) -> None:
    store = current_directory(shop.account_id).name_of(shop.store_id)
    command = ("purchase", "import", "--account", shop.account_id)
    row = f"Site|1|{store}|03/04/2026|a@example.test||"
    path = excel_file(tmp_path, "utf-8", ";", row)
    unclear = run(*command, path)
    assert (unclear.exit_code, "Add --dates day-first" in unclear.stderr) == (1, True)
    run(*command, path, "--dates", "month-first")
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["date"] == "2026-03-04T00:00:00.000Z"
    both = row.replace("03/04", "13/04"), row.replace("03/04", "04/13")
    assert (
        "13/12/2026 and 12/13/2026"
        in run(*command, excel_file(tmp_path, "utf-8", ";", *both)).stderr
    )
    dotted = excel_file(tmp_path, "utf-8", ";", row.replace("03/04/", "03.04."))
    assert run(*command, dotted).stdout.strip() == "New: 0. Updated: 1. Unchanged: 0. Invalid: 0."


def test_encoding_option_selects_encoding_of_file(shop: Shop, tmp_path: Path) -> None:
    store = current_directory(shop.account_id).name_of(shop.store_id)
    path = excel_file(
        tmp_path, "windows-1251", ";", f"Site|1|{store}|2026-11-20|a@example.test||Дима"
    )
    command = ("purchase", "import", path, "--account", shop.account_id)
    assert run(*command, "--encoding", "windows-1251").exit_code == 0
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["customer"]["firstName"] == "Дима"
    assert run(*command, "--encoding", "nothing").exit_code == 2
    assert "Add --encoding" in run(*command, "--encoding", "utf-8").stderr


def test_dry_run_counts_and_records_nothing(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test", "2||b@example.test")
    command = ("purchase", "import", path, "--account", shop.account_id)
    run(*command)
    text = path.read_text().replace("b@example.test", "c@example.test")
    path.write_text(f"{text}Sites,3,{shop.store_id},2026-11-20,,,\n{text.splitlines()[1]}\n")
    dry_run = run(*command, "--dry-run")
    assert dry_run.stdout.strip() == (
        "Nothing was recorded. New: 0. Updated: 1. Unchanged: 2. Invalid: 1."
    )
    assert "line 4: source 'Sites': Must be 'Email', 'Sms', " in dry_run.stderr
    assert json.loads(run(*command, "--json").stdout) == {
        "new": 0,
        "updated": 1,
        "unchanged": 2,
        "invalid": 1,
    }


def test_later_line_of_same_purchase_replaces_earlier_line(shop: Shop, tmp_path: Path) -> None:
    definition = shop.definition(externalId="1", metadata={"table": "1"})
    lines = [
        json.dumps(definition),
        "",
        json.dumps({**definition, "metadata": {"table": "2"}}),
        "{",
        "[1]",
        json.dumps(definition)[:-1] + ', "externalId": "2"}',
    ]
    path = tmp_path / "purchases.jsonl"
    path.write_text("\n".join(lines))
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.stdout.strip() == "New: 1. Updated: 1. Unchanged: 0. Invalid: 3."
    assert "line 4: Invalid JSON" in result.stderr
    assert "line 5: /: Must be an object." in result.stderr
    assert "line 6: Duplicate property 'externalId' in an object." in result.stderr
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["metadata"] == {"table": "2"}
    assert shown["customer"]["purchaseCount"] == 1


def test_json_lines_are_read_from_standard_input(shop: Shop) -> None:
    line = json.dumps(shop.definition(customer={"firstName": "Zoé"}))
    result = CliRunner().invoke(
        app, ["purchase", "import", "-", "--account", shop.account_id], input=f"{line}\n"
    )
    assert (result.exit_code, result.stdout.strip()) == (
        0,
        "New: 1. Updated: 0. Unchanged: 0. Invalid: 0.",
    )
    assert purchase_count(shop) == 1


def test_unavailable_database_stops_import(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(purchase_commands, "record_purchase", fail)
    path = csv_file(tmp_path, shop, "1||a@example.test")
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.exit_code == 1
    assert "0 of 1 lines are processed" in result.stderr


@pytest.mark.parametrize("name", ["purchases.txt", "purchases.yaml"])
def test_unknown_file_type_is_rejected(shop: Shop, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("")
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert (result.exit_code, ".csv, .jsonl, .ndjson" in result.stderr) == (1, True)


def test_solicitation_list_filters_and_prints_all_properties(shop: Shop) -> None:
    for external_id in ("1", "2"):
        shop.record(externalId=external_id)
    shop.solicit()
    (sent,) = listed(shop, "--state", "sent")
    assert list(sent) == [
        "source",
        "externalId",
        "state",
        "reason",
        "channel",
        "sentAt",
        "customerId",
        "surveyId",
        "trackerId",
        "heldUntil",
        "remindedAt",
    ]
    assert (sent["state"], sent["channel"], sent["surveyId"]) == ("SENT", "EMAIL", shop.survey_id)
    (skipped,) = listed(shop, "--reason", "ALREADY_SOLICITED", "--state", "SKIPPED")
    assert skipped["sentAt"] is None
    assert listed(shop, "--state", "SENT", "--reason", "TOO_OLD") == []
    assert len(listed(shop, "--limit", "1")) == 1
    tomorrow = f"{clock.now() + timedelta(days=1):%Y-%m-%d}"
    assert listed(shop, "--since", tomorrow) == []
    table = run("solicitation", "list", shop.account_id).stdout
    assert "ALREADY_SOLICITED" in table


def test_explain_shows_decision_before_and_after_outcome(shop: Shop) -> None:
    shop.record(externalId="1")
    before = run("solicitation", "explain", shop.account_id, "Site", "1").stdout
    assert f"send survey {shop.survey_id} now through EMAIL" in before
    assert "final" not in before
    shop.solicit()
    after = run("solicitation", "explain", shop.account_id, "Site", "1").stdout
    assert "SENT" in after
    assert "last survey of this account: " in after
    assert after.endswith("The outcome above is final, so this decision has no effect.\n")
    future = clock.now() + timedelta(days=2)
    shop.record(externalId="2", date=format_timestamp(future))
    shop.solicit()
    held = run("solicitation", "explain", shop.account_id, "Site", "2").stdout
    assert f"held until {future:%Y-%m-%d %H:%M}" in held
    assert run("solicitation", "explain", shop.account_id, "Site", "3").exit_code == 1


def test_explain_shows_reminder(shop: Shop) -> None:
    shop.survey(reminderDelay=24 * 3600, solicitationDelay=60)
    shop.record(externalId="1")
    explain = ("solicitation", "explain", shop.account_id, "Site", "1")
    shop.solicit()
    rules = "enabled; sent by EMAIL, SMS; 1 minute after the date of the purchase;"
    shown = " ".join(run(*explain).stdout.split())
    assert rules in shown
    assert "reminder after 1 day" in shown
    shop.advance(timedelta(minutes=2))
    reminder = json.loads(run(*explain, "--json").stdout)["reminder"]
    assert reminder["reminder"] == "PENDING"
    assert reminder["reminderDueAt"]
    assert reminder["reminderDecision"] == f"send survey {shop.survey_id} now through EMAIL"
    shop.advance(timedelta(days=1))
    text = run(*explain).stdout
    assert "Reminder sent at" in text
    assert "Reminder decision" not in text
    person = run("solicitation", "explain", shop.account_id, "--email", "zoe@example.test").stdout
    assert "reminder sent on" in " ".join(person.split())


def test_explain_shows_segments_of_text_message_and_price_if_set(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "public_base_url", lambda: "https://api.example.com/prod")
    change_account_settings(shop.account_id, {"smsCountries": ["FR"]}, "operator")
    shop.survey(sendingChannels=["SMS"], language="ar")
    customer = {"phoneNumber": "+33612345678", "smsOptin": True}
    shop.record(externalId="1", customer=customer)
    shop.record(externalId="2", customer={"phoneNumber": "+33612345679"})

    def last_line(external_id: str) -> str:
        result = run("solicitation", "explain", shop.account_id, "Site", external_id)
        return result.stdout.splitlines()[-1]

    assert re.fullmatch(r"Text message: 2 segments \(UCS-2 because of .*\)", last_line("1"))
    assert "skip" in last_line("2")
    change_account_settings(shop.account_id, {"smsSegmentPrice": 0.05}, "operator")
    clear_caches()
    assert last_line("1").endswith("), price 0.1")
    result = run("solicitation", "explain", shop.account_id, "Site", "1", "--json")
    assert json.loads(result.stdout)["textMessage"] == {"segments": 2, "price": 0.1}


def test_explain_shows_country_and_daily_limit_of_text_messages(shop: Shop) -> None:
    changes = {"smsCountries": ["BE"], "smsDailyLimit": 5}
    change_account_settings(shop.account_id, changes, "operator")
    shop.survey(sendingChannels=["SMS"])
    shop.record(externalId="1", customer={"phoneNumber": "+33612345678", "smsOptin": True})
    text = run("solicitation", "explain", shop.account_id, "Site", "1").stdout
    assert "country FR, mobile; countries that receive text messages: BE" in text
    assert "0 of 5 reserved today (UTC)" in text
    assert "skip (COUNTRY)" in text


def test_explain_shows_price_without_exponent_or_rounding(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "public_base_url", lambda: "https://api.example.com/prod")
    change_account_settings(shop.account_id, {"smsCountries": ["FR"]}, "operator")
    shop.survey(sendingChannels=["SMS"], language="ar")
    shop.record(externalId="1", customer={"phoneNumber": "+33612345678", "smsOptin": True})
    prices = {0.0: "0", 0.00645: "0.0129", 5.0: "10", 617.25: "1234.5", 999.995: "1999.99"}
    for segment_price, price in prices.items():
        change_account_settings(shop.account_id, {"smsSegmentPrice": segment_price}, "operator")
        clear_caches()
        result = run("solicitation", "explain", shop.account_id, "Site", "1")
        assert result.stdout.splitlines()[-1].endswith(f"), price {price}")


def test_explain_without_base_url_shows_decision_and_why_size_is_not_known(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise Unavailable("A value of the stage cannot be read (ssm).")

    monkeypatch.setattr(links, "public_base_url", fail)
    change_account_settings(shop.account_id, {"smsCountries": ["FR"]}, "operator")
    shop.survey(sendingChannels=["SMS"])
    shop.record(externalId="1", customer={"phoneNumber": "+33612345678", "smsOptin": True})
    command = ("solicitation", "explain", shop.account_id, "Site", "1")
    result = run(*command)
    assert result.exit_code == 0
    assert result.stdout.endswith(f"send survey {shop.survey_id} now through SMS\n")
    reason = "The size of the text message is not known. A value of the stage cannot be read (ssm)."
    assert " ".join(result.stderr.split()) == f"{reason} Times are in UTC."
    assert json.loads(run(*command, "--json").stdout)["textMessage"] is None


def test_resend_shows_customer_before_confirmation(shop: Shop, questions: list[str]) -> None:
    shop.provider.reactions = [OutcomeUnknown("ReadTimeout")]
    customer = {"firstName": "Zoé", "email": "zoe@example.test", "emailOptin": True}
    shop.record(externalId="1", customer=customer)
    shop.solicit()
    clear_caches()
    forget_stage_secret()
    command = ("solicitation", "resend", shop.account_id, "Site", "1")
    with counted_calls() as calls:
        assert run(*command).exit_code == 1
    assert calls.total() == 9
    shop.solicit()
    assert shop.provider.sent == []
    clear_caches()
    forget_stage_secret()
    with counted_calls() as calls:
        assert run(*command, "--yes").exit_code == 0
    assert calls.total() == 12
    assert "Cost: about 12 AWS requests." in run("solicitation", "resend", "--help").stdout
    assert run(*command).exit_code == 1  # pending now, so no question
    assert questions == [
        "The customer may already have received this survey. Send the survey about the purchase"
        " Site 1 to Zoé, zoe@example.test again?"
    ]


def test_only_survey_with_unknown_outcome_is_resent_after_confirmation(shop: Shop) -> None:
    shop.provider.reactions = [OutcomeUnknown("ReadTimeout")]
    shop.record(externalId="1")
    shop.solicit()
    name = (shop.account_id, "Site", "1")
    assert run("solicitation", "resend", *name).exit_code == 2  # not confirmed
    shop.solicit()
    assert shop.provider.sent == []
    assert run("solicitation", "resend", *name, "--yes").exit_code == 0
    shop.solicit()
    assert len(shop.provider.sent) == 1
    again = run("solicitation", "resend", *name, "--yes")
    assert again.exit_code == 1
    assert "UNKNOWN" in again.stderr


def test_import_does_not_replace_version_that_arrives_during_it(shop: Shop, tmp_path: Path) -> None:
    path = csv_file(tmp_path, shop, "1||a@example.test")
    newer = shop.definition(externalId="1", metadata={"table": "5"})

    def report() -> None:
        shop.time.ahead += timedelta(seconds=1)
        report_purchase(shop.account_id, newer, solicit=True)

    with before_request("TransactWriteItems", report):
        result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.exit_code == 0
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["metadata"] == {"table": "5"}


def test_import_with_slow_clock_replaces_earlier_version(shop: Shop, tmp_path: Path) -> None:
    earlier = shop.definition(externalId="1")
    record_purchase(shop.account_id, earlier, sent_at=clock.now() - timedelta(seconds=2))
    path = csv_file(tmp_path, shop, "1||a@example.test")
    with wrong_clock(timedelta(hours=-1)):
        result = run("purchase", "import", path, "--account", shop.account_id)
    assert result.exit_code == 0
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["customer"]["email"] == "a@example.test"


@pytest.mark.parametrize("name", ["purchases.csv", "purchases.jsonl"])
def test_time_without_offset_in_file_is_in_time_zone_of_account(
    shop: Shop, tmp_path: Path, name: str
) -> None:
    change_account_settings(shop.account_id, {"timeZone": "Europe/Paris"}, "operator")
    clear_caches()
    definition = {
        "source": "Site",
        "externalId": "1",
        "storeId": shop.store_id,
        "date": "2026-11-20T10:00:00",
    }
    path = tmp_path / name
    lines = [",".join(definition), ",".join(definition.values())]
    path.write_text("\n".join(lines) if name.endswith("csv") else json.dumps(definition))
    command = ("purchase", "import", path, "--account", shop.account_id)
    assert run(*command).exit_code == 0
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "1").stdout)
    assert shown["date"] == "2026-11-20T09:00:00.000Z"
    assert "New: 0. Updated: 0. Unchanged: 1." in run(*command).stdout


def test_json_line_names_store_by_key_or_name(shop: Shop, tmp_path: Path) -> None:
    name = current_directory(shop.account_id).name_of(shop.store_id)
    line = {"source": "Site", "date": "2026-11-20"}
    path = tmp_path / "purchases.jsonl"
    stores = [name, "nowhere", 7]
    lines = [{**line, "externalId": str(n), "store": store} for n, store in enumerate(stores)]
    path.write_text("\n".join(map(json.dumps, lines)))
    result = run("purchase", "import", path, "--account", shop.account_id)
    assert "New: 1. Updated: 0. Unchanged: 0. Invalid: 2." in result.stdout
    assert "line 2: No store is called 'nowhere'. Use storeId." in result.stderr
    assert "line 3: store must be a string." in result.stderr


def test_purchases_of_same_unknown_customer_create_one_customer(
    shop: Shop, provider: Provider, tmp_path: Path
) -> None:
    path = csv_file(tmp_path, shop, *(f"{number}||new@example.test" for number in (1, 2, 3, 3)))
    assert run("purchase", "import", path, "--account", shop.account_id).exit_code == 0
    shown = json.loads(run("purchase", "show", shop.account_id, "Site", "3").stdout)
    assert shown["customer"]["purchaseCount"] == purchase_count(shop) == 3
