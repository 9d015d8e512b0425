"""Ids of the measured accounts."""

from typing import Final

ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000001"
SMALL_ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000002"
