"""Test that a user's mistake leads to a message and an exit status, never to a traceback."""

import pytest

from tests.admin.command import new_account, run

UNKNOWN = "00000000-0000-4000-8000-000000000000"
ERROR, USAGE = 1, 2

MISTAKES = [
    ("feedbak list", USAGE, "Did you mean 'feedback'?"),
    ("status --jsn", USAGE, "--json"),
    ("feedback list", USAGE, "Missing argument 'ACCOUNT'"),
    ("feedback list 7", USAGE, "Must be a UUID"),
    ("feedback list UNKNOWN", ERROR, "There is no account with this id."),
    ("feedback list ACCOUNT --since 1899-12-31", USAGE, "from 1900 to 2999"),
    ("feedback list ACCOUNT --until 3000-01-01", USAGE, "from 1900 to 2999"),
    ("feedback list ACCOUNT --since 99999-01-01", USAGE, "from 1900 to 2999"),
    ("feedback report ACCOUNT --output no/r.html --until 0001-01-02", USAGE, "from 1900"),
    (
        "feedback report ACCOUNT --output no/r.html --since 1900-01-01",
        ERROR,
        "Cannot use no/r.html",
    ),
    ("feedback report ACCOUNT --output r.html --since 2026-11-20T10:00Z", USAGE, "Must be a date,"),
    ("feedback report ACCOUNT --output r.html --survey UNKNOWN", ERROR, "There is no survey"),
    ("feedback export ACCOUNT", USAGE, "Missing option '--output'"),
    ("feedback export ACCOUNT --output no/such/file.csv", ERROR, "Cannot use no/such/file.csv"),
    ("feedback export ACCOUNT --output a.csv --form UNKNOWN", ERROR, "There is no contact form"),
    ("feedback show UNKNOWN", ERROR, "There is no feedback with this id."),
    ("feedback delete UNKNOWN", USAGE, "Add --yes"),
    ("customer find ACCOUNT", USAGE, "Use one of --email, --phone and --name."),
    ("customer find ACCOUNT --email zoe", USAGE, "Must be an e-mail address."),
    ("customer find ACCOUNT --phone zoe", USAGE, "Must be a phone number."),
    ("customer find ACCOUNT --name=", USAGE, "Must not be empty."),
    ("customer erase --replay ACCOUNT --yes", USAGE, "Use either ACCOUNT and ID, or --replay."),
    ("customer export ACCOUNT UNKNOWN --output a.json", ERROR, "There is no customer"),
    ("customer erase ACCOUNT --yes", USAGE, "Use either ACCOUNT and ID, or --replay."),
    ("erasure list UNKNOWN", ERROR, "There is no account with this id."),
    ("erasure show 7", USAGE, "Must be 64 hexadecimal digits."),
    (f"erasure show {'0' * 64}", ERROR, "There is no erasure with this id."),
    ("account set ACCOUNT", USAGE, "Set at least one setting."),
    ("account set ACCOUNT --retention-days soon", USAGE, "Must be a number of days from 1 to"),
    (
        "account set ACCOUNT --sms-segment-price cheap",
        USAGE,
        "Must be a price from 0 to 1000, or off.",
    ),
    ("account set ACCOUNT --time-zone ../../etc/passwd", USAGE, "Must be an IANA time zone"),
    ("key issue UNKNOWN", ERROR, "There is no account with this id."),
    ("key revoke 7 --yes", ERROR, "There is no API key with this id."),
    ("form link UNKNOWN", ERROR, "There is no contact form with this id."),
    ("survey qr UNKNOWN --poster", ERROR, "There is no survey with this id."),
    ("workflow test ACCOUNT UNKNOWN", ERROR, "There is no workflow with this id."),
    ("delivery list ACCOUNT --state lost", USAGE, "Must be one of: PENDING, SUCCEEDED,"),
    ("delivery replay 7", USAGE, "Must be a UUID"),
    ("delivery replay --state succeeded", USAGE, "not sent again"),
    ("purchase show ACCOUNT Shop ORDER-1", USAGE, "'SOURCE': Must be one of: Email, Sms,"),
    ("purchase show ACCOUNT Site ORDER-1", ERROR, "There is no purchase with this id."),
    ("solicitation resend ACCOUNT Site ORDER-1", USAGE, "Add --yes"),
    ("suppression show UNKNOWN --email a@example.test", ERROR, "There is no account with"),
    ("suppression show ACCOUNT", USAGE, "Use either --email or --phone."),
    (
        "suppression lift ACCOUNT --email a@example.test --phone 0612345678 --yes",
        USAGE,
        "Use either --email or --phone.",
    ),
    ("suppression add ACCOUNT", USAGE, "Use either --email or --phone."),
    ("suppression add ACCOUNT --email nobody", USAGE, "e-mail address"),
    ("suppression lift ACCOUNT --email a@example.test", USAGE, "Add --yes"),
    ("suppression lift ACCOUNT --email a@example.test --yes", ERROR, "is not suppressed."),
    ("support-email create ACCOUNT nobody", USAGE, "Must be an e-mail address."),
    ("webhook-secret rotate ACCOUNT --yes --at noon", USAGE, "Must be a date or a date-time"),
    ("form check /no/such/file", USAGE, "'FILE': File '/no/such/file' does not exist."),
    ("work replay --since noon", USAGE, "'--since': Must be a date or a date-time from 1900"),
    ("solicitation list ACCOUNT --since noon", USAGE, "Must be a date or a date-time from 1900"),
    ("work replay", USAGE, "Provide either an id or at least one of the options."),
    ("--stage PROD status", USAGE, "Must be 2 to 16 lower-case letters and digits"),
]


@pytest.fixture(scope="module")
def account(cloud: None) -> str:
    return new_account()


@pytest.mark.parametrize(("line", "status", "message"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake_is_reported_without_traceback(
    account: str, line: str, status: int, message: str
) -> None:
    words = {"ACCOUNT": account, "UNKNOWN": UNKNOWN}
    result = run(*(words.get(word, word) for word in line.split()))
    assert result.exit_code == status
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("command", "highest"),
    [("feedback list", 1_000), ("delivery list", 1_000), ("solicitation list", 100_000)],
)
def test_limit_is_whole_number_between_its_limits(account: str, command: str, highest: int) -> None:
    arguments = (*command.split(), account, "--limit")
    for valid in ("1", str(highest)):
        assert run(*arguments, valid).exit_code == 0
    for invalid in ("0", str(highest + 1), "1.5", "x", ""):
        result = run(*arguments, invalid)
        assert result.exit_code == USAGE
        message = f"Invalid value for '--limit': Must be a whole number from 1 to {highest:,}."
        assert result.stderr.endswith(f"Error: {message}\n")
