"""Filters for failures that schemathesis reports because a schema cannot express the rule.

Both the in-process tests and the schemathesis command against the deployed service load them.
"""

import json
from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Return whether this is a failure of the service."""
    if isinstance(failure, RejectedPositiveData):
        return not (_says_nothing(response) or _key_was_used_before(response))
    if isinstance(failure, AcceptedNegativeData):
        return not (
            response.status_code == 413  # payload too large, before validation
            or _names_the_bad_rows(response)
            or _was_trimmed(case.body)
            or _differs_in_what_is_ignored(case)
        )
    return True


def _says_nothing(response: Any) -> bool:
    """Return whether the service rejected a customer with only blank strings and nulls."""
    errors = _body(response).get("errors", [])
    return bool(errors) and all(error["code"] == "empty" for error in errors)


def _key_was_used_before(response: Any) -> bool:
    return bool(response.status_code == 422)


def _names_the_bad_rows(response: Any) -> bool:
    """Return whether a partial batch was accepted with rejected rows."""
    return bool(response.status_code == 201 and _body(response).get("rejected"))


def _was_trimmed(value: Any) -> bool:
    """Return whether a string has leading or trailing white space, which its length excludes."""
    if isinstance(value, dict):
        return any(map(_was_trimmed, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_was_trimmed, value))
    return isinstance(value, str) and value != value.strip()


def _differs_in_what_is_ignored(case: Any) -> bool:
    """Return whether a case is invalid only in unknown query parameters or headers.

    The service ignores unknown query parameters, and the tests replace the credential headers.
    """
    broken = {place for place, part in case.meta.components.items() if part.mode.is_negative}
    known = {name: case.query[name] for name in case.query or {} if name in ("id", "partial")}
    return broken <= {ParameterLocation.QUERY, ParameterLocation.HEADER} and all(
        str(value).lower() in ("true", "false") for value in known.values()
    )


def _body(response: Any) -> dict[str, Any]:
    document = json.loads(response.content)
    return document if isinstance(document, dict) else {}
