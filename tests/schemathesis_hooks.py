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
        return not (
            _rejects_only(response, "empty", "duplicate")
            or _rejects_reused_idempotency_key(response)
        )
    if isinstance(failure, AcceptedNegativeData):
        return not (
            response.status_code == 413  # payload too large, before validation
            or _accepts_partial_batch(response)
            or _has_surrounding_white_space(case.body)
            or _is_invalid_only_in_ignored_parts(case)
        )
    return True


def _rejects_only(response: Any, *codes: str) -> bool:
    """Return whether the service rejected the request only with errors of these codes.

    A customer with only blank strings and nulls is empty. Metadata names that are equal after
    trimming are duplicates.
    """
    errors = _body(response).get("errors", [])
    return bool(errors) and all(error["code"] in codes for error in errors)


def _rejects_reused_idempotency_key(response: Any) -> bool:
    return bool(response.status_code == 422)


def _accepts_partial_batch(response: Any) -> bool:
    """Return whether a partial batch was accepted with rejected rows."""
    return bool(response.status_code == 201 and _body(response).get("rejected"))


def _has_surrounding_white_space(value: Any) -> bool:
    """Return whether a string has leading or trailing white space, which its length excludes."""
    if isinstance(value, dict):
        return any(map(_has_surrounding_white_space, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_has_surrounding_white_space, value))
    return isinstance(value, str) and value != value.strip()


def _is_invalid_only_in_ignored_parts(case: Any) -> bool:
    """Return whether a case is invalid only in unknown query parameters or headers.

    The service ignores unknown query parameters, and the tests replace the credential headers.
    """
    invalid_locations = {
        place for place, part in case.meta.components.items() if part.mode.is_negative
    }
    known = {name: case.query[name] for name in case.query or {} if name in ("id", "partial")}
    return invalid_locations <= {ParameterLocation.QUERY, ParameterLocation.HEADER} and all(
        str(value).lower() in ("true", "false") for value in known.values()
    )


def _body(response: Any) -> dict[str, Any]:
    document = json.loads(response.content)
    return document if isinstance(document, dict) else {}
