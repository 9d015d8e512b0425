"""Test the example policies of the identities that deploy. `test_deploy.py` records their calls."""

import json
from pathlib import Path

import pytest
import yaml
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from infrastructure.deployment import code_template, data_stack, domain_stack
from infrastructure.functions import stage_named
from tests.infrastructure.deployment.example_policies import FOLDER, forbidden, statements
from tests.infrastructure.deployment.templates import package_template, transformed

POLICIES = ("deployer-policy.json", "cloudformation-policy.json", "boundary-policy.json")
MAX_POLICY_CHARACTERS = 6144  # IAM's limit of a managed policy, without white space
UNLIMITED = """
acm:DescribeCertificate acm:ListCertificates acm:RequestCertificate cloudwatch:DescribeAlarms
kms:CreateKey kms:ListAliases kms:TagResource lambda:GetAccountSettings lambda:ListTags
lambda:TagResource lambda:UntagResource logs:DescribeIndexPolicies logs:DescribeLogGroups
route53:ChangeResourceRecordSets route53:GetChange route53:GetHostedZone route53:ListHostedZones
route53:ListResourceRecordSets secretsmanager:GetRandomPassword sns:GetSubscriptionAttributes
sns:SetSubscriptionAttributes sns:Unsubscribe sts:GetCallerIdentity
"""
"""Actions that IAM does not limit to the resources of a stage, or that event sources need too."""


def resource_types(folder: Path) -> set[str]:
    prod = stage_named("prod")
    options = code_template.Options("s3://bucket/code.zip", has_firewall=True, boundary="arn")
    packaged = package_template(folder, prod.name, prod.python)
    templates = (
        transformed(code_template.complete(packaged, prod, options)),
        *(yaml.safe_load(module.TEMPLATE.read_text()) for module in (data_stack, domain_stack)),
    )
    return {r["Type"] for template in templates for r in template["Resources"].values()}


def test_cloudformation_may_create_and_delete_resources_of_templates(tmp_path: Path) -> None:
    services = {
        a.partition(":")[0] for s in statements("cloudformation-policy.json") for a in s["Action"]
    }
    for name in resource_types(tmp_path):
        handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("eu-west-1", name).schema["handlers"]
        # Most permissions to create a resource concern features that the templates do not use.
        needed = {p for p in handlers["delete"]["permissions"] if p.partition(":")[0] in services}
        needed.add(handlers["create"]["permissions"][0])
        assert forbidden("cloudformation-policy.json", needed) == [], name


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_not_larger_than_iam_allows(name: str) -> None:
    policy = json.loads((FOLDER / name).read_text())
    assert len(json.dumps(policy, separators=(",", ":"))) <= MAX_POLICY_CHARACTERS


def test_policies_name_one_stage_where_iam_allows_it() -> None:
    allowing = [s for name in POLICIES for s in statements(name) if s["Effect"] == "Allow"]
    unlimited = {
        action
        for statement in allowing
        if statement["Resource"] == ["*"] and "Condition" not in statement
        for action in statement["Action"]
    }
    assert unlimited == set(UNLIMITED.split())
    assert "prod" not in json.dumps(allowing).replace("feedback-prod", "")


@pytest.mark.parametrize(
    ("name", "role", "service"),
    [
        ("deployer-policy.json", "role/feedback-prod-cloudformation", "cloudformation"),
        ("cloudformation-policy.json", "role/feedback-prod-*", "lambda"),
    ],
)
def test_roles_of_stage_are_passed_only_to_one_service(name: str, role: str, service: str) -> None:
    (statement,) = [s for s in statements(name) if "iam:PassRole" in s["Action"]]
    assert statement["Resource"] == [f"arn:aws:iam::*:{role}"]
    passed_to = {"iam:PassedToService": f"{service}.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": passed_to}


def test_boundary_limits_roles_that_cloudformation_creates() -> None:
    limit, keep = statements("boundary-policy.json")
    assert {s["Effect"] for s in (limit, keep)} == {"Deny"}
    assert {"iam:CreateRole", "iam:PutRolePolicy"} < set(limit["Action"])
    assert limit["Condition"]["StringNotEquals"].keys() == {"iam:PermissionsBoundary"}
    assert keep["Action"] == ["iam:DeleteRolePermissionsBoundary"]
