"""Id of the account that the benchmarks read. The module imports nothing of the app."""

from typing import Final

ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000001"
