"""Test the check of the public base URL."""

from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest
from moto import mock_aws

from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Skipped
from infrastructure.doctor.senders import check_public_address
from infrastructure.functions import stage_named

GATEWAY = "https://a1b2c3.execute-api.eu-west-1.amazonaws.com/prod"
DOMAIN = "https://feedback.example.com"


@pytest.fixture(autouse=True)
def _aws() -> Iterator[None]:
    with mock_aws():
        yield


def problems(stage: str, stored: str | None, setting: str = "") -> list[str]:
    """Return the details of the problems of a stage with this stored URL and this setting."""
    if stored:
        name = f"feedback-{stage}-public-base-url"
        boto3.client("ssm").put_parameter(Name=name, Value=stored, Type="String")
    environment = {"PUBLIC_BASE_URL": setting} if setting else {}
    deployed = DeployedStage(replace(stage_named(stage), environment=environment))
    return [problem.detail for problem in check_public_address(deployed)]


def test_address_of_gateway_in_production_is_reported() -> None:
    (detail,) = problems("prod", GATEWAY)
    assert GATEWAY in detail


@pytest.mark.parametrize(("stage", "stored"), [("prod", DOMAIN), ("dev", GATEWAY)])
def test_domain_and_gateway_of_other_stages_are_accepted(stage: str, stored: str) -> None:
    assert problems(stage, stored) == []


def test_setting_overrides_stored_address() -> None:
    assert problems("prod", GATEWAY, setting=DOMAIN) == []
    assert problems("prod", None, setting=GATEWAY)


def test_missing_address_is_reported() -> None:
    (detail,) = problems("dev", None)
    assert "No base URL" in detail


def test_address_is_read_in_region_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    boto3.client("ssm", "eu-west-3").put_parameter(
        Name="feedback-dev-public-base-url", Value=GATEWAY, Type="String"
    )
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert not list(check_public_address(DeployedStage(stage_named("dev"), "eu-west-3")))


def test_emulated_stage_is_skipped() -> None:
    with pytest.raises(Skipped):
        problems("local", GATEWAY)
