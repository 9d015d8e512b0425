"""Test the policies of a deployment. `test_deploy.py` compares them with its calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from infrastructure.deployment import code_template, data_stack, domain_stack, permissions
from infrastructure.functions import stage_named
from tests.infrastructure.deployment.templates import package_template, transformed

MAX_POLICY_CHARACTERS = 6144  # IAM's limit of a managed policy, without white space
BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"


@pytest.mark.parametrize("template", [data_stack.TEMPLATE, domain_stack.TEMPLATE])
def test_resource_types_of_templates_have_actions(template: Path) -> None:
    types = {
        line.split()[1]
        for line in template.read_text().splitlines()
        if line.startswith("    Type: AWS::")
    }
    assert types
    assert types <= permissions.RESOURCE_TYPES.keys()


def test_resource_types_of_code_have_actions(tmp_path: Path) -> None:
    prod = stage_named("prod")
    options = code_template.Options("s3://bucket/code.zip", has_firewall=True, boundary=BOUNDARY)
    packaged = package_template(tmp_path, prod.name, prod.python)
    template = transformed(code_template.complete(packaged, prod, options))
    types = {resource["Type"] for resource in template["Resources"].values()}
    assert types <= permissions.RESOURCE_TYPES.keys()


def test_page_contains_table() -> None:
    assert permissions.table() in permissions.PAGE.read_text()


@pytest.mark.parametrize("boundary", ["", BOUNDARY])
def test_policies_are_not_larger_than_iam_allows(boundary: str) -> None:
    for policy in permissions.policies("prod", boundary).values():
        compact = json.dumps(policy, separators=(",", ":"))
        assert len(compact) <= MAX_POLICY_CHARACTERS


def test_policies_name_one_stage_where_iam_allows_it() -> None:
    unlimited = {
        action
        for policy in permissions.policies("dev").values()
        for statement in policy["Statement"]
        if statement["Resource"] == ["*"] and "Condition" not in statement
        for action in statement["Action"]
    }
    assert unlimited == {
        "acm:DescribeCertificate",
        "acm:ListCertificates",
        "acm:RequestCertificate",
        "cloudwatch:DescribeAlarms",
        "kms:CreateKey",
        "kms:ListAliases",
        "kms:TagResource",
        "lambda:GetAccountSettings",
        "lambda:ListTags",
        "lambda:TagResource",
        "lambda:UntagResource",
        "logs:DescribeIndexPolicies",
        "logs:DescribeLogGroups",
        "route53:ChangeResourceRecordSets",
        "route53:GetChange",
        "route53:GetHostedZone",
        "route53:ListHostedZones",
        "route53:ListResourceRecordSets",
        "secretsmanager:GetRandomPassword",
        "sns:GetSubscriptionAttributes",
        "sns:SetSubscriptionAttributes",
        "sns:Unsubscribe",
        "sts:GetCallerIdentity",
    }
    text = json.dumps(permissions.policies("dev"))
    assert "feedback-*" not in text
    assert "{stage}" not in text
    assert "prod" not in text


def passed_roles(policy: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [
        (statement["Resource"], statement["Condition"]["StringEquals"]["iam:PassedToService"])
        for statement in policy["Statement"]
        if "iam:PassRole" in statement["Action"]
    ]


def test_roles_of_stage_are_passed_only_to_one_service() -> None:
    deployer, cloudformation = permissions.policies("dev").values()
    role = "arn:aws:iam::*:role/feedback-dev-cloudformation"
    assert passed_roles(deployer) == [([role], "cloudformation.amazonaws.com")]
    roles = "arn:aws:iam::*:role/feedback-dev-*"
    assert passed_roles(cloudformation) == [([roles], "lambda.amazonaws.com")]


def test_boundary_limits_roles_that_cloudformation_creates() -> None:
    policy = permissions.policies("dev", BOUNDARY)["cloudformation-policy.json"]
    (statement,) = [s for s in policy["Statement"] if "iam:CreateRole" in s["Action"]]
    assert "iam:PutRolePolicy" in statement["Action"]
    assert statement["Condition"] == {"StringEquals": {"iam:PermissionsBoundary": BOUNDARY}}
    actions = {action for s in policy["Statement"] for action in s["Action"]}
    assert "iam:DeleteRolePermissionsBoundary" not in actions


def test_command_writes_policies_of_stage(tmp_path: Path) -> None:
    assert permissions.main(["dev", str(tmp_path / "dev")]) == 0
    written = {path.name: json.loads(path.read_text()) for path in (tmp_path / "dev").iterdir()}
    assert written == permissions.policies("dev")
