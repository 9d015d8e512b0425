"""The web ACL that protects the gateway's stage, and its association with the stage."""

from typing import Any

Json = dict[str, Any]


def resources(stage: str, rest_api: str) -> Json:
    """Return the CloudFormation resources. ``rest_api`` is the logical id of the SAM API."""
    # The path contains the stage unless a custom domain is used.
    partners: Json = {
        "RegexMatchStatement": {
            "FieldToMatch": {"UriPath": {}},
            "RegexString": f"^(/{stage})?/partners/",
            "TextTransformations": [
                {"Priority": 0, "Type": "URL_DECODE"},
                {"Priority": 1, "Type": "NORMALIZE_PATH"},
            ],
        }
    }
    # All paths except /partners/, also unknown paths.
    public = {"NotStatement": {"Statement": partners}}
    by_source = {"AggregateKeyType": "IP"}
    key_header = {"Name": "x-api-key", "TextTransformations": [{"Priority": 0, "Type": "NONE"}]}
    by_key = {"AggregateKeyType": "CUSTOM_KEYS", "CustomKeys": [{"Header": key_header}]}
    reputation = {"VendorName": "AWS", "Name": "AWSManagedRulesAmazonIpReputationList"}
    rules = [
        {
            "Name": "ip-reputation",
            "OverrideAction": {"None": {}},
            "Statement": {"ManagedRuleGroupStatement": reputation},
        },
        _rate("public-rate-per-source", 1_000, by_source, public),
        # The limit per key does not apply to a sender that uses another key in each request.
        _rate("partner-rate-per-source", 300_000, by_source, partners),
        _rate("partner-rate-per-key", 300_000, by_key, partners),
    ]
    api_stage = f"/restapis/${{{rest_api}}}/stages/${{{rest_api}.Stage}}"
    return {
        "WebAcl": {
            "Type": "AWS::WAFv2::WebACL",
            "Properties": {
                "Name": f"feedback-{stage}",
                "Scope": "REGIONAL",
                "DefaultAction": {"Allow": {}},
                "VisibilityConfig": _visibility(f"feedback-{stage}"),
                "Rules": [
                    {**rule, "Priority": number, "VisibilityConfig": _visibility(str(rule["Name"]))}
                    for number, rule in enumerate(rules)
                ],
            },
        },
        "WebAclAssociation": {
            "Type": "AWS::WAFv2::WebACLAssociation",
            "Properties": {
                "WebACLArn": {"Fn::GetAtt": ["WebAcl", "Arn"]},
                "ResourceArn": {
                    "Fn::Sub": f"arn:${{AWS::Partition}}:apigateway:${{AWS::Region}}::{api_stage}"
                },
            },
        },
    }


def _rate(name: str, limit: int, aggregated: Json, requests: Json) -> Json:
    """Return a rule that blocks senders of more than ``limit`` requests in five minutes."""
    statement = {"EvaluationWindowSec": 300, "Limit": limit, "ScopeDownStatement": requests}
    return {
        "Name": name,
        "Action": {"Block": {}},
        "Statement": {"RateBasedStatement": {**aggregated, **statement}},
    }


def _visibility(metric: str) -> Json:
    # Samples of requests would contain the partners' credentials.
    return {
        "MetricName": metric,
        "CloudWatchMetricsEnabled": True,
        "SampledRequestsEnabled": False,
    }
