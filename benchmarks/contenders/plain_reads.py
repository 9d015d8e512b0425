"""Read resources with boto3's default client and plain dictionaries.

The functions make the same DynamoDB requests as the app and return the same data. They check
neither credentials nor input. They cache the names of stores and brands and the tags.
"""

import json
import zlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import boto3

from benchmarks.gateway_event import ACCOUNT_ID
from chalicelib.domain.customers.platforms import IDENTIFIERS, DataSource

Document = dict[str, Any]

_STAGE: Final = "test"
_SOURCES: Final = [source.value for source in DataSource]
_TEXTS: Final = {
    "description": "description",
    "company": "company",
    "firstName": "first_name",
    "lastName": "last_name",
    "displayName": "display_name",
    "phoneNumber": "phone_number",
    "email": "email",
    "civility": "civility",
} | {identifier: identifier for identifier in IDENTIFIERS}
_NOT_SHOWN: Final = (
    *("key", "archived", "translations", "layout", "thanks"),
    *("solicitationDelay", "solicitationDelayFrom", "reminderDelay"),
)
"""Fields of a form's definition that partners do not see."""
_IMAGES: Final = {
    "logo", "footerLogo", "cover", "submissionImage", "emailLogo", "emailCover",
}  # fmt: skip

dynamodb: Final = boto3.client("dynamodb")


def _read_purchase(purchase_id: str) -> Document:
    item = _get("purchases", key=f"{ACCOUNT_ID}#{purchase_id}")
    store_id = item["store_id"]["S"]
    return {
        "id": item["id"]["S"],
        "createdAt": item["created_at"]["S"],
        "updatedAt": item["updated_at"]["S"],
        "storeId": store_id,
        "storeName": _place_names()[store_id],
        "customer": _read_customer(item["customer_id"]["S"]) if "customer_id" in item else None,
        "date": item["date"]["S"],
        "startDate": item["start_date"]["S"],
        "endDate": item["end_date"]["S"],
        "externalId": item["external_id"]["S"],
        "source": item["source"]["S"],
        "metadata": _json(item, "metadata", {}),
        "attributes": _json(item, "attributes", []),
    }


def _read_customer(customer_id: str) -> Document:
    return _customer(_get("customers", key=f"{ACCOUNT_ID}#{customer_id}"))


def _list(
    table: str, items: Callable[[str, int, int], list[Document]], limit: int, page: int
) -> Document:
    """Return a page of records. Read the total first, as the app does."""
    total = int(_get("counters", account_id=ACCOUNT_ID, kind=table)["total"]["N"])
    found = items(table, limit, page)
    meta = {
        "itemCount": len(found),
        "totalItems": total,
        "itemsPerPage": limit,
        "totalPages": -(-total // limit),
        "currentPage": page,
    }
    return {"items": found, "meta": meta}


def _table(name: str) -> str:
    return f"feedback-{_STAGE}-{name}"


def _get(table: str, **key: str) -> Document:
    typed_key = {name: {"S": value} for name, value in key.items()}
    return dynamodb.get_item(TableName=_table(table), Key=typed_key)["Item"]


def _page(table: str, limit: int, page: int) -> list[Any]:
    first, last = (page - 1) * limit + 1, page * limit
    items = []
    for block in range((first - 1) // 100, (last - 1) // 100 + 1):
        response = dynamodb.query(
            TableName=_table(table),
            IndexName="by_block",
            KeyConditionExpression="#block = :block AND #position BETWEEN :first AND :last",
            ExpressionAttributeNames={"#block": "list_block", "#position": "position"},
            ExpressionAttributeValues={
                ":block": {"S": f"{ACCOUNT_ID}#{block}"},
                ":first": {"N": str(max(first, block * 100 + 1))},
                ":last": {"N": str(min(last, block * 100 + 100))},
            },
        )
        items += response["Items"]
    return items


def _customers(table: str, limit: int, page: int) -> list[Document]:
    return [_customer(item) for item in _page(table, limit, page)]


def _read_form(table: str, form_id: str) -> Document:
    response = dynamodb.query(
        TableName=_table(table),
        KeyConditionExpression="#form = :form",
        ExpressionAttributeNames={"#form": "form_id"},
        ExpressionAttributeValues={":form": {"S": form_id}},
    )
    rows = {item["part"]["S"]: item for item in response["Items"]}
    return _form(rows["document"], rows["summary"])


def _forms(table: str, limit: int, page: int) -> list[Document]:
    summaries = _page(table, limit, page)
    keys = [{"form_id": item["form_id"], "part": {"S": "document"}} for item in summaries]
    response = dynamodb.batch_get_item(RequestItems={_table(table): {"Keys": keys}})
    documents = {item["form_id"]["S"]: item for item in response["Responses"][_table(table)]}
    return [_form(documents[summary["form_id"]["S"]], summary) for summary in summaries]


@cache
def _places() -> list[Any]:
    response = dynamodb.query(
        TableName=_table("places"),
        KeyConditionExpression="#account = :account",
        ExpressionAttributeNames={"#account": "account_id"},
        ExpressionAttributeValues={":account": {"S": ACCOUNT_ID}},
    )
    return response["Items"]


@cache
def _place_names() -> dict[str, str]:
    return {item["place_id"]["S"]: item["name"]["S"] for item in _places()}


@cache
def _tags() -> dict[str, Document]:
    return {
        item["place_id"]["S"].removeprefix("tag#"): {
            "id": item["place_id"]["S"].removeprefix("tag#"),
            "createdAt": item["created_at"]["S"],
            "updatedAt": item["updated_at"]["S"],
            "tag": item["name"]["S"],
            "color": item["color"]["S"] if "color" in item else None,
        }
        for item in _places()
        if item["kind"]["S"] == "TAG"
    }


def _json(item: Document, name: str, default: Any) -> Any:
    return json.loads(item[name]["S"]) if name in item else default


def _number(item: Document, name: str) -> int:
    return int(item[name]["N"]) if name in item else 0


def _customer(item: Document) -> Document:
    customer: Document = {
        "id": item["id"]["S"],
        "createdAt": item["created_at"]["S"],
        "updatedAt": item["updated_at"]["S"],
    }
    for name, column in _TEXTS.items():
        customer[name] = item[column]["S"] if column in item else None
    if "language" in item:
        customer["language"] = item["language"]["S"]
    customer["emailBounced"] = "email_bounced" in item and item["email_bounced"]["BOOL"]
    customer["emailOptin"] = "email_optin" in item and item["email_optin"]["BOOL"]
    customer["smsOptin"] = "sms_optin" in item and item["sms_optin"]["BOOL"]
    feedbacks, purchases = _number(item, "feedback_count"), _number(item, "purchase_count")
    customer["feedbackCount"] = feedbacks
    customer["purchaseCount"] = purchases
    if feedbacks and purchases:
        customer["type"] = "Both"
    elif feedbacks or purchases:
        customer["type"] = "Reviewer" if feedbacks else "Purchaser"
    else:
        customer["type"] = item["declared_type"]["S"] if "declared_type" in item else None
    ratings = _number(item, "rating_count")
    mean = round(_number(item, "rating_sum") / ratings, 2) if ratings else None
    customer["averageFeedbackRating"] = None if mean is None else f"{mean:g}"
    customer["dataSources"] = sorted(item["data_sources"]["SS"], key=_SOURCES.index)
    customer["tags"] = [_tags()[tag_id] for tag_id in _json(item, "tag_ids", [])]
    customer["attributes"] = _json(item, "attributes", [])
    metadata = _json(item, "source_metadata", {})
    if "import_metadata" in item:
        metadata["import"] = _json(item, "import_metadata", {})
    customer["metadata"] = metadata
    return customer


def _form(stored: Document, summary: Document) -> Document:
    form: Document = json.loads(zlib.decompress(stored["document"]["B"]))
    for name in _NOT_SHOWN:
        form.pop(name, None)
    form["submissionCount"] = int(summary["submission_count"]["N"])
    for part in (*form["fields"], *form["fieldGroups"]):
        del part["key"]
    for name in _IMAGES & form.keys():
        form[name] = _image(form[name])
    if "brandId" in form:
        form["brandName"] = _place_names()[form["brandId"]]
    for target in form.get("targets", ()):
        target["targetName"] = _place_names()[target["targetId"]]
    return form


def _image(image: Document | None) -> Document | None:
    return image and {
        "contentType": image["contentType"],
        "url": image["url"],
        "size": str(image["size"]),
        "width": image["width"],
        "height": str(image["height"]),
    }


READS: Final[dict[str, Callable[[str], Document]]] = {
    "/partners/purchase": _read_purchase,
    "/partners/customer": _read_customer,
    "/partners/contact-form": partial(_read_form, "contact-forms"),
    "/partners/survey": partial(_read_form, "surveys"),
}
"""Functions that return the record with an id, by path."""
LISTS: Final[dict[str, Callable[[int, int], Document]]] = {
    "/partners/customer/list": partial(_list, "customers", _customers),
    "/partners/contact-form/list": partial(_list, "contact-forms", _forms),
    "/partners/survey/list": partial(_list, "surveys", _forms),
}
"""Functions that return a page with a limit and a number, by path."""
