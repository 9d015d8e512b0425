"""Test the set-up of a domain, from the request of the certificate to links with the domain.

Moto does not support domains of API Gateway in CloudFormation, so these tests replace the stack.
"""

import re
import urllib.request
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.acm.models import acm_backends
from moto.core import DEFAULT_ACCOUNT_ID

from infrastructure.deployment import data_stack, deploy, domain_stack, public_base_url, stacks
from infrastructure.deployment.domain_stack import Progress, Record, parse_domain

DOMAIN = "feedback.example.com"
TARGET = "d-abc.execute-api.eu-west-1.amazonaws.com"
GATEWAY = "https://api.execute-api.eu-west-1.amazonaws.com/dev"


@pytest.fixture(autouse=True)
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Mapping[str, str | None]]]:
    """Return the parameters of the deployments of the stack."""
    deployments: list[Mapping[str, str | None]] = []

    def deploy(
        name: str, _: str, *, template: str, parameters: Mapping[str, str | None], role: str | None
    ) -> str:
        assert name == "feedback-dev-domain"
        assert template == domain_stack.TEMPLATE.read_text()
        deployments.append(parameters)
        return "created"

    monkeypatch.setattr(stacks, "deploy", deploy)
    monkeypatch.setattr(stacks, "is_current", lambda *_: False)
    monkeypatch.setattr(stacks, "outputs", lambda _: {"Target": TARGET})
    monkeypatch.setattr(urllib.request, "urlopen", no_response)
    with mock_aws():
        yield deployments


def no_response(*_: Any, **__: Any) -> Any:
    raise OSError("no such host")


def set_up(*, is_in_use: bool = False) -> Progress:
    return domain_stack.deploy("dev", DOMAIN, "api", is_in_use=is_in_use)


def certificates() -> list[Any]:
    return list(acm_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"]._certificates.values())


def issue_certificate() -> None:
    (certificate,) = certificates()
    certificate.status = "ISSUED"


def create_zone(name: str, *, is_private: bool = False) -> str:
    zone = boto3.client("route53").create_hosted_zone(
        Name=name,
        CallerReference=name + str(is_private),
        HostedZoneConfig={"PrivateZone": is_private},
        **({"VPC": {"VPCRegion": "eu-west-1", "VPCId": "vpc-1"}} if is_private else {}),
    )
    return str(zone["HostedZone"]["Id"]).rpartition("/")[2]


def test_records_of_certificate_are_returned_until_it_is_issued(deployed: list[Any]) -> None:
    first, second = set_up(), set_up()
    assert first == second
    (record,) = first.missing
    assert str(record).startswith("_")
    assert f"{DOMAIN} CNAME _" in str(record)
    assert not first.is_served
    assert len(certificates()) == 1
    assert deployed == []


def test_stack_is_deployed_when_certificate_is_issued(deployed: list[Any]) -> None:
    set_up()
    issue_certificate()
    progress = set_up()
    (parameters,) = deployed
    assert parameters == {
        "Domain": DOMAIN,
        "CertificateArn": certificates()[0].arn,
        "RestApi": "api",
        "ApiStage": "dev",
        "HostedZone": "",
    }
    assert progress.missing == [Record(DOMAIN, TARGET)]
    assert not progress.is_served


@pytest.mark.parametrize(
    ("body", "is_served"), [(b'{"openapi": "3.1.0"}', True), (b"{}", False), (b"<html>", False)]
)
def test_domain_is_served_when_service_responds(
    monkeypatch: pytest.MonkeyPatch, body: bytes, is_served: bool
) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: BytesIO(body))
    set_up()
    issue_certificate()
    assert set_up().is_served == is_served


def test_domain_in_use_stays_in_use_when_this_machine_cannot_reach_it() -> None:
    set_up()
    issue_certificate()
    assert set_up(is_in_use=True).is_served


def test_records_are_written_to_zone_in_route_53(deployed: list[Any]) -> None:
    create_zone("com")
    create_zone("example.com", is_private=True)
    zone = create_zone("example.com")
    assert set_up().missing == set_up().missing == []
    records = boto3.client("route53").list_resource_record_sets(HostedZoneId=zone)
    written = [r for r in records["ResourceRecordSets"] if r["Type"] == "CNAME"]
    (option,) = certificates()[0].describe()["Certificate"]["DomainValidationOptions"]
    assert [r["ResourceRecords"][0]["Value"].rstrip(".") for r in written] == [
        option["ResourceRecord"]["Value"].rstrip(".")
    ]
    issue_certificate()
    assert set_up().missing == []
    assert [parameters["HostedZone"] for parameters in deployed] == [zone]


@pytest.mark.parametrize("is_served", [True, False])
def test_links_use_domain_only_when_it_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_served: bool
) -> None:
    public_base_url.store("dev", GATEWAY)
    record = Record(DOMAIN, TARGET)
    progress = Progress("state", [] if is_served else [record], is_served)
    in_use: list[bool] = []

    def set_up(*_: str, is_in_use: bool, role: str | None) -> Progress:
        in_use.append(is_in_use)
        return progress

    monkeypatch.setattr(domain_stack, "deploy", set_up)
    assert deploy._is_served("dev", data_stack.Outputs(domain=DOMAIN), "api") == is_served
    public_base_url.store("dev", f"https://{DOMAIN}")
    deploy._is_served("dev", data_stack.Outputs(domain=DOMAIN), "api")
    assert in_use == [False, True]
    assert (str(record) in capsys.readouterr().out) == (not is_served)


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Feedback.Example.com.", "feedback.example.com"),
        ("no", "no"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("a" * 63 + ".example.com", "a" * 63 + ".example.com"),
    ],
)
def test_domain_is_parsed(text: str, domain: str) -> None:
    assert parse_domain(text) == domain


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example",
        "https://example.com",
        "-a.example.com",
        "a b.com",
        "münchen.de",
        "a" * 64 + ".de",
    ],
)
def test_invalid_domain_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_domain(text)


def test_template_is_checked_and_small_enough_for_a_request() -> None:
    template = domain_stack.TEMPLATE
    assert len(template.read_bytes()) < stacks.MAX_INLINE_BYTES
    assert re.search(rf"cfn-lint .*infrastructure/{template.name}", Path("Makefile").read_text())
