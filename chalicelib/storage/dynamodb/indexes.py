"""Declare global secondary indexes of tables."""

from typing import Any, Final

from pynamodb.attributes import Attribute, UnicodeAttribute
from pynamodb.indexes import (
    AllProjection,
    GlobalSecondaryIndex,
    IncludeProjection,
    KeysOnlyProjection,
    Projection,
)

ALL: Final = AllProjection()
KEYS_ONLY: Final = KeysOnlyProjection()


def index(
    partition_key: str,
    sort_key: str | None = None,
    projection: Projection = KEYS_ONLY,
    *,
    sort_type: type[Attribute[Any]] = UnicodeAttribute,
) -> GlobalSecondaryIndex[Any]:
    """Return an index. It has the name of the model's attribute to which it is assigned."""
    keys: dict[str, Attribute[Any]] = {partition_key: UnicodeAttribute(hash_key=True)}
    if sort_key:
        keys[sort_key] = sort_type(range_key=True)
    meta = type("Meta", (), {"projection": projection})
    declared: type[GlobalSecondaryIndex[Any]] = type(
        "Index", (GlobalSecondaryIndex,), {"Meta": meta, **keys}
    )
    return declared()


def including(attributes: str) -> Projection:
    """Return the projection of an index that contains these attributes, separated by spaces."""
    return IncludeProjection(attributes.split())
