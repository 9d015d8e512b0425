"""Describe the DynamoDB tables for CloudFormation. The models of the tables define their keys."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from operator import itemgetter
from pkgutil import walk_packages
from typing import Any, Final

import admin.storage
import chalicelib.storage
from chalicelib.storage.dynamodb.table import Table

_PACKAGES: Final = (chalicelib.storage, admin.storage)
_SECRET: Final = frozenset({"webhook-secrets", "workflows"})
"""The tables that are encrypted with the stage's own KMS key."""


def table_resources() -> dict[str, Any]:
    """Return a resource for each model, by the name of its table.

    Tables are retained when the stack is deleted or an update replaces them. They are deleted only
    if the creation of the stack fails, so that the creation can be retried.
    """
    return {
        model.Meta.name: {
            "Type": "AWS::DynamoDB::Table",
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": _properties(model),
        }
        for model in sorted(_models(), key=lambda model: str(model.Meta.name))
    }


def _models() -> Iterator[type[Table]]:
    for package in _PACKAGES:
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    bases = [Table]
    for base in bases:
        bases += base.__subclasses__()
        if hasattr(base, "Meta"):
            yield base


def _properties(model: type[Table]) -> dict[str, Any]:
    schema = model._get_schema()
    encryption: dict[str, Any] = {"SSEEnabled": True}
    if model.Meta.name in _SECRET:
        key = {"Fn::GetAtt": ["SecretsKey", "Arn"]}
        encryption |= {"SSEType": "KMS", "KMSMasterKeyId": key}
    properties = {
        "TableName": {"Fn::Sub": f"feedback-${{Stage}}-{model.Meta.name}"},
        "BillingMode": "PAY_PER_REQUEST",
        "DeletionProtectionEnabled": {"Fn::If": ["IsProduction", True, False]},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "SSESpecification": encryption,
        "AttributeDefinitions": schema["attribute_definitions"],
        "KeySchema": _partition_key_first(schema["key_schema"]),
    }
    if "expires_at" in model.get_attributes():
        properties["TimeToLiveSpecification"] = {"AttributeName": "expires_at", "Enabled": True}
    if schema["global_secondary_indexes"]:
        properties["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index["index_name"],
                "KeySchema": _partition_key_first(index["key_schema"]),
                "Projection": index["projection"],
            }
            for index in schema["global_secondary_indexes"]
        ]
    return properties


def _partition_key_first(keys: Iterable[Any]) -> list[Any]:
    return sorted(keys, key=itemgetter("KeyType"))
