"""Test the rules of the web ACL. `test_packaged_template.py` tests its association."""

import re
from typing import Any, Final

import pytest

from app import app
from infrastructure.deployment import firewall

RESOURCES: Final = firewall.resources("prod", "RestAPI")


def web_acl_rules() -> dict[str, dict[str, Any]]:
    rules = RESOURCES["WebAcl"]["Properties"]["Rules"]
    return {rule["Name"]: rule["Statement"] for rule in rules}


def test_web_acl_samples_no_requests() -> None:
    web_acl = RESOURCES["WebAcl"]
    visibilities = [web_acl["Properties"], *web_acl["Properties"]["Rules"]]
    # Samples of requests contain the partners' credentials.
    assert not any(part["VisibilityConfig"]["SampledRequestsEnabled"] for part in visibilities)
    assert "ManagedRuleGroupStatement" in web_acl_rules()["ip-reputation"]


def applies(statement: dict[str, Any], path: str) -> bool:
    if "NotStatement" in statement:
        return not applies(statement["NotStatement"]["Statement"], path)
    pattern = statement["RegexMatchStatement"]["RegexString"]
    return bool(re.search(pattern, path))


def rate_limits(path: str) -> dict[str, int]:
    """Return the limits of requests to the path, by the name of the rule."""
    rate_rules = {
        name: rule["RateBasedStatement"]
        for name, rule in web_acl_rules().items()
        if "RateBasedStatement" in rule
    }
    return {
        name: rule["Limit"]
        for name, rule in rate_rules.items()
        if applies(rule["ScopeDownStatement"], path)
    }


@pytest.mark.parametrize("prefix", ["", "/prod"])
@pytest.mark.parametrize("route", [*app.routes, "/", "/unknown", "/dev/partners/customer"])
def test_firewall_limits_requests_of_each_address_to_every_path(route: str, prefix: str) -> None:
    expected = (
        {"partner-rate-per-source": 300_000, "partner-rate-per-key": 300_000}
        if route.startswith("/partners/")
        else {"public-rate-per-source": 1_000}
    )
    assert rate_limits(f"{prefix}{route}") == expected


def test_rates_are_counted_by_address_and_by_api_key() -> None:
    rules = {name: rule.get("RateBasedStatement") for name, rule in web_acl_rules().items()}
    for name in ("public-rate-per-source", "partner-rate-per-source"):
        assert rules[name]["AggregateKeyType"] == "IP"
    by_key = rules["partner-rate-per-key"]
    assert by_key["AggregateKeyType"] == "CUSTOM_KEYS"
    assert [key["Header"]["Name"] for key in by_key["CustomKeys"]] == ["x-api-key"]


def test_firewall_rules_have_different_priorities() -> None:
    rules = RESOURCES["WebAcl"]["Properties"]["Rules"]
    assert [rule["Priority"] for rule in rules] == list(range(len(rules)))
