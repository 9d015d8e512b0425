"""Ids of the accounts that the benchmarks read."""

from typing import Final

ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000001"
SMALL_ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000002"
