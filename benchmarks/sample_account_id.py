"""The id of the account that is measured."""

from typing import Final

ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000001"
