"""The meanings of the codes of problems and of input errors, for the API reference."""

from typing import Final

PROBLEM_CODES: Final = {
    "invalid_input": "The request is invalid; `errors` lists the validation errors.",
    "not_authenticated": "The credentials are missing, unknown, wrong, revoked or expired.",
    "invalid_cursor": "The cursor does not belong to this list with these filters, or the data was"
    " restored. Start again.",
    "too_much": "The statistics have more than 20 MB to read or more than 10,000 groups.",
    "forbidden": "The gateway or its firewall rejects the request.",
    "missing_permission": "The API key lacks a permission.",
    "tracker_required": "The survey is private, and the request has no tracker.",
    "not_found": "The account has no such record, or there is no such path.",
    "method_not_allowed": "The path does not support the method.",
    "conflict": "The current state of the record does not allow the request.",
    "no_link": "There is no link to a survey about the purchase; `reason` says why.",
    "form_disabled": "The contact form or survey is disabled or closed.",
    "form_not_open": "The contact form or survey is not open yet.",
    "tracker_used": "The tracker was already used for a submission.",
    "too_large": "The request body is too large.",
    "record_too_large": "The record would exceed its maximum size.",
    "unsupported_media_type": "The media type, charset or encoding of the body is not supported.",
    "idempotency_key_reused": "The idempotency key was used before with different input.",
    "too_many_requests": "A rate limit is exceeded. The request was not processed.",
    "internal_server_error": "The service failed. The request may have been processed.",
    "unavailable": "The service is temporarily unavailable. The request may have been processed.",
    "gateway_timeout": "The service did not respond in time. The request may have been processed.",
}
"""The meaning of each code of a problem."""

INPUT_CODES: Final = {
    "duplicate": "A value must be unique and is repeated, or an object has a property twice.",
    "empty": "The object has no field with a value.",
    "invalid": "The value does not have the required form.",
    "invalid_combination": "The value contradicts another one, or needs another one.",
    "invalid_cursor": "The cursor does not belong to this list with these filters, or the data was"
    " restored. Start again.",
    "invalid_date": "The value is not a date of the form 2026-11-20.",
    "invalid_email": "The value is not an e-mail address of at most 254 characters.",
    "invalid_number": "The answer is not a number of at most 100 characters.",
    "invalid_phone": "The answer is not a phone number with 4 to 20 digits.",
    "invalid_timestamp": "The value is not a time of the required form.",
    "invalid_uuid": "The value is not a UUID.",
    "malformed": "The body cannot be parsed.",
    "not_allowed": "The value is not one of the allowed values.",
    "not_unicode": "The text is not valid Unicode.",
    "not_whole": "The number is not a whole number.",
    "out_of_range": "The number is below its minimum or above its maximum.",
    "record_too_large": "The record would exceed its maximum size.",
    "required": "The value is missing or empty.",
    "too_few": "The array has too few items.",
    "too_long": "The text is too long.",
    "too_many": "The array, object or body has too many items.",
    "too_much": "The statistics have more than 20 MB to read or more than 10,000 groups.",
    "too_short": "The text is too short.",
    "unknown_key": "The field or part is not known.",
    "unknown_reference": "The id does not belong to a record of the account.",
    "wrong_type": "The value has another type.",
}
"""The meaning of each code of an input error in a response."""
