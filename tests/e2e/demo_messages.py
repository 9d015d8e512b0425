"""Read the mailbox of the local cloud, and the command that the demo data prints."""

import os
from typing import Any

import httpx

from tests.e2e.cloud import TIMEOUT_S, Cloud


def messages(cloud: Cloud) -> list[dict[str, Any]]:
    """Return the messages in the mailbox, oldest first."""
    response = httpx.get(cloud.demo["mailbox"], timeout=TIMEOUT_S, trust_env=False)
    listed: list[dict[str, Any]] = response.json()
    return listed


def unsent_surveys(cloud: Cloud, owner_id: str) -> list[tuple[str, str, str]]:
    """Return the external id, the state and the reason of requested surveys that are never sent.

    Args:
        owner_id: the id of an account, or the external id of a purchase.
    """
    table = cloud.resource_name("solicitations")
    pages = cloud.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    rows = [{name: value.get("S") for name, value in r.items()} for p in pages for r in p["Items"]]
    return [
        (row["external_id"], row["state"], row.get("reason", ""))
        for row in rows
        if owner_id in (row["account_id"], row["external_id"])
        and row["state"] not in ("PENDING", "SENT")
        and row.get("reason") != "NOT_REQUESTED"
    ]


def new_mobile_number() -> str:
    """Return a random French mobile number. Each number of this block is valid."""
    return f"+33612{int.from_bytes(os.urandom(4)) % 10**6:06d}"
