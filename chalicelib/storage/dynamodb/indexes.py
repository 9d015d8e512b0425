"""Declare global secondary indexes of tables."""

from typing import Final, Protocol, TypeVar, cast

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import (
    AllProjection,
    GlobalSecondaryIndex,
    IncludeProjection,
    KeysOnlyProjection,
    Projection,
)
from pynamodb.models import Model

from chalicelib.storage.dynamodb.attributes import IntegerAttribute

ALL: Final = AllProjection()
KEYS_ONLY: Final = KeysOnlyProjection()

Row = TypeVar("Row", bound=Model)


class Index(Protocol):
    """An index. Its entries are rows of the model to which it is assigned."""

    def __get__(self, row: None, model: type[Row], /) -> GlobalSecondaryIndex[Row]: ...


def index(
    partition_key: str,
    sort_key: str | None = None,
    projection: Projection = KEYS_ONLY,
    *,
    sort_type: type[UnicodeAttribute | IntegerAttribute] = UnicodeAttribute,
) -> Index:
    """Return an index. It has the name of the model's attribute to which it is assigned."""
    keys: dict[str, UnicodeAttribute | IntegerAttribute]
    keys = {partition_key: UnicodeAttribute(hash_key=True)}
    if sort_key:
        keys[sort_key] = sort_type(range_key=True)
    meta = type("Meta", (), {"projection": projection})
    declared = type("Index", (GlobalSecondaryIndex,), {"Meta": meta, **keys})
    return cast(Index, declared())


def including(attributes: str) -> Projection:
    """Return the projection of an index that contains these attributes, separated by spaces."""
    return IncludeProjection(attributes.split())
