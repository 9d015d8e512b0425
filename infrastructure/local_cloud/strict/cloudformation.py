"""Add to the emulator's CloudFormation what the templates of a stage need.

These are resource types and properties that the emulator rejects or ignores, and an update of a
REST API that keeps its id. The emulator has no extension points, so this module replaces private
functions. The emulator's version is pinned.
"""

from typing import Any

from ministack.services import (  # type: ignore[import-not-found]
    apigateway_v1,
    cloudwatch,
    waf,
)
from ministack.services.cloudformation import (  # type: ignore[import-not-found]
    provisioners,
)

_REST_API = "AWS::ApiGateway::RestApi"
_RESPONSES = "x-amazon-apigateway-gateway-responses"


def support_templates() -> None:
    """Support the templates of the data stack and of the code stack."""
    _accept_alarms_on_queries()
    _keep_ids_of_rest_apis()
    provisioners._RESOURCE_HANDLERS["AWS::WAFv2::WebACLAssociation"] = {
        "create": _associate,
        "delete": _disassociate,
    }
    provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::CompositeAlarm"] = {
        "create": _put_composite_alarm,
        "delete": lambda name, _: cloudwatch._composite_alarms.pop(name, None),
    }


def _accept_alarms_on_queries() -> None:
    """Store alarms on metric queries. Their state never changes."""
    record = provisioners._cw_metric_alarm_record

    def record_alarm(name: str, properties: dict[str, Any]) -> Any:
        queries = properties.get("Metrics")
        if not queries:
            return record(name, properties)
        other = {key: value for key, value in properties.items() if key != "Metrics"}
        alarm = record(name, other | {"MetricName": "query", "Namespace": "query"})
        return alarm | {"MetricName": "", "Namespace": "", "Metrics": queries}

    provisioners._cw_metric_alarm_record = record_alarm


def _keep_ids_of_rest_apis() -> None:
    """Import a changed definition into the same REST API, with its gateway responses."""
    handlers = provisioners._RESOURCE_HANDLERS[_REST_API]
    create, update = handlers["create"], handlers["update"]

    def create_api(logical_id: str, properties: Any, stack: str) -> Any:
        api_id, attributes = create(logical_id, properties, stack)
        _put_gateway_responses(api_id, properties)
        return api_id, attributes

    def update_api(
        api_id: str, old: Any, new: Any, stack: str, logical_id: str | None = None
    ) -> Any:
        if new.get("Body") != old.get("Body"):
            imported, _ = create_api(logical_id or api_id, new, stack)
            for part in ("_resources", "_authorizers_v1", "_models", "_gateway_responses"):
                store = getattr(apigateway_v1, part)
                store[api_id] = store[imported]
            apigateway_v1._rest_apis[api_id] = apigateway_v1._rest_apis[imported] | {"id": api_id}
            apigateway_v1._delete_rest_api(imported)
        same_body = {**old, "Body": new.get("Body")}
        return update(api_id, same_body, new, stack, logical_id)

    handlers.update(create=create_api, update=update_api)


def _put_gateway_responses(api_id: str, properties: Any) -> None:
    for kind, response in properties.get("Body", {}).get(_RESPONSES, {}).items():
        apigateway_v1._put_gateway_response(api_id, kind, response)


def _put_composite_alarm(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
    """Create or replace the alarm. CloudFormation does the same for an update."""
    status, _, body = cloudwatch._put_composite_alarm({}, properties, False, True)
    if status != 200:
        raise ValueError(f"AWS::CloudWatch::CompositeAlarm create failed: {body!r}")
    name = properties["AlarmName"]
    return name, {"Arn": cloudwatch._composite_alarms[name]["AlarmArn"]}


def _associate(logical_id: str, properties: Any, stack: str) -> Any:
    status, _, body = waf._associate_web_acl(properties)
    if status != 200:
        raise ValueError(f"AWS::WAFv2::WebACLAssociation create failed: {body!r}")
    return f"{properties['ResourceArn']}|{properties['WebACLArn']}", {}


def _disassociate(physical_id: str, properties: Any) -> None:
    # A replacement has already associated another web ACL with the same resource.
    if waf._associations.get(properties["ResourceArn"]) == properties["WebACLArn"]:
        waf._disassociate_web_acl(properties)
