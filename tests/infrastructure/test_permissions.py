"""What functions may do: written down once, and no more than they need."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cfnlint.decode import cfn_yaml

from infrastructure import permissions
from infrastructure.deployment import data_stack
from infrastructure.deployment.code_package import PROJECT

EVERY_POLICY = [(f, s) for f in permissions.FUNCTIONS for s in permissions.STAGES]


def statements(function: str, stage: str) -> list[dict[str, Any]]:
    found: Any = permissions.policy(function, stage)["Statement"]
    return list(found)


def configured_functions(stage: str) -> dict[str, dict[str, Any]]:
    config = json.loads((PROJECT / ".chalice" / "config.json").read_text())
    functions: dict[str, dict[str, Any]] = config["stages"][stage]["lambda_functions"]
    return functions


@pytest.mark.parametrize(("function", "stage"), EVERY_POLICY)
def test_policy_file_is_what_the_source_says(function: str, stage: str) -> None:
    written = permissions.policy_file(function, stage).read_text()
    assert written == permissions.policy_text(function, stage), "run make policies"


def test_there_are_no_other_policy_files() -> None:
    expected = {permissions.policy_file(f, s).name for f, s in EVERY_POLICY}
    assert {path.name for path in permissions.POLICIES.iterdir()} == expected


@pytest.mark.parametrize(("function", "stage"), EVERY_POLICY)
def test_no_action_is_a_wildcard(function: str, stage: str) -> None:
    actions = [action for s in statements(function, stage) for action in s["Action"]]
    assert actions
    assert not [action for action in actions if "*" in action]


@pytest.mark.parametrize(("function", "stage"), EVERY_POLICY)
def test_every_resource_is_one_of_the_stage(function: str, stage: str) -> None:
    named = re.compile(
        rf"arn:aws:(dynamodb:\*:\*:table/|sqs:\*:\*:)feedback-{stage}-[a-z.-]+(/index/[a-z_]+)?"
        rf"|arn:aws:logs:\*:\*:log-group:/aws/lambda/feedback-{stage}(-\*)?:\*"
    )
    resources = [resource for s in statements(function, stage) for resource in s["Resource"]]
    assert not [resource for resource in resources if not named.fullmatch(resource)]


@pytest.mark.parametrize("function", permissions.FUNCTIONS)
def test_every_table_index_and_queue_that_is_named_exists(function: str) -> None:
    resources = cfn_yaml.load(str(data_stack.TEMPLATE))["Resources"].values()
    prefix = "feedback-${Stage}-"
    known = set()
    for properties in (resource["Properties"] for resource in resources):
        name = properties.get("TableName") or properties.get("QueueName")
        if name is None:
            continue
        known.add(name["Fn::Sub"].removeprefix(prefix))
        for index in properties.get("GlobalSecondaryIndexes", []):
            known.add(f"{name['Fn::Sub'].removeprefix(prefix)}/{index['IndexName']}")
    granted = permissions.FUNCTIONS[function]
    assert not {*granted.tables, *granted.queues} - known


@pytest.mark.parametrize("stage", permissions.STAGES)
def test_every_configured_function_has_its_own_policy(stage: str) -> None:
    functions = configured_functions(stage)
    assert set(functions) == set(permissions.FUNCTIONS)
    for function, settings in functions.items():
        path = PROJECT / ".chalice" / settings["iam_policy_file"]
        assert path == permissions.policy_file(function, stage)
        assert settings["lambda_timeout"] > 0
        assert settings["lambda_memory_size"] > 0


def test_only_the_emulator_is_asked_for_actions_that_aws_does_not_have() -> None:
    for stage in ("dev", "prod"):
        text = "".join(permissions.policy_text(f, stage) for f in permissions.FUNCTIONS)
        assert "MessageBatch" not in text


def test_policies_of_functions_that_are_no_more_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "POLICIES", tmp_path)
    (tmp_path / "dev-gone.json").write_text("{}")
    permissions.write_policies()
    assert {path.name for path in tmp_path.iterdir()} == {f"{s}-{f}.json" for f, s in EVERY_POLICY}
