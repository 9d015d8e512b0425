"""Generate the IAM policies of an identity that deploys.

`make generate` writes the policies to `docs/examples`, and the table to docs/first-deployment.md.
`CALLS` contains the calls of a deployment; a test records them. CloudFormation's own calls cannot
be recorded, so `RESOURCE_TYPES` lists the actions that it needs for each resource type of the
templates, with the identity of the deployer.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "examples"
PAGE: Final = FOLDER.parent / "first-deployment.md"
_TABLE: Final = re.compile(r"\| Resource type .*\n(\|.*\n)+")

_TAGS: Final = "ListTagsForResource TagResource UntagResource"
_GATEWAY: Final = "DELETE GET PATCH POST PUT"

CALLS: Final[Mapping[str, str]] = {
    "acm": "DescribeCertificate ListCertificates RequestCertificate",
    "apigateway": f"{_GATEWAY} SetWebACL",
    "cloudformation": (
        "CreateChangeSet CreateStack DeleteChangeSet DeleteStack DescribeChangeSet"
        " DescribeStackEvents DescribeStacks UpdateStack"
    ),
    "events": "DeleteRule DescribeRule ListRuleNamesByTarget PutRule PutTargets RemoveTargets",
    "iam": (
        "CreateRole DeleteRole DeleteRolePolicy GetRole GetRolePolicy ListAttachedRolePolicies"
        " ListRolePolicies PassRole PutRolePolicy UpdateAssumeRolePolicy"
    ),
    "lambda": (
        "AddPermission CreateEventSourceMapping CreateFunction DeleteEventSourceMapping"
        " DeleteFunction DeleteFunctionConcurrency GetAccountSettings GetEventSourceMapping"
        " GetFunction GetFunctionConcurrency GetFunctionConfiguration GetPolicy"
        " ListEventSourceMappings ListFunctions ListTags PutFunctionConcurrency RemovePermission"
        " TagResource UntagResource UpdateEventSourceMapping UpdateFunctionCode"
        " UpdateFunctionConfiguration"
    ),
    "route53": "ChangeResourceRecordSets ListHostedZones",
    "s3": "CreateBucket GetObject ListBucket PutObject",
    "sqs": "GetQueueAttributes GetQueueUrl",
    "ssm": "DeleteParameter GetParameter PutParameter",
    "sts": "GetCallerIdentity",
    "wafv2": "AssociateWebACL DisassociateWebACL ListResourcesForWebACL",
}
"""The actions of the deployment's own calls by service, separated by spaces."""

RESOURCE_TYPES: Final[Mapping[str, Mapping[str, str]]] = {
    "AWS::ApiGateway::BasePathMapping": {"apigateway": _GATEWAY},
    "AWS::ApiGateway::DomainName": {"acm": "DescribeCertificate", "apigateway": _GATEWAY},
    "AWS::CloudWatch::Alarm": {"cloudwatch": f"DeleteAlarms DescribeAlarms PutMetricAlarm {_TAGS}"},
    "AWS::CloudWatch::Dashboard": {"cloudwatch": "DeleteDashboards GetDashboard PutDashboard"},
    "AWS::DynamoDB::Table": {
        "dynamodb": (
            "CreateTable DeleteTable DescribeContinuousBackups DescribeContributorInsights"
            " DescribeKinesisStreamingDestination DescribeTable DescribeTimeToLive"
            " GetResourcePolicy ListTagsOfResource TagResource UntagResource"
            " UpdateContinuousBackups UpdateTable UpdateTimeToLive"
        ),
        "kms": "CreateGrant Decrypt DescribeKey GenerateDataKey ListAliases",
    },
    "AWS::KMS::Alias": {"kms": "CreateAlias DeleteAlias ListAliases UpdateAlias"},
    "AWS::KMS::Key": {
        "kms": (
            "CreateKey DescribeKey DisableKeyRotation EnableKeyRotation GetKeyPolicy"
            " GetKeyRotationStatus ListResourceTags PutKeyPolicy ScheduleKeyDeletion TagResource"
            " UntagResource UpdateKeyDescription"
        ),
    },
    "AWS::Logs::LogGroup": {
        "logs": (
            "CreateLogGroup DeleteLogGroup DescribeIndexPolicies DescribeLogGroups"
            f" GetDataProtectionPolicy PutRetentionPolicy {_TAGS}"
        ),
    },
    "AWS::Route53::RecordSet": {
        "route53": "ChangeResourceRecordSets GetChange GetHostedZone ListResourceRecordSets",
    },
    "AWS::S3::Bucket": {
        "s3": (
            "CreateBucket DeleteBucket GetBucket* GetEncryptionConfiguration"
            " GetLifecycleConfiguration PutBucket* PutEncryptionConfiguration"
            " PutLifecycleConfiguration"
        ),
    },
    "AWS::SNS::Subscription": {
        "sns": (
            "GetSubscriptionAttributes ListSubscriptionsByTopic SetSubscriptionAttributes"
            " Subscribe Unsubscribe"
        ),
    },
    "AWS::SNS::Topic": {
        "sns": (
            "CreateTopic DeleteTopic GetDataProtectionPolicy GetTopicAttributes"
            f" ListSubscriptionsByTopic SetTopicAttributes {_TAGS}"
        ),
    },
    "AWS::SNS::TopicPolicy": {"sns": "GetTopicAttributes SetTopicAttributes"},
    "AWS::SQS::Queue": {
        "sqs": (
            "CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl ListQueueTags"
            " SetQueueAttributes TagQueue UntagQueue"
        ),
    },
    "AWS::SQS::QueuePolicy": {"sqs": "GetQueueAttributes SetQueueAttributes"},
    "AWS::SecretsManager::Secret": {
        "secretsmanager": (
            "CreateSecret DeleteSecret DescribeSecret GetRandomPassword TagResource UntagResource"
            " UpdateSecret"
        ),
    },
    "AWS::WAFv2::WebACL": {"wafv2": f"CreateWebACL DeleteWebACL GetWebACL UpdateWebACL {_TAGS}"},
}
"""The actions that CloudFormation needs, separated by spaces, by resource type and service."""

_RESOURCES: Final[Mapping[str, str]] = {
    "cloudformation": "arn:aws:cloudformation:*:*:stack/feedback-*",
    "dynamodb": "arn:aws:dynamodb:*:*:table/feedback-*",
    "events": "arn:aws:events:*:*:rule/feedback-*",
    "iam": "arn:aws:iam::*:role/feedback-*",
    "lambda": "arn:aws:lambda:*:*:function:feedback-*",
    "logs": "arn:aws:logs:*:*:log-group:/aws/lambda/feedback-*",
    "s3": "arn:aws:s3:::feedback-*",
    "secretsmanager": "arn:aws:secretsmanager:*:*:secret:feedback-*",
    "sns": "arn:aws:sns:*:*:feedback-*",
    "sqs": "arn:aws:sqs:*:*:feedback-*",
    "ssm": "arn:aws:ssm:*:*:parameter/feedback-*",
}
"""The resources of each service. The resources of other services have no names with a prefix."""

_WITHOUT_RESOURCE: Final = frozenset(
    (
        "events:ListRuleNamesByTarget lambda:CreateEventSourceMapping"
        " lambda:DeleteEventSourceMapping lambda:GetAccountSettings lambda:GetEventSourceMapping"
        " lambda:ListEventSourceMappings lambda:ListFunctions lambda:UpdateEventSourceMapping"
        " logs:DescribeIndexPolicies logs:DescribeLogGroups secretsmanager:GetRandomPassword"
        " sns:GetSubscriptionAttributes sns:SetSubscriptionAttributes sns:Unsubscribe"
    ).split()
)
"""Actions that IAM does not limit to the resources above."""


def policies() -> dict[str, dict[str, Any]]:
    """Return the two policies by file name: the deployment's calls, and CloudFormation's calls."""
    return {
        "deployer-policy.json": _policy([CALLS]),
        "deployer-resources-policy.json": _policy(RESOURCE_TYPES.values()),
    }


def allows(action: str) -> bool:
    """Return whether one of the policies allows an action."""
    return any(
        action in statement["Action"]
        for policy in policies().values()
        for statement in policy["Statement"]
    )


def table() -> str:
    """Return the resource types and their actions as a Markdown table."""
    rows = (
        f"| `{name}` | {', '.join(f'`{action}`' for action in _actions([by_service]))} |\n"
        for name, by_service in RESOURCE_TYPES.items()
    )
    return "| Resource type | Actions |\n|---|---|\n" + "".join(rows)


def _policy(groups: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    actions = _actions(groups)
    statements: list[dict[str, Any]] = []
    for service, resource in _RESOURCES.items():
        limited = [a for a in actions if _is_limited(a) and a.startswith(f"{service}:")]
        if service == "iam" and limited:
            limited.remove("iam:PassRole")
            statements.append(
                _allow(["iam:PassRole"], resource)
                | {"Condition": {"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}}
            )
        if limited:
            statements.append(_allow(limited, resource))
    statements.append(_allow([a for a in actions if not _is_limited(a)], "*"))
    return {"Version": "2012-10-17", "Statement": statements}


def _actions(groups: Iterable[Mapping[str, str]]) -> list[str]:
    return sorted(
        {
            f"{service}:{name}"
            for by_service in groups
            for service, names in by_service.items()
            for name in names.split()
        }
    )


def _is_limited(action: str) -> bool:
    return action.partition(":")[0] in _RESOURCES and action not in _WITHOUT_RESOURCE


def _allow(actions: list[str], resource: str) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": [resource]}


def files() -> dict[Path, str]:
    """Return the text of each policy file, and of the page with the table, by path."""
    page = _TABLE.sub(lambda _: table(), PAGE.read_text(), count=1)
    texts = {name: json.dumps(policy, indent=2) + "\n" for name, policy in policies().items()}
    return {PAGE: page, **{FOLDER / name: text for name, text in texts.items()}}
