"""The personal fields of a customer, derived from the model of a request body."""

from typing import Any

from chalicelib.domain.customers.body import CustomerBody

IMPERSONAL = {"language", "smsOptin"}
"""The fields that cannot contain a text of the customer."""

_PROPERTIES: dict[str, Any] = CustomerBody.model_json_schema()["properties"]


def customer_body(text: str, email: str, phone_number: str) -> dict[str, Any]:
    """Return the body of a customer with the text in every field that accepts any text.

    Raises:
        AssertionError: the model has another field that can contain personal data.
    """
    body = {
        **dict.fromkeys(filter(_accepts_any_text, _PROPERTIES), text),
        "email": email,
        "phoneNumber": phone_number,
        "metadata": {text: text},
        "emailOptin": True,
    }
    assert _PROPERTIES.keys() == body.keys() | IMPERSONAL
    return body


def _accepts_any_text(name: str) -> bool:
    types = _PROPERTIES[name].get("anyOf", [_PROPERTIES[name]])
    return any(
        each.get("type") == "string" and each.keys() <= {"type", "maxLength"} for each in types
    )
