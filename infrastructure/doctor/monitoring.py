"""Check the alarms, their recipients, the log groups and the clock."""

from collections.abc import Iterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from chalicelib.domain import clock
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped, differences, missing

_MAX_CLOCK_SKEW: Final = timedelta(seconds=30)
_ALARM: Final = "Correct the alarm to match infrastructure/data.yaml."
_RECIPIENT: Final = "Deploy with a recipient: make deploy STAGE={stage} ALARM_EMAIL=…"
_CONFIRM: Final = "Open the confirmation e-mail and confirm the subscription."
_CLOCK: Final = "Synchronize the clock of this machine (NTP)."


def check_alarms(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every alarm exists, watches its metric and notifies the alarm topic."""
    expected_alarms = deployed.template.by_name("AWS::CloudWatch::Alarm", "AlarmName")
    yield from missing(expected_alarms, deployed.alarms, deployed.deploy_fix)
    for name, expected in expected_alarms.items():
        if alarm := deployed.alarms.get(name):
            wanted = {"ActionsEnabled": True, **_comparable(expected)}
            yield from differences(name, wanted, _comparable(alarm), _ALARM)


def check_recipients(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that at least one address receives the alarms."""
    if deployed.stage.is_emulated:
        raise Skipped("The stage runs on the emulator, which sends no alarms.")
    topic = deployed.resource_name("alarms")
    arn = deployed.topics.get(topic)
    if arn is None:
        yield Problem(topic, "The topic does not exist.", deployed.deploy_fix)
        return
    sns = deployed.client("sns")
    subscriptions = sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    if not subscriptions:
        fix = _RECIPIENT.format(stage=deployed.stage.name)
        yield Problem(topic, "No address receives the alarms.", fix)
    for subscription in subscriptions:
        if subscription["SubscriptionArn"] == "PendingConfirmation":
            detail = f"{subscription['Endpoint']} has not confirmed the subscription."
            yield Problem(topic, detail, _CONFIRM)


def check_logs(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every function has a log group whose lines expire."""
    prefix = f"/aws/lambda/feedback-{deployed.stage.name}"
    found = deployed.listed("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix)
    groups = {group["logGroupName"]: group for group in found}
    expected = deployed.template.by_name("AWS::Logs::LogGroup", "LogGroupName")
    yield from missing(expected, groups, deployed.deploy_fix)
    for name in expected.keys() & groups.keys():
        days = expected[name]["RetentionInDays"]
        fix = (
            f"Run: aws logs put-retention-policy --log-group-name {name} --retention-in-days {days}"
        )
        wanted = {"retentionInDays": days}
        yield from differences(name, wanted, groups[name], fix)


def check_clock(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that this machine's clock agrees with AWS."""
    response = deployed.client("sts").get_caller_identity()["ResponseMetadata"]
    date = response["HTTPHeaders"].get("date")
    if date is None:
        raise Skipped("The response contains no date.")
    skew = clock.now() - parsedate_to_datetime(date)
    if abs(skew) > _MAX_CLOCK_SKEW:
        detail = f"The clock differs from AWS by {skew.total_seconds():.0f} seconds."
        yield Problem("this machine", detail, _CLOCK)


def _comparable(alarm: dict[str, Any]) -> dict[str, Any]:
    """Return the alarm properties that have the same format in the template and in CloudWatch."""
    same = (
        "ActionsEnabled Namespace MetricName Statistic Period EvaluationPeriods Threshold"
        " ComparisonOperator TreatMissingData"
    ).split()
    properties = {name: alarm[name] for name in same if name in alarm}
    dimensions = {item["Name"]: item["Value"] for item in alarm.get("Dimensions", [])}
    actions = [action.rpartition(":")[2] for action in alarm["AlarmActions"]]
    return {**properties, "Dimensions": dimensions, "AlarmActions": actions}
