"""An account with forms, a survey and a workflow, and a person who uses all of its inputs."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from chalicelib.domain.ids import new_id
from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.demo_messages import unsent_surveys
from tests.e2e.receiver_process import ReceiverProcess
from tests.services.erasure.personal_fields import customer_body
from tests.waiting import wait_until

FIELDS = {"note": "LONG_TEXT", "name": "TEXT", "mail": "EMAIL", "phone": "PHONE", "nps": "NPS"}
MAX_PASSES = 5
"""Passes of an erasure after the first one. Without concurrent passes, one is enough."""


@dataclass(frozen=True)
class Person:
    """A person whose data contains a unique text and a unique phone number."""

    text: str
    phone_number: str

    @property
    def body(self) -> dict[str, Any]:
        """The body of a customer with all personal fields."""
        return customer_body(self.text, self.email, self.phone_number)

    @property
    def email(self) -> str:
        return f"{self.text}@example.test"

    @property
    def free_data(self) -> dict[str, Any]:
        """The fields of customers and purchases that have no fixed format."""
        attribute = {"attribute": self.text, "type": "TEXT", "text": self.text, "value": self.text}
        return {"attributes": [attribute]}

    def answer(self, key: str) -> str:
        answers = {"mail": self.email, "phone": self.phone_number, "nps": "9"}
        return answers.get(key, self.text)

    def is_in(self, content: str) -> bool:
        return self.text in content.lower() or self.phone_number.removeprefix("+") in content


@dataclass(frozen=True)
class Shop:
    """An account with a contact form, a survey that is sent by e-mail, and a workflow."""

    cloud: Cloud
    folder: Path
    account_id: str
    headers: dict[str, str]
    ids: dict[str, str]

    @cached_property
    def http(self) -> httpx.Client:
        """An HTTP client with the credentials of the account."""
        url = self.cloud.base_url
        return httpx.Client(base_url=url, headers=self.headers, timeout=TIMEOUT_S, trust_env=False)

    def load(self, person: Person, webhook_url: str) -> None:
        """Load the definitions of the shop, and a customer and a purchase of the person."""
        ids = self.ids
        fields = [{"id": ids[key], "key": key, "type": kind} for key, kind in FIELDS.items()]
        common = {"language": "en", "enabled": True, "fields": fields}
        form = {"name": "Contact", "brandId": ids["brand"]}
        target = {"type": "STORE", "targetId": ids["store"]}
        survey = {"name": "Survey", "sendingChannels": ["EMAIL"], "targets": [target]}
        actions = [{"key": "crm", "url": webhook_url}]
        customer = {**person.body, "metadata": {"google": {person.text: person.text}}}
        definitions = [
            {"kind": "brand", "id": ids["brand"], "name": "Brand"},
            {"kind": "store", "id": ids["store"], "name": "Store", "brandId": ids["brand"]},
            {"kind": "contactForm", "id": ids["form"], **form, **common},
            {"kind": "survey", "id": ids["survey"], **survey, **common},
            {"kind": "workflow", "id": new_id(), "name": "All", "actions": actions},
            {"kind": "customer", "id": new_id(), **customer, **person.free_data},
        ]
        account = ("--account", self.account_id)
        file, purchases = self.folder / "definitions.json", self.folder / "purchases.jsonl"
        file.write_text(json.dumps(definitions))
        admin(self.cloud, "definition", "load", "--yes", str(file), *account)
        purchases.write_text(json.dumps(self.purchase(person)))
        admin(self.cloud, "purchase", "import", str(purchases), *account)

    def purchase(self, person: Person, **fields: Any) -> dict[str, Any]:
        return {
            "source": "Site",
            "externalId": new_id(),
            "storeId": self.ids["store"],
            "date": datetime.now(UTC).isoformat(),
            "customer": person.body,
            "metadata": {person.text: person.text},
            **person.free_data,
            **fields,
        }

    def queue(self, *purchases: dict[str, Any]) -> None:
        sqs = self.cloud.client("sqs")
        url = sqs.get_queue_url(QueueName=self.cloud.resource_name("purchases"))["QueueUrl"]
        for purchase in purchases:
            body = json.dumps({"accountId": self.account_id, "purchase": purchase})
            sqs.send_message(QueueUrl=url, MessageBody=body)

    def submit(self, person: Person, kind: str, form_id: str, **parts: str) -> None:
        fields = [{"id": self.ids[key], "values": [person.answer(key)]} for key in FIELDS]
        parts |= {"id": form_id, "fields": json.dumps(fields), "idempotencyKey": person.text}
        files = {name: (None, text) for name, text in parts.items()}
        response = self.http.post(f"/public/{kind}/submit", files=files)
        assert response.is_success, response.text

    def create(self, path: str, body: Any, person: Person) -> Any:
        response = self.http.post(path, json=body, headers={"Idempotency-Key": person.text})
        assert response.status_code == 201, response.text
        return response.json()

    def get(self, path: str, record_id: str) -> Any:
        return self.http.get(path, params={"id": record_id}).json()


def open_shop(cloud: Cloud, folder: Path) -> Shop:
    """Create an account with an API key and a webhook secret."""
    account = new_id()
    admin(cloud, "account", "create", "Erasure test", "--id", account)
    key = json.loads(admin(cloud, "key", "issue", account, "--json"))
    admin(cloud, "webhook-secret", "rotate", account, "--yes")
    headers = {"X-API-KEY": key["apiKey"], "X-API-SECRET": key["apiSecret"]}
    names = ("brand", "store", "form", "survey", *FIELDS)
    return Shop(cloud, folder, account, headers, {name: new_id() for name in names})


def mailed_tracker(cloud: Cloud, account_id: str, person: Person) -> str:
    """Wait for the mail to the person and return the tracker of the link to the survey."""
    found: list[str] = []

    def arrived() -> bool:
        mails = httpx.get(cloud.demo["mailbox"], timeout=TIMEOUT_S, trust_env=False).json()
        links = [link for mail in mails if mail["to"] == person.email for link in mail["links"]]
        found[:] = re.findall(r"tracker=([0-9a-f-]{36})", " ".join(links))
        return bool(found)

    wait_until(arrived, opposite=lambda: unsent_surveys(cloud, account_id))
    return found[0]


def dead_letters(cloud: Cloud, person: Person) -> int:
    """Return the number of the person's messages in dead-letter queues."""
    return sum(place.endswith("-dead") and person.is_in(text) for place, text in queued(cloud))


def plant(shop: Shop, person: Person, receiver: ReceiverProcess) -> None:
    """Store the person through every input, and wait until no work is unfinished."""
    shop.load(person, receiver.url("/"))
    shop.create("/partners/customer", person.body, person)
    batch = shop.create("/partners/customer/batch", {"batch": [person.body] * 2}, person)
    # The second purchase is invalid. Its message moves to the dead-letter queue.
    shop.queue(shop.purchase(person), shop.purchase(person, storeId=new_id()))
    shop.submit(person, "contact-form", shop.ids["form"])
    tracker = mailed_tracker(shop.cloud, shop.account_id, person)
    shop.submit(person, "survey", shop.ids["survey"], tracker=tracker)
    wait_until(lambda: len(receiver.lines()) == 2)
    wait_until(lambda: dead_letters(shop.cloud, person) == 1)
    for path, record_id, name, expected in (
        ("/partners/customer/batch", batch["id"], "status", "COMPLETED"),
        ("/partners/contact-form", shop.ids["form"], "submissionCount", 1),
        ("/partners/survey", shop.ids["survey"], "submissionCount", 1),
    ):
        wait_until(
            lambda path=path, record_id=record_id, name=name, expected=expected: (  # type: ignore[misc]
                shop.get(path, record_id)[name] == expected
            )
        )


def erase(shop: Shop, customer_id: str) -> Any:
    """Erase a customer, and return the receipt. The passes follow each other without a wait.

    A pass does not end the erasure if the sweeper erases records of the customer at the same time.
    Then another pass does.
    """
    command = ("customer", "erase", shop.account_id, customer_id, "--yes", "--json")
    admin(shop.cloud, *command)
    for _ in range(MAX_PASSES):
        receipt = json.loads(admin(shop.cloud, *command, ERASURE_RECHECK_S="0"))
        if receipt["state"] == "DONE":
            break
    return receipt


def queued(cloud: Cloud) -> Iterator[tuple[str, str]]:
    address = f"{cloud.endpoint}/_ministack/sqs/messages"
    listed = httpx.get(address, timeout=TIMEOUT_S, trust_env=False).json()["messages"]
    for regions in listed.values():
        for queues in regions.values():
            for url, messages in queues.items():
                for message in messages:
                    yield url.rsplit("/", 1)[-1], message["Body"]
