"""Ignore failures that schemathesis reports only because a schema cannot express a rule.

The in-process tests load this file.
"""

import json
from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData

_RULES = (
    ("", "invalid_combination"),
    ("/endDate", "out_of_range"),
    ("/sendAt", "out_of_range"),
    ("/endDate", "out_of_range"),
    ("/updatedSince", "invalid_combination"),
    ("/createdUntil", "out_of_range"),
    ("/maxRating", "out_of_range"),
    ("/until", "out_of_range"),
)
"""The pointers and codes of errors that a schema cannot express."""


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Return whether the tests must report this failure.

    Return False if the service is correct and applies a rule that a schema cannot express.
    """
    if isinstance(failure, RejectedPositiveData):
        return not (
            _rejects_by_rules(response)
            or _rejects_reused_idempotency_key(response)
            or _rejects_answers_by_rules_of_form(case, response)
            or _asks_for_page_of_no_survey(case)
        )
    if isinstance(failure, AcceptedNegativeData):
        return not (
            response.status_code
            == 413  # 413: the body is too large and is rejected before validation
            or _accepts_partial_batch(response)
            or _reports_invalid_rows(response)
            or _has_surrounding_white_space(case.body)
            or _is_invalid_only_in_ignored_parts(case)
        )
    return True


def _rejects_by_rules(response: Any) -> bool:
    """Return whether the response lists errors and all of them break rules between values.

    The schema cannot express these rules: a customer with only blank strings and nulls is empty,
    metadata names that are equal after trimming are duplicates, an id must belong to a record of
    the account, a cursor must be from the preceding page, a time must not be too far ahead, and
    some fields exclude each other. The last error has the pointer of the whole body.
    """
    errors = _body(response).get("errors", [])
    return bool(errors) and all(
        error["code"] in ("empty", "duplicate", "unknown_reference", "invalid_cursor")
        or (error["pointer"], error["code"]) in _RULES
        for error in errors
    )


def _rejects_reused_idempotency_key(response: Any) -> bool:
    return bool(response.status_code == 422)


def _rejects_answers_by_rules_of_form(case: Any, response: Any) -> bool:
    """Return whether a submission breaks only rules that the definition of its form sets."""
    pointers = [error["pointer"] for error in _body(response).get("errors", [])]
    return case.path.endswith("/submit") and all(
        pointer.startswith(("/fields", "/store", "/brand")) for pointer in pointers
    )


def _asks_for_page_of_no_survey(case: Any) -> bool:
    """Return whether a request for a survey page contains neither a survey nor a tracker.

    The schema cannot express that one of the two parameters is required.
    """
    return case.path.endswith("/survey/page") and not {"survey", "tracker"} & set(case.query or ())


def _accepts_partial_batch(response: Any) -> bool:
    """Return whether a batch with ``partial=true`` was accepted although it has invalid rows."""
    return bool(response.status_code == 201 and _body(response).get("rejected"))


def _reports_invalid_rows(response: Any) -> bool:
    """Return whether a batch whose rows are recorded separately was accepted with invalid rows."""
    rows = _body(response).get("items", [])
    return any(isinstance(row, dict) and row.get("status") == "INVALID" for row in rows)


def _has_surrounding_white_space(value: Any) -> bool:
    """Return whether any string in the value has surrounding white space.

    The service removes this white space before it checks the length of the string.
    """
    if isinstance(value, dict):
        return any(map(_has_surrounding_white_space, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_has_surrounding_white_space, value))
    return isinstance(value, str) and value != value.strip()


def _is_invalid_only_in_ignored_parts(case: Any) -> bool:
    """Return whether a generated request is invalid only because of unknown parameters or headers.

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
    try:
        document = json.loads(response.content)
    except ValueError:  # a page
        return {}
    return document if isinstance(document, dict) else {}
