"""The one place where the service reads the time; tests freeze it here."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment in UTC, to the millisecond."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
