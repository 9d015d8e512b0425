"""Generate the IAM policies of a stage: of the identity that deploys, and of CloudFormation.

`make generate` writes the policies of the stage `prod` to `docs/examples`, and the table to
docs/first-deployment.md. ``python -m infrastructure.deployment.permissions dev FOLDER`` writes
those of another stage. `CALLS` contains the calls of a deployment; a test records them.
CloudFormation's own calls cannot be recorded, so `RESOURCE_TYPES` lists the actions that it needs
for each resource type of the templates.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "examples"
PAGE: Final = FOLDER.parent / "first-deployment.md"
EXAMPLE: Final = "prod"
"""The stage of the generated examples."""
_TABLE: Final = re.compile(r"\| Resource type .*\n(\|.*\n)+")

_TAGS: Final = "ListTagsForResource TagResource UntagResource"
_GATEWAY: Final = "DELETE GET PATCH POST PUT"

CALLS: Final[Mapping[str, str]] = {
    "acm": "DescribeCertificate ListCertificates RequestCertificate",
    "cloudformation": (
        "ContinueUpdateRollback CreateChangeSet CreateStack DeleteChangeSet DeleteStack"
        " DescribeChangeSet DescribeStackDriftDetectionStatus DescribeStackEvents"
        " DescribeStackResourceDrifts DescribeStacks DetectStackDrift GetTemplate UpdateStack"
    ),
    "iam": "PassRole",
    "lambda": "GetAccountSettings GetFunctionConcurrency",
    "route53": "ChangeResourceRecordSets ListHostedZones",
    "s3": "CreateBucket GetObject PutObject",
    "ssm": "DeleteParameter GetParameter PutParameter",
    "sts": "GetCallerIdentity",
}
"""The actions of the deployment's own calls by service, separated by spaces."""

RESOURCE_TYPES: Final[Mapping[str, Mapping[str, str]]] = {
    "AWS::ApiGateway::BasePathMapping": {"apigateway": _GATEWAY},
    "AWS::ApiGateway::Deployment": {"apigateway": _GATEWAY},
    "AWS::ApiGateway::DomainName": {"acm": "DescribeCertificate", "apigateway": _GATEWAY},
    "AWS::ApiGateway::RestApi": {"apigateway": _GATEWAY},
    "AWS::ApiGateway::Stage": {"apigateway": f"{_GATEWAY} SetWebACL"},
    "AWS::CloudWatch::Alarm": {"cloudwatch": f"DeleteAlarms DescribeAlarms PutMetricAlarm {_TAGS}"},
    "AWS::CloudWatch::CompositeAlarm": {
        "cloudwatch": f"DeleteAlarms DescribeAlarms PutCompositeAlarm {_TAGS}"
    },
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
    "AWS::Events::Rule": {
        "events": f"DeleteRule DescribeRule PutRule PutTargets RemoveTargets {_TAGS}",
    },
    "AWS::IAM::Role": {
        "iam": (
            "CreateRole DeleteRole DeleteRolePermissionsBoundary DeleteRolePolicy GetRole"
            " GetRolePolicy ListAttachedRolePolicies ListRolePolicies PassRole"
            " PutRolePermissionsBoundary PutRolePolicy TagRole UntagRole UpdateAssumeRolePolicy"
        ),
    },
    "AWS::KMS::Alias": {"kms": "CreateAlias DeleteAlias ListAliases UpdateAlias"},
    "AWS::KMS::Key": {
        "kms": (
            "CreateKey DescribeKey DisableKeyRotation EnableKeyRotation GetKeyPolicy"
            " GetKeyRotationStatus ListResourceTags PutKeyPolicy ScheduleKeyDeletion TagResource"
            " UntagResource UpdateKeyDescription"
        ),
    },
    "AWS::Lambda::EventSourceMapping": {
        "lambda": (
            "CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping ListTags"
            " TagResource UntagResource UpdateEventSourceMapping"
        ),
    },
    "AWS::Lambda::Function": {
        "lambda": (
            "CreateFunction DeleteFunction DeleteFunctionConcurrency GetFunction"
            " GetFunctionCodeSigningConfig GetFunctionConcurrency GetFunctionConfiguration"
            " GetFunctionRecursionConfig GetRuntimeManagementConfig ListTags"
            " PutFunctionConcurrency TagResource UntagResource UpdateFunctionCode"
            " UpdateFunctionConfiguration"
        ),
        "s3": "GetObject",
    },
    "AWS::Lambda::Permission": {"lambda": "AddPermission GetPolicy RemovePermission"},
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
    "AWS::WAFv2::WebACLAssociation": {
        "apigateway": "SetWebACL",
        "wafv2": "AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource",
    },
}
"""The actions that CloudFormation needs, separated by spaces, by resource type and service."""

_RESOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "apigateway": ("arn:aws:apigateway:*::/*",),
    "cloudformation": ("arn:aws:cloudformation:*:*:stack/feedback-{stage}-*",),
    "cloudwatch": (
        "arn:aws:cloudwatch:*:*:alarm:feedback-{stage}-*",
        "arn:aws:cloudwatch::*:dashboard/feedback-{stage}",
    ),
    "dynamodb": ("arn:aws:dynamodb:*:*:table/feedback-{stage}-*",),
    "events": ("arn:aws:events:*:*:rule/feedback-{stage}-*",),
    "iam": ("arn:aws:iam::*:role/feedback-{stage}-*",),
    "lambda": (
        "arn:aws:lambda:*:*:function:feedback-{stage}",
        "arn:aws:lambda:*:*:function:feedback-{stage}-*",
    ),
    "logs": (
        "arn:aws:logs:*:*:log-group:/aws/lambda/feedback-{stage}",
        "arn:aws:logs:*:*:log-group:/aws/lambda/feedback-{stage}:*",
        "arn:aws:logs:*:*:log-group:/aws/lambda/feedback-{stage}-*",
    ),
    "s3": ("arn:aws:s3:::feedback-{stage}-*",),
    "secretsmanager": ("arn:aws:secretsmanager:*:*:secret:feedback-{stage}-*",),
    "sns": ("arn:aws:sns:*:*:feedback-{stage}-*",),
    "sqs": ("arn:aws:sqs:*:*:feedback-{stage}-*",),
    "ssm": ("arn:aws:ssm:*:*:parameter/feedback-{stage}-*",),
    "wafv2": (
        "arn:aws:wafv2:*:*:regional/webacl/feedback-{stage}/*",
        "arn:aws:wafv2:*:*:regional/managedruleset/*",
    ),
}
"""The resources of a stage by service."""

_STACK: Final = "aws:ResourceTag/aws:cloudformation:stack-name"
"""The tag that CloudFormation gives to each resource of a stack."""

_BY_CONDITION: Final[Mapping[str, tuple[str, Mapping[str, Mapping[str, str]]]]] = {
    # The ARNs of keys and event sources contain a random id.
    "kms": (
        "CreateAlias CreateGrant Decrypt DeleteAlias DescribeKey DisableKeyRotation"
        " EnableKeyRotation GenerateDataKey GetKeyPolicy GetKeyRotationStatus ListResourceTags"
        " PutKeyPolicy ScheduleKeyDeletion UntagResource UpdateAlias UpdateKeyDescription",
        {"StringEquals": {_STACK: "feedback-{stage}-data"}},
    ),
    "lambda": (
        "CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping"
        " UpdateEventSourceMapping",
        {"ArnLike": {"lambda:FunctionArn": "arn:aws:lambda:*:*:function:feedback-{stage}-*"}},
    ),
}
"""By service: the actions that a condition limits to the stage, and the condition."""

_ALIAS: Final = ("kms:CreateAlias", "kms:DeleteAlias", "kms:UpdateAlias")

_WITHOUT_RESOURCE: Final = frozenset(
    (
        "cloudwatch:DescribeAlarms lambda:GetAccountSettings lambda:ListTags lambda:TagResource"
        " lambda:UntagResource logs:DescribeIndexPolicies logs:DescribeLogGroups"
        " secretsmanager:GetRandomPassword sns:GetSubscriptionAttributes"
        " sns:SetSubscriptionAttributes sns:Unsubscribe"
    ).split()
)
"""Actions that IAM does not limit to the resources above, or that event sources need too."""


def policies(stage: str = EXAMPLE, boundary: str = "") -> dict[str, dict[str, Any]]:
    """Return the policies of a stage by file name.

    They are the policy of the identity that deploys, and that of the role that CloudFormation
    assumes.

    Args:
        boundary: the ARN of the permissions boundary that each role of a function must have.
    """
    transform = "arn:aws:cloudformation:*:aws:transform/Serverless-2016-10-31"
    deployer = [
        *_statements([CALLS], stage),
        _allow(["cloudformation:CreateChangeSet"], [transform]),
        _pass_role(f"arn:aws:iam::*:role/feedback-{stage}-cloudformation", "cloudformation"),
    ]
    cloudformation = [
        *_statements(RESOURCE_TYPES.values(), stage, boundary),
        _allow(list(_ALIAS), [f"arn:aws:kms:*:*:alias/feedback-{stage}-secrets"]),
        _pass_role(f"arn:aws:iam::*:role/feedback-{stage}-*", "lambda"),
    ]
    return {
        "deployer-policy.json": _policy(deployer),
        "cloudformation-policy.json": _policy(cloudformation),
    }


def allows(action: str) -> bool:
    """Return whether the policy of the identity that deploys allows an action."""
    statements = policies()["deployer-policy.json"]["Statement"]
    return any(action in statement["Action"] for statement in statements)


def table() -> str:
    """Return the resource types and their actions as a Markdown table."""
    rows = (
        f"| `{name}` | {', '.join(f'`{action}`' for action in _actions([by_service]))} |\n"
        for name, by_service in RESOURCE_TYPES.items()
    )
    return "| Resource type | Actions |\n|---|---|\n" + "".join(rows)


def _policy(statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _statements(
    groups: Iterable[Mapping[str, str]], stage: str, boundary: str = ""
) -> list[dict[str, Any]]:
    remaining = set(_actions(groups)) - {"iam:PassRole"}
    statements: list[dict[str, Any]] = []

    def allow(actions: Iterable[str], resources: Iterable[str], **condition: Any) -> None:
        allowed = sorted(remaining & set(actions))
        remaining.difference_update(allowed)
        if allowed:
            named = [resource.format(stage=stage) for resource in resources]
            statements.append(_allow(allowed, named) | condition)

    for service, (names, condition) in _BY_CONDITION.items():
        named = json.loads(json.dumps(condition).replace("{stage}", stage))
        allow([f"{service}:{name}" for name in names.split()], ["*"], Condition=named)
    if boundary:
        limited = {"StringEquals": {"iam:PermissionsBoundary": boundary}}
        roles = ("iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy")
        allow(roles, _RESOURCES["iam"], Condition=limited)
        remaining.discard("iam:DeleteRolePermissionsBoundary")
    allow(_WITHOUT_RESOURCE, ["*"])
    for service, resources in _RESOURCES.items():
        allow([a for a in remaining if a.startswith(f"{service}:")], resources)
    allow(set(remaining), ["*"])
    return statements


def _actions(groups: Iterable[Mapping[str, str]]) -> list[str]:
    return sorted(
        {
            f"{service}:{name}"
            for by_service in groups
            for service, names in by_service.items()
            for name in names.split()
        }
    )


def _pass_role(role: str, service: str) -> dict[str, Any]:
    condition = {"StringEquals": {"iam:PassedToService": f"{service}.amazonaws.com"}}
    return _allow(["iam:PassRole"], [role]) | {"Condition": condition}


def _allow(actions: list[str], resources: list[str]) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources}


def files(folder: Path = FOLDER, stage: str = EXAMPLE, boundary: str = "") -> dict[Path, str]:
    """Return the text of each policy file of a stage by path."""
    return {
        folder / name: json.dumps(policy, indent=2) + "\n"
        for name, policy in policies(stage, boundary).items()
    }


def page() -> dict[Path, str]:
    """Return the text of the page with the table, by path."""
    return {PAGE: _TABLE.sub(lambda _: table(), PAGE.read_text(), count=1)}


def main(arguments: list[str]) -> int:
    """Write the policies of a stage. Return the exit status of the process."""
    parser = argparse.ArgumentParser(prog="permissions", description=main.__doc__)
    parser.add_argument("stage", help="the name of the stage")
    parser.add_argument("folder", type=Path, help="the folder for the policy files")
    parser.add_argument(
        "--boundary", default="", help="the ARN of the boundary of the functions' roles"
    )
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for path, text in files(options.folder, options.stage, options.boundary).items():
        path.write_text(text)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
