"""Serve a stage under a domain of its operator.

The domain and its mapping to the API are a stack of their own. The certificate is not part of the
stack: CloudFormation would wait for the DNS records of the certificate for up to three days.
"""

import json
import re
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import boto3

from infrastructure.deployment import stacks
from infrastructure.deployment.data_stack import NO
from infrastructure.deployment.progress import DeploymentError

TEMPLATE: Final = Path(__file__).resolve().parent.parent / "domain.yaml"

_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])")
_RECORDS_TIMEOUT_S: Final = 60
_PAUSE_S: Final = 2
_TTL_S: Final = 300


@dataclass(frozen=True)
class Record:
    """A CNAME record that the zone of the domain must contain."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name} CNAME {self.value}"


@dataclass(frozen=True)
class Progress:
    """How far the set-up of a domain is.

    Attributes:
        state: the state in a few words.
        missing: the records that the operator must create.
        is_served: whether the API responds under the domain.
    """

    state: str
    missing: list[Record] = field(default_factory=list)
    is_served: bool = False


def parse_domain(text: str) -> str:
    """Return the domain in lower case, or `NO`.

    Raises:
        ValueError: the text is not a domain in ASCII form.
    """
    domain = text.lower().rstrip(".")
    if domain != NO and (len(domain) > 253 or not _DOMAIN.fullmatch(domain)):
        raise ValueError(text)
    return domain


def stack_name(stage: str) -> str:
    """Return the name of the domain stack of a stage."""
    return f"feedback-{stage}-domain"


def deploy(
    stage: str, domain: str, rest_api_id: str, *, is_in_use: bool, role: str | None = None
) -> Progress:
    """Continue the set-up of the domain as far as possible. Never wait for DNS records.

    Request a certificate. As soon as it is issued, deploy the stack. If the zone of the domain is
    in Route 53 of the same AWS account, write the records there.

    Args:
        is_in_use: whether links already use the domain. Then the domain is not checked again.
        role: the ARN of the role that CloudFormation assumes.

    Raises:
        DeploymentError: the certificate has no records yet, or the stack failed.
    """
    certificate = _certificate(domain)
    zone = _hosted_zone(domain)
    if certificate["Status"] != "ISSUED":
        records = _validation_records(certificate)
        if zone is None:
            return Progress("waiting for the certificate", records)
        _write(zone, records)
        return Progress("waiting for the certificate; its record is in Route 53")
    parameters = {
        "Domain": domain,
        "CertificateArn": certificate["CertificateArn"],
        "RestApi": rest_api_id,
        "ApiStage": stage,
        "HostedZone": zone or "",
    }
    name = stack_name(stage)
    content = stacks.content_hash([TEMPLATE, json.dumps(parameters)])
    if not stacks.is_current(name, content):
        stacks.deploy(
            name,
            content,
            template=TEMPLATE.read_text(),
            parameters=parameters,
            role=role,
        )
    if is_in_use or _responds(domain):
        return Progress(domain, is_served=True)
    if zone:
        return Progress(f"{domain} does not respond yet")
    target = stacks.outputs(name)["Target"]
    return Progress(f"{domain} does not respond yet", [Record(domain, target)])


def delete(stage: str) -> None:
    """Delete the domain and its mapping. Keep the certificate, whose records may still exist."""
    stacks.delete(stack_name(stage))


def _certificate(domain: str) -> dict[str, Any]:
    """Return the newest valid certificate of the domain, issued ones first. Request one if needed.

    AWS renews the certificate as long as its DNS record exists.
    """
    acm: Any = boto3.client("acm")
    pages = acm.get_paginator("list_certificates").paginate(
        CertificateStatuses=["ISSUED", "PENDING_VALIDATION"]
    )
    found: list[dict[str, Any]] = [
        acm.describe_certificate(CertificateArn=item["CertificateArn"])["Certificate"]
        for item in pages.search("CertificateSummaryList")
        if item["DomainName"] == domain
    ]
    if found:
        return max(found, key=lambda c: (c["Status"] == "ISSUED", c["CreatedAt"]))
    arn = acm.request_certificate(DomainName=domain, ValidationMethod="DNS")["CertificateArn"]
    deadline = time.monotonic() + _RECORDS_TIMEOUT_S
    while True:
        certificate: dict[str, Any] = acm.describe_certificate(CertificateArn=arn)["Certificate"]
        # AWS chooses the records some seconds after the request.
        options = certificate.get("DomainValidationOptions", [])
        if any("ResourceRecord" in o for o in options) or time.monotonic() > deadline:
            return certificate
        time.sleep(_PAUSE_S)


def _validation_records(certificate: dict[str, Any]) -> list[Record]:
    records = [
        option["ResourceRecord"]
        for option in certificate.get("DomainValidationOptions", [])
        if "ResourceRecord" in option
    ]
    if not records:
        raise DeploymentError(
            f"The certificate {certificate['CertificateArn']} has no DNS records yet. Deploy again"
            " in a minute."
        )
    return [Record(r["Name"].rstrip("."), r["Value"].rstrip(".")) for r in records]


def _hosted_zone(domain: str) -> str | None:
    """Return the id of the public zone in Route 53 that contains the domain. None if none does."""
    pages = boto3.client("route53").get_paginator("list_hosted_zones").paginate()
    zones = {
        zone["Name"].rstrip("."): zone["Id"].rpartition("/")[2]
        for page in pages
        for zone in page["HostedZones"]
        if not zone.get("Config", {}).get("PrivateZone")
    }
    labels = domain.split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next((zones[name] for name in names if name in zones), None)


def _write(zone: str, records: list[Record]) -> None:
    boto3.client("route53").change_resource_record_sets(
        HostedZoneId=zone,
        ChangeBatch={
            "Changes": [
                {
                    "Action": "UPSERT",
                    "ResourceRecordSet": {
                        "Name": record.name,
                        "Type": "CNAME",
                        "TTL": _TTL_S,
                        "ResourceRecords": [{"Value": record.value}],
                    },
                }
                for record in records
            ]
        },
    )


def _responds(domain: str) -> bool:
    """Return whether this service responds under the domain."""
    try:
        with urllib.request.urlopen(f"https://{domain}/openapi.json", timeout=10) as response:
            return "openapi" in json.load(response)
    except (OSError, ValueError):
        return False
