"""Create the tables, queues and topics of the data stack in moto.

CloudFormation of moto does the same, but it imports all of moto's services, which takes seconds.
"""

import json
from functools import cache
from typing import Any, Final

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models.table import Table
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import Topic
from moto.sqs.models import Queue

_REGION: Final = "eu-west-1"
_KINDS: Final = {
    "AWS::DynamoDB::Table": (Table, "TableName"),
    "AWS::SQS::Queue": (Queue, "QueueName"),
    "AWS::SNS::Topic": (Topic, "TopicName"),
}


def create_data_stack() -> None:
    """Create empty tables and queues for the stage ``test``, and the secret of the stage."""
    for resource in _resources():
        kind, name = _KINDS[resource["Type"]]
        kind.create_from_cloudformation_json(
            resource["Properties"][name], resource, DEFAULT_ACCOUNT_ID, _REGION
        )
    secretsmanager_backends[DEFAULT_ACCOUNT_ID][_REGION].create_secret(
        "feedback-test-stage-secret", "test", None, None, None, None, None, [], False
    )


@cache
def _resources() -> list[dict[str, Any]]:
    """Return the resources with the values of the stage, dead-letter queues before the others."""
    from infrastructure.deployment.data_stack import template_body

    template = json.loads(template_body())["Resources"]
    resources = [_resolved(r, template) for r in template.values() if r["Type"] in _KINDS]
    return sorted(resources, key=lambda resource: "RedrivePolicy" in resource["Properties"])


def _resolved(value: Any, template: dict[str, Any]) -> Any:
    """Replace CloudFormation's functions in a value by their results for the stage ``test``."""
    match value:
        case {"Fn::Sub": text}:
            return text.replace("${Stage}", "test")
        case {"Fn::If": [_, _, otherwise]}:
            return _resolved(otherwise, template)
        case {"Fn::GetAtt": [resource, "Arn"]}:
            properties = template[resource]["Properties"]
            name = _resolved(properties.get("QueueName", resource), template)
            service = template[resource]["Type"].split("::")[1].lower()
            return f"arn:aws:{service}:{_REGION}:{DEFAULT_ACCOUNT_ID}:{name}"
        case dict():
            return {name: _resolved(member, template) for name, member in value.items()}
        case list():
            return [_resolved(member, template) for member in value]
    return value
