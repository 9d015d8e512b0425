"""Tests of the command ``doctor`` on a healthy, a broken and an empty stage."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from chalicelib import __version__
from chalicelib.domain import clock
from chalicelib.settings import settings
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.credentials import CredentialRow
from chalicelib.storage.forms import SurveyRow
from infrastructure.doctor import backups, code, drift, monitoring, senders
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.examine import CHECKS, examine
from infrastructure.doctor.findings import Report, Skipped
from infrastructure.doctor.forms import check_forms
from infrastructure.doctor.keys import check_keys
from infrastructure.doctor.message_events import (
    check_notifications,
    header_problems,
    identities_of_service,
    notification_problems,
)
from infrastructure.doctor.senders import (
    authentication_problems,
    check_authentication,
    check_reputation,
    has_dmarc,
    reputation_problems,
    sender_problems,
)
from infrastructure.doctor.support_addresses import address_problems, check_support_addresses
from infrastructure.functions import FUNCTIONS, stage_named
from infrastructure.restore import start_writers, stop_writers
from tests.admin.command import run
from tests.domain.forms.factories import saved_survey
from tests.infrastructure.doctor.healthy_stage import (
    MESSAGE_EVENTS,
    STAGE,
    TOPIC,
    CloudFormation,
    create_stage,
)


@pytest.fixture
def _aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(boto3, "client", cache(boto3.client))
    with mock_aws():
        yield
    settings.cache_clear()


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> CloudFormation:
    """Replace CloudFormation, whose detection of drift moto does not support."""
    client, real = CloudFormation(), DeployedStage.client
    monkeypatch.setattr(drift.time, "sleep", lambda _: None)
    monkeypatch.setattr(
        DeployedStage,
        "client",
        lambda stage, name: client if name == "cloudformation" else real(stage, name),
    )
    return client


def doctor() -> tuple[int, dict[str, Any]]:
    """Run the command for the stage ``dev``. Return its exit code and its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAGE", "dev")  # restores the variable that --stage changes
        result = run("--stage", "dev", "doctor", "--json")
        settings.cache_clear()
    return result.exit_code, json.loads(result.stdout)


def break_code() -> None:
    functions = boto3.client("lambda")
    functions.update_function_configuration(
        FunctionName="feedback-dev-sweep", Runtime="python3.11", Environment={"Variables": {}}
    )
    functions.put_function_concurrency(FunctionName="feedback-dev", ReservedConcurrentExecutions=9)
    for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
        if mapping["EventSourceArn"].endswith("feedback-dev-feedback"):
            functions.update_event_source_mapping(UUID=mapping["UUID"], FunctionResponseTypes=[])
        if mapping["EventSourceArn"].endswith("feedback-dev-webhooks"):
            functions.update_event_source_mapping(
                UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": 2}
            )
    gateway = boto3.client("apigateway")
    (api,) = gateway.get_rest_apis()["items"]
    gateway.update_stage(
        restApiId=api["id"],
        stageName="dev",
        patchOperations=[{"op": "replace", "path": "/*/*/throttling/rateLimit", "value": "9"}],
    )


def break_recipients() -> None:
    sns = boto3.client("sns")
    subscriptions = sns.list_subscriptions()["Subscriptions"]
    (recipient,) = [each for each in subscriptions if each["Protocol"] == "email"]
    sns.unsubscribe(SubscriptionArn=recipient["SubscriptionArn"])


def break_templates(cloudformation: CloudFormation) -> None:
    timeout = {"PropertyPath": "/Timeout", "ActualValue": "3", "ExpectedValue": "50"}
    cloudformation.states["feedback-dev-domain"] = "UPDATE_ROLLBACK_FAILED"
    cloudformation.drifts = {
        "feedback-dev-data": [
            {
                "LogicalResourceId": "ApiErrorsAlarm",
                "PhysicalResourceId": "feedback-dev-api-errors",
                "StackResourceDriftStatus": "DELETED",
            }
        ],
        "feedback-dev-code": [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": f"feedback-dev-{name}",
                "StackResourceDriftStatus": "MODIFIED",
                "PropertyDifferences": [timeout | {"DifferenceType": "NOT_EQUAL"}],
            }
            for name in ("sweep", "send_webhook")
        ],
    }


def break_message_events() -> None:
    sns, sqs = boto3.client("sns"), boto3.client("sqs")
    (subscription,) = sns.list_subscriptions()["Subscriptions"]
    sns.set_subscription_attributes(
        SubscriptionArn=subscription["SubscriptionArn"],
        AttributeName="RawMessageDelivery",
        AttributeValue="false",
    )
    policy = json.dumps({"Version": "2012-10-17", "Statement": []})
    sns.set_topic_attributes(
        TopicArn=subscription["TopicArn"], AttributeName="Policy", AttributeValue=policy
    )
    url = sqs.get_queue_url(QueueName=MESSAGE_EVENTS)["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    sns.set_sms_attributes(attributes={"DeliveryStatusIAMRole": ""})


BROKEN = {
    "drift": {
        ("feedback-dev-api-errors", "The resource was deleted."),
        ("feedback-dev-sweep", "Timeout is 3, expected 50."),
        ("feedback-dev-send_webhook", "Timeout is 3, expected 50."),
        ("feedback-dev-domain", "The state of the stack is UPDATE_ROLLBACK_FAILED."),
    },
    "functions": {
        ("feedback-dev", "ReservedConcurrentExecutions is 9, expected None."),
        ("feedback-dev-sweep", "Runtime is python3.11, expected python3.13."),
        ("feedback-dev-sweep", "STAGE is None, expected dev."),
        ("feedback-dev-sweep", f"VERSION is None, expected {__version__}."),
    },
    "event sources": {
        (
            "feedback-dev-feedback",
            "FunctionResponseTypes is [], expected ['ReportBatchItemFailures'].",
        ),
        ("feedback-dev-webhooks", "MaximumConcurrency is 2, expected 50."),
    },
    "gateway limits": {
        ("gateway stage dev, */*", "throttlingRateLimit is 9.0, expected 100."),
    },
    "alarm recipients": {(TOPIC, "No address receives the alarms.")},
    "message events": {
        (MESSAGE_EVENTS, "RawMessageDelivery is false, expected true."),
        (
            f"topic {MESSAGE_EVENTS}",
            "The policy does not allow ses.amazonaws.com sns:Publish.",
        ),
        (
            f"queue {MESSAGE_EVENTS}",
            "The policy does not allow sns.amazonaws.com sqs:SendMessage.",
        ),
    },
    "text messages": {
        (
            "Amazon SNS",
            "The delivery status of text messages is not logged: DeliveryStatusIAMRole is not set.",
        )
    },
}
"""The problems of a stage after the functions above have broken it, by check."""


@pytest.mark.usefixtures("_aws")
def test_doctor_passes_healthy_stage_and_finds_each_problem_of_broken_stage(
    cloudformation: CloudFormation,
) -> None:
    create_stage()
    exit_code, healthy = doctor()
    assert healthy["problems"] == {}
    assert healthy["skipped"] == {
        "senders": "The stage has no sender.",
        "notifications": "SES has no identity of the service.",
        "notification headers": "SES has no identity of the service.",
        "authentication": "SES has no identity of the service.",
        "reputation": "SES measured no rates in the last 24 hours.",
    }
    assert len(healthy["passed"]) == len(CHECKS) - 5
    assert exit_code == 0

    break_code()
    break_recipients()
    break_templates(cloudformation)
    break_message_events()
    exit_code, broken = doctor()
    assert exit_code == 1
    problems = broken["problems"]
    assert {
        check: {(problem["resource"], problem["detail"]) for problem in found}
        for check, found in problems.items()
    } == BROKEN
    assert all(problem["fix"] for found in problems.values() for problem in found)


@pytest.mark.parametrize(
    ("stage", "command"), [("local", "make up"), ("dev", "make deploy STAGE=dev.")]
)
def test_fix_contains_command_that_deploys_stage(stage: str, command: str) -> None:
    fix = DeployedStage(stage_named(stage)).deploy_fix
    assert command in fix
    assert ("make deploy" in fix) == (stage != "local")


@pytest.mark.usefixtures("_aws", "cloudformation")
def test_fix_of_stopped_stage_is_to_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    create_stage()
    monkeypatch.setattr(time, "sleep", lambda _: None)
    stop_writers(STAGE.name)
    report = examine(STAGE)
    found = [*report.problems["event sources"], *report.problems["functions"]]
    queues = sum(function.queue is not None for function in FUNCTIONS)
    assert len(found) == queues + 2, "each queue, the API and the sweeper"
    assert {problem.fix for problem in found} == {
        "If the stage was stopped, run: bin/feedback-admin --stage dev stage start."
    }
    start_writers(STAGE.name)
    assert examine(STAGE).problem_count == 0


@pytest.mark.usefixtures("_aws")
def test_no_check_passes_without_resources() -> None:
    report = examine(STAGE)
    assert report.passed == ["clock"]
    assert report.skipped["forms"] == "The resources to check do not exist."
    assert [problem.resource for problem in report.problems["drift"]] == [
        "feedback-dev-data",
        "feedback-dev-code",
    ]
    assert len(report.problems["functions"]) == len(FUNCTIONS)


@pytest.mark.usefixtures("_aws")
def test_doctor_prints_problem_with_fix_and_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "dev")
    result = run("--stage", "dev", "doctor")
    assert result.exit_code == 1
    assert "functions: feedback-dev: Does not exist.\n  Fix: Deploy the" in result.stdout
    assert f"\nStage dev, version {__version__}: 1 checks passed, " in result.stdout


def test_stage_outside_manifest_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    result = run("--stage", "unknown", "doctor")
    settings.cache_clear()
    assert result.exit_code == 2
    assert "has no stage 'unknown'" in result.stderr


def examine_with_errors(monkeypatch: pytest.MonkeyPatch) -> Report:
    """Run the check of the functions while Lambda denies access."""

    def deny(_: DeployedStage) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListFunctions")

    only = next(check for check in CHECKS if check.find is code.check_functions)
    monkeypatch.setattr(DeployedStage, "functions", property(deny))
    monkeypatch.setattr("infrastructure.doctor.examine.CHECKS", (only,))
    return examine(STAGE)


def test_check_without_permission_is_reported_as_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    report = examine_with_errors(monkeypatch)
    assert "AccessDenied" in report.problems["functions"][0].detail
    assert report.passed == []


def test_check_that_fails_on_emulator_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    report = examine_with_errors(monkeypatch)
    assert "AccessDenied" in report.skipped["functions"]
    assert (report.passed, report.problems) == ([], {})


def test_checks_of_settings_that_emulator_drops_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    dropped = [check for check in CHECKS if not check.is_emulated]
    monkeypatch.setattr("infrastructure.doctor.examine.CHECKS", dropped)
    assert set(examine(STAGE).skipped) == {
        "notification headers",
        "authentication",
        "reputation",
        "text messages",
    }


@pytest.mark.usefixtures("_aws")
@pytest.mark.parametrize(
    ("offset_s", "is_wrong"), [(-33, True), (-27, False), (27, False), (33, True)]
)
def test_clock_that_differs_by_half_a_minute_is_reported_as_problem(
    monkeypatch: pytest.MonkeyPatch, offset_s: int, is_wrong: bool
) -> None:
    now = clock.now() + timedelta(seconds=offset_s)
    monkeypatch.setattr(clock, "now", lambda: now)
    try:
        problems = list(monitoring.check_clock(DeployedStage(STAGE)))
    except Skipped:
        pytest.fail("Moto's response contains no date.")
    assert bool(problems) is is_wrong


ACCOUNT: dict[str, Any] = {
    "ProductionAccessEnabled": True,
    "SendingEnabled": True,
    "EnforcementStatus": "HEALTHY",
    "SendQuota": {"Max24HourSend": 1000.0, "MaxSendRate": 14.0, "SentLast24Hours": 900.0},
}
VERIFIED = {"example.com": {"VerifiedForSendingStatus": True}}


@pytest.mark.parametrize(
    ("account", "identities", "details"),
    [
        ({}, VERIFIED, []),
        ({}, {}, ["Neither the address nor its domain is verified."]),
        (
            {},
            {"a@example.com": {"VerifiedForSendingStatus": False}},
            ["Neither the address nor its domain is verified."],
        ),
        ({"SendingEnabled": False}, VERIFIED, ["Sending is suspended."]),
        ({"EnforcementStatus": "SHUTDOWN"}, VERIFIED, ["Sending is suspended."]),
        ({"EnforcementStatus": "PROBATION"}, VERIFIED, ["The account is under review."]),
        (
            {"ProductionAccessEnabled": False},
            VERIFIED,
            ["The account is in the sandbox: only verified recipients, 14 messages a second."],
        ),
        (
            {"SendQuota": {**ACCOUNT["SendQuota"], "SentLast24Hours": 901.0}},
            VERIFIED,
            ["901 of 1000 messages of the last 24 hours are used, at 14 messages a second."],
        ),
        ({"SendQuota": {**ACCOUNT["SendQuota"], "Max24HourSend": -1.0}}, VERIFIED, []),
    ],
)
def test_doctor_reports_problems_of_sender(
    account: dict[str, Any], identities: dict[str, Any], details: list[str]
) -> None:
    problems = sender_problems("a@example.com", identities, {**ACCOUNT, **account})
    assert [problem.detail for problem in problems] == details


@pytest.mark.parametrize(
    ("senders", "details"),
    [
        ({("shop.example", "a"), ("mail.shop.example", "a"), ("myshop.example", "b")}, []),
        (
            {("shop.example", "a"), ("mail.shop.example", "b")},
            [
                "Account b sends from this domain, like other accounts: a.",
                "Account a sends from this domain, like other accounts: b.",
            ],
        ),
        ({("shop.example", "b")}, ["Account b sends from this domain, which belongs to a."]),
        (
            {("new.example", "a")},
            ["Account a sends from this domain, which belongs to no account."],
        ),
    ],
)
def test_doctor_reports_domains_of_several_accounts_and_of_other_owners(
    senders: set[tuple[str, str]], details: list[str]
) -> None:
    owners = {"shop.example": "a", "mail.shop.example": "a", "myshop.example": "b"}
    assert [problem.detail for problem in address_problems(senders, owners)] == details


@pytest.mark.usefixtures("_aws")
def test_doctor_reads_support_addresses_of_surveys() -> None:
    create_stage()
    dynamodb = boto3.client("dynamodb")
    for account, is_verified in (("a", True), ("b", True), ("c", False)):
        address = saved_survey(supportEmail={"email": "help@shop.example"})
        assert address.support_email
        flags = {"dkim_verified": is_verified, "return_path_verified": True}
        changed = {"support_email": address.support_email.model_copy(update=flags)}
        document = address.model_copy(update=changed).model_dump_json().encode()
        for part, content in (
            ("document", {"document": {"B": SurveyRow.document.serialize(document)}}),
            ("summary", {}),
            ("version", {"document": {"B": SurveyRow.document.serialize(b"{}")}}),
        ):
            item = {"form_id": {"S": account}, "part": {"S": part}, "account_id": {"S": account}}
            dynamodb.put_item(TableName="feedback-dev-surveys", Item={**item, **content})
    dynamodb.put_item(
        TableName="feedback-dev-mail-domains",
        Item={"last_labels": {"S": "shop.example"}, "owners": {"S": '{"shop.example": "a"}'}},
    )
    problems = list(check_support_addresses(DeployedStage(STAGE)))
    assert [problem.detail for problem in problems] == [
        "Account a sends from this domain, like other accounts: b.",
        "Account b sends from this domain, like other accounts: a.",
    ]


@pytest.mark.usefixtures("_aws")
def test_doctor_names_forms_that_cannot_be_read() -> None:
    create_stage()
    dynamodb = boto3.client("dynamodb")
    saved = saved_survey(language="en").model_dump_json().encode()
    unreadable = saved.replace(b'"language":"en"', b'"language":"later"')
    archived = unreadable.replace(b'"archived":false', b'"archived":true')
    for form_id, document in (("a", saved), ("b", unreadable), ("c", archived)):
        for part in ("document", "version"):
            content = SurveyRow.document.serialize(document)
            item = {
                "form_id": {"S": form_id},
                "part": {"S": part},
                "account_id": {"S": "account"},
                "document": {"B": content},
            }
            dynamodb.put_item(TableName="feedback-dev-surveys", Item=item)
    (problem,) = check_forms(DeployedStage(STAGE))
    assert problem.resource == "b"
    assert problem.detail == "This version cannot read the survey of the account account."
    assert problem.fix.endswith("bin/feedback-admin survey archive b")
    assert not list(check_support_addresses(DeployedStage(STAGE)))


@pytest.mark.usefixtures("_aws")
def test_doctor_names_keys_that_expire_soon_and_unused_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create_stage()
    dynamodb, now = boto3.client("dynamodb"), clock.now().replace(microsecond=0)
    monkeypatch.setattr(clock, "now", lambda: now)
    day, long_ago = timedelta(days=1), now - timedelta(days=90, milliseconds=1)

    def add(api_key: str, used_at: datetime | None = None, **values: Any) -> None:
        required = {"account_id": "account", "secret_hash": "", "label": api_key}
        times = {"created_at": long_ago} | values
        row = CredentialRow(api_key, **required, **times, permissions={"read"})
        dynamodb.put_item(TableName="feedback-dev-credentials", Item=row.serialize())
        counter = CounterRow(api_key, "last-use" if used_at else "feedback", used_at=used_at)
        dynamodb.put_item(TableName="feedback-dev-counters", Item=counter.serialize())

    add("new", created_at=now - 90 * day)
    add("unused")
    add("used", used_at=now - 90 * day)
    add("used long ago", used_at=long_ago)
    add("unused and revoked", revoked_at=now)
    add("expires soon", used_at=now, ends_at=now + 14 * day)
    add("expires later", used_at=now, ends_at=now + 14 * day + timedelta(milliseconds=1))
    add("expired", used_at=now, ends_at=now)
    assert {problem.resource: problem.detail for problem in check_keys(DeployedStage(STAGE))} == {
        name: f'The key "{name}" of the account account {detail}.'
        for name, detail in {
            "unused": "was not used for 90 days",
            "used long ago": "was not used for 90 days",
            "expires soon": f"expires on {now + 14 * day:%Y-%m-%d}",
        }.items()
    }


def topics(bounces: str, complaints: str) -> dict[str, str]:
    """Return the notification attributes of an identity with these topics."""
    return {
        f"{event}Topic": f"arn:aws:sns:eu-west-1:123456789012:{topic}"
        for event, topic in (("Bounce", bounces), ("Complaint", complaints))
        if topic
    }


@pytest.mark.parametrize(
    ("identity", "attributes", "details"),
    [
        ("example.com", topics(MESSAGE_EVENTS, MESSAGE_EVENTS), []),
        (
            "example.com",
            topics(MESSAGE_EVENTS, ""),
            [f"ComplaintTopic is None, expected {MESSAGE_EVENTS}."],
        ),
        (
            "example.com",
            topics("feedback-prod-message-events", MESSAGE_EVENTS),
            [f"BounceTopic is feedback-prod-message-events, expected {MESSAGE_EVENTS}."],
        ),
        ("shop.example", topics("feedback-prod-message-events", MESSAGE_EVENTS), []),
        (
            "shop.example",
            topics("other", MESSAGE_EVENTS),
            [f"BounceTopic is other, expected {MESSAGE_EVENTS}."],
        ),
    ],
)
def test_doctor_reports_identities_whose_bounces_do_not_reach_topic(
    identity: str, attributes: dict[str, str], details: list[str]
) -> None:
    senders = {"a@example.com", "example.com"}
    problems = notification_problems({identity: attributes}, senders, MESSAGE_EVENTS)
    assert [problem.detail for problem in problems] == details


def test_doctor_reports_identities_whose_notifications_lack_headers() -> None:
    enabled = {f"HeadersIn{event}NotificationsEnabled": True for event in ("Bounce", "Complaint")}
    lacking = enabled | {"HeadersInComplaintNotificationsEnabled": False}
    problems = header_problems({"example.com": enabled, "shop.example": lacking, "new.example": {}})
    assert [(problem.resource, problem.detail) for problem in problems] == [
        ("shop.example", "HeadersInComplaintNotificationsEnabled is False, expected True."),
        ("new.example", "HeadersInBounceNotificationsEnabled is None, expected True."),
        ("new.example", "HeadersInComplaintNotificationsEnabled is None, expected True."),
    ]


def test_identity_without_topic_of_any_stage_is_not_checked_for_notifications() -> None:
    identities = {
        "a@example.com": topics("", ""),
        "first.example": topics("feedback-prod-message-events", ""),
        "second.example": topics("other", MESSAGE_EVENTS),
        "without-topics.example": topics("", ""),
        "other.example": topics("other", "other"),
    }
    checked = identities_of_service(identities, {"a@example.com", "example.com"})
    assert set(checked) == {"a@example.com", "first.example", "second.example"}


@pytest.mark.usefixtures("_aws")
def test_return_path_of_other_application_is_not_checked_for_notifications() -> None:
    ses = boto3.client("ses")
    ses.verify_domain_identity(Domain="other.example")
    ses.set_identity_mail_from_domain(
        Identity="other.example", MailFromDomain="bounce.other.example"
    )
    with pytest.raises(Skipped):
        list(check_notifications(DeployedStage(STAGE)))


@pytest.mark.usefixtures("_aws")
def test_sender_without_topics_is_checked_for_notifications() -> None:
    boto3.client("ses").verify_domain_identity(Domain="example.com")
    stage = replace(STAGE, environment={**STAGE.environment, "MAIL_SENDER": "a@example.com"})
    found = {problem.resource for problem in check_notifications(DeployedStage(stage))}
    assert found == {"example.com"}


@pytest.mark.parametrize(
    ("dkim", "mail_from", "details"),
    [
        ({"Status": "SUCCESS", "SigningEnabled": True}, "SUCCESS", []),
        (
            {"Status": "SUCCESS", "SigningEnabled": False},
            "SUCCESS",
            ["E-mails have no DKIM signature of the domain."],
        ),
        (
            {"Status": "PENDING", "SigningEnabled": True},
            "FAILED",
            [
                "E-mails have no DKIM signature of the domain.",
                "SPF does not cover the domain: it has no return path.",
            ],
        ),
    ],
)
def test_doctor_reports_domains_whose_emails_are_not_authenticated(
    dkim: dict[str, Any], mail_from: str, details: list[str]
) -> None:
    identity = {"DkimAttributes": dkim, "MailFromAttributes": {"MailFromDomainStatus": mail_from}}
    problems = authentication_problems("shop.example", identity)
    assert [problem.detail for problem in problems] == details


DMARC = {"_dmarc.shop.example": ["v=DMARC1; p=none"], "_dmarc.other.example": ["v=spf1 -all"]}


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer DNS queries from the records above."""
    monkeypatch.setattr(senders, "_texts", lambda name: DMARC.get(name, []))


@pytest.mark.parametrize(
    ("domain", "is_found"),
    [("shop.example", True), ("a.mail.shop.example", True), ("other.example", False)],
)
def test_dmarc_record_covers_subdomains(dns: None, domain: str, is_found: bool) -> None:
    assert has_dmarc(domain) is is_found


@pytest.mark.usefixtures("_aws")
def test_doctor_checks_authentication_of_sender(dns: None) -> None:
    boto3.client("ses").verify_domain_identity(Domain="other.example")
    stage = replace(STAGE, environment={**STAGE.environment, "MAIL_SENDER": "a@other.example"})
    problems = list(check_authentication(DeployedStage(stage)))
    assert {problem.resource for problem in problems} == {"other.example"}
    assert "The domain has no DMARC record." in [problem.detail for problem in problems]


@pytest.mark.parametrize(
    ("rates", "details"),
    [
        ({"Bounce": 0.0199, "Complaint": 0.00099}, []),
        ({"Bounce": 0.02}, ["Bounce rate: 2.00% in the last 24 hours, stay below 2.0%."]),
        ({"Complaint": 0.001}, ["Complaint rate: 0.10% in the last 24 hours, stay below 0.1%."]),
    ],
)
def test_doctor_reports_high_rates(rates: dict[str, float], details: list[str]) -> None:
    assert [problem.detail for problem in reputation_problems(rates)] == details


@pytest.mark.usefixtures("_aws")
def test_doctor_reads_rates_of_last_day() -> None:
    measured_at = clock.now() - timedelta(hours=1)
    rate = {"MetricName": "Reputation.ComplaintRate", "Value": 0.004, "Timestamp": measured_at}
    boto3.client("cloudwatch").put_metric_data(Namespace="AWS/SES", MetricData=[rate])
    (problem,) = check_reputation(DeployedStage(STAGE))
    assert problem.detail.startswith("Complaint rate: 0.40%")


@pytest.mark.parametrize(
    ("name", "age", "is_reported"),
    [
        ("feedback-dev-20261120T100000Z", timedelta(days=35, minutes=1), True),
        ("feedback-dev-20261120T100000Z", timedelta(days=34, hours=23), False),
        ("feedback-dev2-20261120T100000Z", timedelta(days=36), False),
        ("feedback-dev-before-update", timedelta(days=36), False),
    ],
)
def test_doctor_reports_old_backups_of_restores(
    name: str, age: timedelta, is_reported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = {
        "TableName": "table",
        "BackupName": name,
        "BackupArn": "arn:backup",
        "BackupCreationDateTime": clock.now() - age,
    }
    deployed = DeployedStage(stage_named("dev"))
    monkeypatch.setattr(deployed, "listed", lambda *_: iter([backup]))
    problems = list(backups.check_backups(deployed))
    assert [problem.resource for problem in problems] == ["table"] * is_reported
    assert all("arn:backup" in problem.fix for problem in problems)
