"""Check that bounces and complaints reach the service: from SES through a topic to the queue."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from admin.domain.mail_domain import domain_of
from chalicelib.domain.paging import in_groups
from chalicelib.queues import MESSAGE_EVENTS
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped, differences

SENDER: Final = "MAIL_SENDER"
"""The environment variable of a stage that contains the sender's address."""
_EVENTS: Final = ("Bounce", "Complaint")
_TOPIC_OF_ANY_STAGE: Final = re.compile(r"feedback-[a-z0-9]+-message-events")
_MAX_IDENTITIES: Final = 100
"""The maximum number of identities in one request to SES."""

_POLICY: Final = (
    "Set the policy of the template (infrastructure/data.yaml), or detect the drift of the data"
    " stack in CloudFormation and correct it."
)
_RAW: Final = (
    "Run: aws sns set-subscription-attributes --attribute-name RawMessageDelivery"
    " --attribute-value true --subscription-arn {arn}"
)
_REGISTER: Final = (
    "Run: bin/feedback-admin mail-sender create ADDRESS (for a support address: support-email"
    " create). If the identity is an address, set its topics in Amazon SES."
)


def check_topic(deployed: DeployedStage) -> Iterator[Problem]:
    """Check the topic of bounces and complaints, its policy, and its subscription."""
    name = deployed.resource_name(MESSAGE_EVENTS.name)
    arn = deployed.topics.get(name)
    if arn is None:
        yield Problem(name, "The topic does not exist.", deployed.deploy_fix)
        return
    topic = deployed.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
    queue = _queue_attributes(deployed, name)
    for kind, policy_type, attributes in (
        ("topic", "AWS::SNS::TopicPolicy", topic),
        ("queue", "AWS::SQS::QueuePolicy", queue),
    ):
        actual = _statements(attributes.get("Policy", "{}"), account_id=arn.split(":")[4])
        for policy in deployed.template.of_type(policy_type):
            for statement in policy["PolicyDocument"]["Statement"]:
                if statement not in actual:
                    service = statement["Principal"]["Service"]
                    detail = f"The policy does not allow {service} {statement['Action']}."
                    yield Problem(f"{kind} {name}", detail, _POLICY)
    yield from _subscription_problems(deployed, name, arn)


def _queue_attributes(deployed: DeployedStage, name: str) -> dict[str, str]:
    sqs = deployed.client("sqs")
    try:
        url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    except sqs.exceptions.QueueDoesNotExist:
        return {}
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])
    return dict(attributes.get("Attributes", {}))


def _subscription_problems(deployed: DeployedStage, name: str, arn: str) -> Iterator[Problem]:
    sns = deployed.client("sns")
    subscriptions = [
        subscription["SubscriptionArn"]
        for subscription in deployed.listed(
            "sns", "list_subscriptions_by_topic", "Subscriptions", TopicArn=arn
        )
        if subscription["Protocol"] == "sqs" and _name(subscription["Endpoint"]) == name
    ]
    if not subscriptions:
        yield Problem(
            name, "The topic does not send its messages to the queue.", deployed.deploy_fix
        )
    for subscription in subscriptions:
        actual = sns.get_subscription_attributes(SubscriptionArn=subscription)["Attributes"]
        expected = {"RawMessageDelivery": "true"}
        yield from differences(name, expected, actual, _RAW.format(arn=subscription))


def check_notifications(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that SES publishes the bounces and complaints of the service's senders to the topic."""
    identities, senders = sending_identities(deployed)
    topic = deployed.resource_name(MESSAGE_EVENTS.name)
    yield from notification_problems(identities, senders, topic)


def check_headers(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the notifications about the service's senders contain the e-mail's headers."""
    identities, _ = sending_identities(deployed)
    yield from header_problems(identities)


def sending_identities(deployed: DeployedStage) -> tuple[Mapping[str, Mapping[str, Any]], set[str]]:
    """Return the notification attributes of the service's identities, and the stage's senders.

    Raises:
        Skipped: no identity belongs to the service.
    """
    ses = deployed.client("ses")
    known = deployed.listed("ses", "list_identities", "Identities")
    sender = deployed.stage.environment.get(SENDER, "")
    senders = {sender, domain_of(sender)}
    identities: dict[str, Mapping[str, Any]] = {}
    for group in in_groups(known, _MAX_IDENTITIES):
        response = ses.get_identity_notification_attributes(Identities=group)
        identities |= response["NotificationAttributes"]
    return identities_of_service(identities, senders), senders


def identities_of_service(
    identities: Mapping[str, Mapping[str, Any]], senders: Collection[str]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the senders, and the identities with at least one topic of a stage.

    Other identities of the AWS account can belong to other applications.

    Raises:
        Skipped: no identity belongs to the service.
    """
    selected = {
        identity: attributes
        for identity, attributes in identities.items()
        if identity in senders
        or any(_TOPIC_OF_ANY_STAGE.fullmatch(_topic(attributes, event)) for event in _EVENTS)
    }
    if not selected:
        raise Skipped("SES has no identity of the service.")
    return selected


def notification_problems(
    identities: Mapping[str, Mapping[str, Any]], senders: Collection[str], topic: str
) -> Iterator[Problem]:
    """Yield the problems of the identities from which the service sends e-mails.

    Args:
        identities: the notification attributes of the identities.
        senders: the identities of the stage's sender. The other identities belong to support
            addresses. They can be registered by another stage, so their topic can belong to any
            stage.
        topic: the name of the stage's topic.
    """
    for identity, attributes in identities.items():
        for event in _EVENTS:
            actual = _topic(attributes, event)
            if actual == topic:
                continue
            if identity in senders or not _TOPIC_OF_ANY_STAGE.fullmatch(actual):
                detail = f"{event}Topic is {actual or None}, expected {topic}."
                yield Problem(identity, detail, _REGISTER)


def header_problems(identities: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield the identities whose notifications do not contain the headers of the e-mail.

    Without the headers, the service cannot process bounces of e-mails with an unknown outcome.

    Args:
        identities: the notification attributes of the identities.
    """
    for identity, attributes in identities.items():
        expected = {f"HeadersIn{event}NotificationsEnabled": True for event in _EVENTS}
        yield from differences(identity, expected, attributes, _REGISTER)


def _statements(policy: str, account_id: str) -> list[Any]:
    """Return the statements of a deployed policy in the format of the resolved template.

    Each ARN becomes the name of its resource, and the account's id becomes ``AWS::AccountId``.
    """

    def resolved(value: Any) -> Any:
        match value:
            case dict():
                return {name: resolved(item) for name, item in value.items() if name != "Sid"}
            case str() if value == account_id:
                return "AWS::AccountId"
            case str() if value.startswith("arn:"):
                return _name(value)
        return value

    return [resolved(statement) for statement in json.loads(policy).get("Statement", [])]


def _topic(attributes: Mapping[str, Any], event: str) -> str:
    return _name(attributes.get(f"{event}Topic", ""))


def _name(arn: str) -> str:
    return arn.rpartition(":")[2]
