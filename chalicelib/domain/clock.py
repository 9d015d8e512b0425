"""The only source of the current time. Tests replace it here."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time in UTC, truncated to milliseconds."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
