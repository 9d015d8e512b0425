"""Check the recipients of alarms, and the clock."""

from collections.abc import Iterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from chalicelib.domain import clock
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped

_MAX_CLOCK_SKEW: Final = timedelta(seconds=30)
_RECIPIENT: Final = "Deploy with a recipient: make deploy STAGE={stage} ALARM_EMAIL=…"
_CONFIRM: Final = "Open the confirmation e-mail and confirm the subscription."
_CLOCK: Final = "Synchronize the clock of this machine (NTP)."


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
