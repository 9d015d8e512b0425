"""Tests of the commands ``support-email`` and ``mail-sender``."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult, EmptyResult
from moto.ses.models import ses_backends
from moto.ses.responses import EmailResponse

from admin.outbound import mail_domains
from admin.services.definitions.kinds import SURVEY, save
from admin.storage.mail_domains import MailDomainRow
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.ids import new_id
from chalicelib.storage.forms import surveys
from tests.admin.command import new_account, run
from tests.aws.faults import before_request
from tests.domain.forms.factories import survey
from tests.moto_ses import SET_HEADERS

pytestmark = pytest.mark.usefixtures("cloud")
TOPIC = f"arn:aws:sns:eu-west-1:{DEFAULT_ACCOUNT_ID}:feedback-test-message-events"
ADDRESS = "help@Shop.example"


@pytest.fixture(autouse=True)
def free_domain() -> Iterator[None]:
    """Let the account of each test use the same domain."""
    yield
    MailDomainRow("shop.example").delete()


@pytest.fixture
def headers_enabled(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Return the identities and kinds of events whose notifications contain the headers."""
    enabled = set()

    def enable(request: EmailResponse) -> ActionResult:
        assert request._get_bool_param("Enabled")
        enabled.add((request._get_param("Identity"), request._get_param("NotificationType")))
        return EmptyResult()

    monkeypatch.setattr(EmailResponse, SET_HEADERS, enable)
    return enabled


def add_survey(account: str, name: str, support_email: str = "") -> str:
    extra = {"supportEmail": {"email": support_email}} if support_email else {}
    saved = save(SURVEY, account, survey(id=new_id(), name=name, **extra))
    return saved.id


def load_again(account: str, survey_id: str, **support_email: Any) -> None:
    """Load the definition of a survey with another definition of its support address."""
    save(SURVEY, account, survey(id=survey_id, name="Bill", supportEmail=support_email))


def verified(survey_id: str) -> tuple[bool, bool]:
    stored = support_email_of(survey_id)
    return stored["dkimVerified"], stored["returnPathVerified"]


def support_email_of(survey_id: str) -> Any:
    stored = surveys.find(survey_id)
    assert stored
    return json.loads(stored.document)["supportEmail"]


def set_state(monkeypatch: pytest.MonkeyPatch, dkim: str, mail_from: str) -> None:
    """Make SES report these states."""
    find = mail_domains.find

    def find_with_state(domain: str) -> Any:
        found = find(domain)
        return found and replace(found, dkim_status=dkim, mail_from_status=mail_from)

    monkeypatch.setattr(mail_domains, "find", find_with_state)


def test_create_registers_domain_and_prints_records(monkeypatch: pytest.MonkeyPatch) -> None:
    set_state(monkeypatch, "Pending", "Pending")
    account = new_account()
    chosen, other = add_survey(account, "Visit"), add_survey(account, "Stay")
    using = add_survey(account, "Bill", ADDRESS)
    result = run("support-email", "create", account, ADDRESS, "--survey", chosen)
    assert result.exit_code == 0, result.stderr
    assert "Surveys that use the address: Visit, Bill." in result.stderr
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [row[1] for row in rows] == ["CNAME", "CNAME", "CNAME", "MX", "TXT"]
    assert all(row[0].endswith("._domainkey.shop.example") for row in rows[:3])
    assert rows[3][0] == rows[4][0] == "bounce.shop.example"
    assert support_email_of(other) is None
    for survey_id in (chosen, using):
        stored = support_email_of(survey_id)
        assert (stored["email"], stored["domain"]) == (ADDRESS, "shop.example")
        assert stored["externalDnsConfig"]["dkim"]["host"] == "\n".join(r[0] for r in rows[:3])
        assert stored["externalDnsConfig"]["returnPath"] == {
            "host": "bounce.shop.example\nbounce.shop.example",
            "type": "MX\nTXT",
            "value": "10 feedback-smtp.eu-west-1.amazonses.com\nv=spf1 include:amazonses.com ~all",
        }
        assert (stored["dkimVerified"], stored["returnPathVerified"]) == (False, False)


def test_create_routes_bounces_and_complaints_with_headers_to_topic(
    headers_enabled: set[tuple[str, str]],
) -> None:
    with counted_calls() as calls:
        assert run("mail-sender", "create", "surveys@send.example").exit_code == 0
    assert sum(calls.values()) == 10
    backend = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"]
    assert backend.sns_topics["send.example"] == {
        "Bounce": TOPIC,
        "Complaint": TOPIC,
        "feedback_forwarding_enabled": False,
    }
    assert headers_enabled == {("send.example", "Bounce"), ("send.example", "Complaint")}


def test_check_stores_state_in_surveys_that_use_address(monkeypatch: pytest.MonkeyPatch) -> None:
    account = new_account()
    using = add_survey(account, "Bill", ADDRESS)
    assert run("support-email", "check", account, "help@unknown.example").exit_code == 1
    set_state(monkeypatch, "Pending", "Pending")
    run("support-email", "create", account, ADDRESS)
    listed = run("support-email", "list", account).stdout
    assert "the service's sender" in listed
    set_state(monkeypatch, "Success", "Success")
    result = run("support-email", "check", account, ADDRESS)
    assert result.exit_code == 0, result.stderr
    assert "Surveys that use the address: Bill." in result.stderr
    stored = support_email_of(using)
    assert (stored["dkimVerified"], stored["returnPathVerified"]) == (True, True)
    listed = run("support-email", "list", account).stdout
    assert "not verified" not in listed
    assert ADDRESS in listed
    set_state(monkeypatch, "Failed", "Success")
    run("support-email", "check", account, ADDRESS)
    assert support_email_of(using)["dkimVerified"] is False


def test_unchanged_state_changes_no_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    account = new_account()
    using = add_survey(account, "Bill", ADDRESS)
    set_state(monkeypatch, "Success", "Success")
    run("support-email", "create", account, ADDRESS)
    before = support_email_of(using)
    run("support-email", "check", account, ADDRESS)
    assert support_email_of(using) == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("create", new_id(), ADDRESS), 1, "There is no account"),
        (("check", new_id(), ADDRESS), 1, "There is no account"),
        (("list", new_id()), 1, "There is no account"),
        (("create", new_id(), "no address"), 2, "Must be an e-mail address."),
        (("create", "x", ADDRESS), 2, "Must be a UUID"),
    ],
)
def test_invalid_input_is_reported_in_one_line(
    arguments: tuple[str, ...], status: int, message: str
) -> None:
    result = run("support-email", *arguments)
    assert result.exit_code == status
    assert message in result.stderr


def test_survey_of_another_account_is_unknown() -> None:
    foreign = add_survey(new_account(), "Foreign")
    result = run("support-email", "create", new_account(), ADDRESS, "--survey", foreign)
    assert result.exit_code == 1
    assert "There is no survey with this id." in result.stderr
    assert support_email_of(foreign) is None


def test_flags_in_definition_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    account = new_account()
    using = add_survey(account, "Bill", ADDRESS)
    flags = {"dkimVerified": True, "returnPathVerified": True}
    load_again(account, using, email=ADDRESS, **flags)
    assert verified(using) == (False, False)
    set_state(monkeypatch, "Success", "Success")
    run("support-email", "create", account, ADDRESS)
    load_again(account, using, email=ADDRESS, dkimVerified=False)
    assert verified(using) == (True, True)
    load_again(account, using, email="help@other.example", **flags)
    assert verified(using) == (False, False)


@pytest.mark.parametrize(
    ("domain", "status"),
    [
        ("shop.example", 1),
        ("SHOP.example", 1),
        ("mail.shop.example", 1),
        ("a.mail.shop.example", 1),
        ("myshop.example", 0),
        ("hop.example", 0),
    ],
)
def test_domain_and_its_subdomains_belong_to_one_account(domain: str, status: int) -> None:
    first, second = new_account(), new_account()
    for owner, owned, other, wanted in (
        (first, "shop.example", second, domain),
        (second, domain, first, "shop.example"),
    ):
        assert run("support-email", "create", owner, f"help@{owned}").exit_code == 0
        result = run("support-email", "create", other, f"help@{wanted}")
        assert result.exit_code == status
        assert (f"belongs to account {owner}" in result.stderr) == bool(status)
        for account, used in ((owner, owned), (other, wanted)):
            assert run("support-email", "release", account, f"help@{used}").exit_code == 0


def test_sibling_domains_can_belong_to_several_accounts() -> None:
    for name in ("a", "b", "c"):
        address = f"help@{name}.shop.example"
        assert run("support-email", "create", new_account(), address).exit_code == 0


def test_account_can_use_subdomain_of_its_domain() -> None:
    account = new_account()
    for domain in ("shop.example", "mail.shop.example", "shop.example"):
        assert run("support-email", "create", account, f"help@{domain}").exit_code == 0


def test_concurrent_claims_of_domain_and_subdomain_leave_one_owner() -> None:
    first, second = new_account(), new_account()
    results = []

    def claim_subdomain() -> None:
        results.append(run("support-email", "create", second, "help@mail.shop.example"))

    with before_request("UpdateItem", claim_subdomain):
        results.append(run("support-email", "create", first, ADDRESS))
    assert [result.exit_code for result in results] == [0, 1]
    assert f"belongs to account {second}" in results[1].stderr


def test_check_stops_account_from_sending_from_domain_of_another_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_state(monkeypatch, "Success", "Success")
    owner, other = new_account(), new_account()
    own, using = add_survey(owner, "Bill", ADDRESS), add_survey(other, "Visit", ADDRESS)
    run("support-email", "create", other, ADDRESS)
    MailDomainRow("shop.example").delete()
    assert run("support-email", "check", owner, ADDRESS).exit_code == 0
    result = run("support-email", "check", other, ADDRESS)
    assert result.exit_code == 1
    assert f"The domain shop.example belongs to account {owner}." in result.stderr
    assert (verified(own), verified(using)) == ((True, True), (False, False))


def test_released_domain_can_belong_to_another_account(monkeypatch: pytest.MonkeyPatch) -> None:
    set_state(monkeypatch, "Success", "Success")
    owner, other = new_account(), new_account()
    using = add_survey(owner, "Bill", ADDRESS)
    run("support-email", "create", owner, ADDRESS)
    assert run("support-email", "release", other, ADDRESS).exit_code == 0
    assert run("support-email", "create", other, ADDRESS).exit_code == 1
    for _ in range(2):
        result = run("support-email", "release", owner, ADDRESS)
        assert result.exit_code == 0
        assert "Released shop.example. Updated surveys: Bill." in result.stderr
        assert verified(using) == (False, False)
    assert run("support-email", "create", other, ADDRESS).exit_code == 0
