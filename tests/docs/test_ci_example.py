"""Test the example for deployments from CI. GitHub and AWS are not part of the test."""

import json
import re
from typing import Any

import pytest
import yaml

from infrastructure.functions import STAGES
from tests.docs.blocks import ROOT

EXAMPLES = ROOT / "docs" / "examples"
JOBS: dict[str, Any] = yaml.safe_load((EXAMPLES / "deploy.yml").read_text())["jobs"]
DEPLOYED = [stage.name for stage in STAGES if not stage.is_emulated]


def commands(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_each_stage_on_aws_is_deployed_by_one_job_after_the_tests() -> None:
    assert list(JOBS) == ["test", *DEPLOYED]
    needed = [job.get("needs") for job in JOBS.values()]
    assert needed == [None, *list(JOBS)[:-1]]
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    made = [line.split()[1] for job in JOBS for line in commands(job) if line.startswith("make ")]
    assert set(made) <= targets


@pytest.mark.parametrize("stage", DEPLOYED)
def test_job_has_short_lived_credentials_of_its_environment(stage: str) -> None:
    job = JOBS[stage]
    assert job["environment"] == stage
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert job["concurrency"] == {"group": f"deploy-{stage}", "cancel-in-progress": False}
    role = "ROLE=${{ vars.CLOUDFORMATION_ROLE }}"
    assert f"make deploy STAGE={stage} {role}" in commands(stage)
    assert "ACCESS_KEY" not in json.dumps(job)


def test_actions_are_pinned_by_hash() -> None:
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_cloudformation_assumes_role_only_for_one_account() -> None:
    policy = json.loads((EXAMPLES / "cloudformation-trust-policy.json").read_text())
    (statement,) = policy["Statement"]
    assert statement["Principal"] == {"Service": "cloudformation.amazonaws.com"}
    assert list(statement["Condition"]["StringEquals"]) == ["aws:SourceAccount"]


def test_role_can_be_assumed_only_by_one_environment_of_one_repository() -> None:
    policy = json.loads((EXAMPLES / "ci-trust-policy.json").read_text())
    (statement,) = policy["Statement"]
    conditions = statement["Condition"]["StringEquals"]
    values = {key.rpartition(":")[2]: value for key, value in conditions.items()}
    assert values["aud"] == "sts.amazonaws.com"
    assert re.fullmatch(r"repo:[\w-]+/[\w-]+:environment:prod", values["sub"])
