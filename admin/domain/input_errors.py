"""Validation errors of definitions."""

from chalicelib.domain.input_errors import InputError, json_pointer


def required(*path: str | int) -> InputError:
    """Create the error for a missing value."""
    return InputError(json_pointer(*path), "required", "Required.")


def not_allowed(detail: str, *path: str | int) -> InputError:
    """Create the error for a value that is not one of the allowed values."""
    return InputError(json_pointer(*path), "not_allowed", detail)
