"""The only source of the current time in the service. Tests replace `now`."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time in UTC, truncated to milliseconds."""
    timestamp = datetime.now(UTC)
    return timestamp.replace(microsecond=timestamp.microsecond // 1000 * 1000)
