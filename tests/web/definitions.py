"""Valid definitions that tests load through the services."""

from typing import Any

from chalicelib.domain.ids import new_id


def customer_definition(**fields: Any) -> dict[str, Any]:
    """Return the definition of a customer."""
    return {"id": new_id(), "firstName": "Zoé", "lastName": "Martin", **fields}


def brand_definition(**fields: Any) -> dict[str, Any]:
    """Return the definition of a brand."""
    return {"id": new_id(), "name": "Maison Lumen", "color": "#0a7d5a", **fields}


def store_definition(brand_id: str, **fields: Any) -> dict[str, Any]:
    """Return the definition of a store."""
    return {"id": new_id(), "name": "Lyon Bellecour", "brandId": brand_id, **fields}


def purchase_definition(store_id: str, **fields: Any) -> dict[str, Any]:
    """Return the definition of a purchase."""
    return {
        "source": "Site",
        "externalId": new_id(),
        "storeId": store_id,
        "date": "2026-11-18T19:30:00+01:00",
        **fields,
    }
