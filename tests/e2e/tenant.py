"""A new account with a public survey, a workflow and an API key."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from chalicelib.domain.ids import new_id
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud


@dataclass(frozen=True)
class Tenant:
    """An account with a public survey and a workflow.

    Attributes:
        secret: the webhook secret.
    """

    cloud: Cloud
    id: str
    survey_id: str
    field_ids: dict[str, str]
    secret: str

    def submit(self, email: str = "") -> None:
        """Submit an answer, and retry until it is accepted."""
        answers = {"nps": "9"} | ({"email": email} if email else {})
        fields = [{"id": self.field_ids[key], "values": [answers[key]]} for key in answers]
        files = {"id": (None, self.survey_id), "fields": (None, json.dumps(fields))}
        headers = {"Idempotency-Key": os.urandom(12).hex()}
        for _ in range(20):
            try:
                response = self.cloud.http.post(
                    "/public/survey/submit", files=files, headers=headers
                )
            except httpx.TransportError:
                continue
            if response.status_code == 201:
                return
            assert response.status_code >= 500, response.text
            time.sleep(1)
        raise AssertionError("The submission was not accepted.")

    def executions(self) -> list[dict[str, Any]]:
        """Return the rows of the executions of webhooks."""
        keys = [f"{self.id}#{shard}" for shard in range(4)]
        return [
            row
            for key in keys
            for row in self._query("account_shard", key, IndexName="by_account_shard")
        ]

    def rows_of(self, execution_id: str) -> list[dict[str, Any]]:
        """Return the rows of the attempts of an execution, and of the execution."""
        return self._query("execution_id", execution_id)

    def _query(self, key: str, value: str, **options: str) -> list[dict[str, Any]]:
        pages = self.cloud.client("dynamodb").get_paginator("query")
        return [
            {name: next(iter(attribute.values())) for name, attribute in item.items()}
            for page in pages.paginate(
                TableName=self.cloud.resource_name("executions"),
                KeyConditionExpression=f"{key} = :value",
                ExpressionAttributeValues={":value": {"S": value}},
                **options,
            )
            for item in page["Items"]
        ]


def create_tenant(cloud: Cloud, folder: Path, *urls: str) -> Tenant:
    """Create an account whose workflow sends a webhook to each URL."""
    account = admin(cloud, "account", "create", "Tenant").split()[-1]
    brand, survey, field_ids = new_id(), new_id(), {"nps": new_id(), "email": new_id()}
    definitions = [
        {"kind": "brand", "id": brand, "name": "Brand"},
        {
            "kind": "survey",
            "id": survey,
            "name": "Survey",
            "language": "en",
            "publiclyAvailable": True,
            "fields": [{"id": field_ids[k], "key": k, "type": k.upper()} for k in field_ids],
            "targets": [{"type": "BRAND", "targetId": brand}],
        },
        {
            "kind": "workflow",
            "id": new_id(),
            "name": "All of it",
            "actions": [{"key": f"a{n}", "url": url} for n, url in enumerate(urls)],
        },
    ]
    file = folder / f"{account}.json"
    file.write_text(json.dumps(definitions))
    admin(cloud, "definition", "load", "--yes", str(file), "--account", account)
    rotated = admin(cloud, "webhook-secret", "rotate", account, "--yes", "--json")
    secret = json.loads(rotated)["secret"]
    return Tenant(cloud, account, survey, field_ids, secret)
