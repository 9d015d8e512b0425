"""Check the API keys of partners."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from chalicelib.domain import clock
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.credentials import LAST_USE, CredentialRow, build_credential
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem

_SOON: Final = timedelta(days=14)
_UNUSED: Final = timedelta(days=90)


def check_keys(deployed: DeployedStage) -> Iterator[Problem]:
    """Find valid keys that expire within two weeks, and those that nobody used for 90 days."""
    tables = [deployed.resource_name(model.Meta.name) for model in (CredentialRow, CounterRow)]
    keys, counters = (deployed.listed("dynamodb", "scan", "Items", TableName=t) for t in tables)
    uses = {
        item["account_id"]["S"]: CounterRow.from_raw_data(item)
        for item in counters
        if item["kind"]["S"] == LAST_USE
    }
    now = clock.now()
    for item in keys:
        row = CredentialRow.from_raw_data(item)
        key = build_credential(row, uses.get(row.api_key))
        name = f'The key "{key.label}" of the account {key.account_id}'
        if not key.is_valid(now):
            continue
        if key.ends_at and key.ends_at - now <= _SOON:
            detail = f"{name} expires on {key.ends_at:%Y-%m-%d}."
            command = f"bin/feedback-admin key issue {key.account_id}"
            yield Problem(key.api_key, detail, f"If the partner needs it, issue another: {command}")
        elif now - (key.last_used_at or key.created_at) > _UNUSED:
            fix = f"If nobody needs it: bin/feedback-admin key revoke {key.api_key}"
            yield Problem(key.api_key, f"{name} was not used for {_UNUSED.days} days.", fix)
