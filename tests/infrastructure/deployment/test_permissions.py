"""Test the policies of an identity that deploys. `test_deploy.py` compares them with its calls."""

import json
from pathlib import Path

import pytest

from infrastructure.deployment import data_stack, domain_stack, permissions

TEMPLATES = (data_stack.TEMPLATE, domain_stack.TEMPLATE)
MAX_POLICY_CHARACTERS = 6144  # IAM's limit of a managed policy, without white space


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_resource_types_of_templates_have_actions(template: Path) -> None:
    types = {
        line.split()[1]
        for line in template.read_text().splitlines()
        if line.startswith("    Type: AWS::")
    }
    assert types
    assert types <= permissions.RESOURCE_TYPES.keys()


def test_page_contains_table() -> None:
    assert permissions.table() in permissions.PAGE.read_text()


def test_policies_are_not_larger_than_iam_allows() -> None:
    for policy in permissions.policies().values():
        compact = json.dumps(policy, separators=(",", ":"))
        assert len(compact) <= MAX_POLICY_CHARACTERS


def test_roles_are_passed_only_to_lambda() -> None:
    (statement,) = (
        statement
        for policy in permissions.policies().values()
        for statement in policy["Statement"]
        if "iam:PassRole" in statement["Action"]
    )
    assert statement["Condition"] == {
        "StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}
    }
    assert statement["Resource"] == ["arn:aws:iam::*:role/feedback-*"]
