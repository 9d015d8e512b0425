"""Tests of erasing customers with the API."""

import json

import pytest
from chalice.test import Client

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.ids import new_id
from chalicelib.services.erasure.erase import start_erasure
from chalicelib.storage import erasures
from tests.services.erasure.erasing import OPERATOR, finish
from tests.services.moved_time import Time
from tests.services.queues import ERASURE_QUEUE
from tests.web.partner_client import Partner, new_partner, with_permissions

EMAIL = "zoe@example.test"


@pytest.fixture
def eraser(partner: Partner) -> Partner:
    return with_permissions(partner, *Permission)


def created(partner: Partner) -> str:
    body = {"firstName": "Zoé", "email": EMAIL, "emailOptin": True}
    customer_id: str = partner.post("/partners/customer", body).json["id"]
    return customer_id


def test_customer_is_erased_with_receipt(eraser: Partner, time: Time) -> None:
    customer = created(eraser)
    with counted_calls() as calls:
        response = eraser.post("/partners/customer/erase", {"id": customer})
    # A warm function has the secret and the address of the queue.
    cold = calls["secrets-manager.GetSecretValue"] + calls["sqs.GetQueueUrl"]
    assert calls.total() - cold <= 6
    assert response.status == 201
    erasure = response.json
    assert (erasure["id"], erasure["state"], erasure["completedAt"]) == (customer, "PENDING", None)
    assert erasure["receipt"]["requestedBy"] == f"API key {eraser.headers['X-API-KEY']}"
    path = f"/partners/customer/erasure?id={customer}"
    with counted_calls() as calls:
        assert eraser.get(path).json == erasure
    assert calls.total() == 1
    ERASURE_QUEUE.deliver_all(eraser.account_id)
    assert eraser.get(f"/partners/customer?id={customer}").status == 404
    finish(eraser.account_id, customer, time)
    done = eraser.get(path).json
    assert done["state"] == done["receipt"]["state"] == "DONE"
    assert done["completedAt"]
    assert done["receipt"]["erased"]["customers"] == 1
    assert EMAIL not in json.dumps(done)
    # A repeated request returns the same erasure.
    assert eraser.post("/partners/customer/erase", {"id": customer}).json == done


def test_erased_address_stays_suppressed(eraser: Partner) -> None:
    eraser.post("/partners/customer/erase", {"id": created(eraser)})
    again = created(eraser)
    changed = eraser.patch(f"/partners/customer?id={again}", {"emailOptin": True})
    assert changed.json["emailOptin"] is False


def test_customer_of_other_account_is_not_erased(client: Client, eraser: Partner) -> None:
    customer = created(eraser)
    other = with_permissions(new_partner(client), *Permission)
    for unknown in (customer, new_id()):
        assert other.post("/partners/customer/erase", {"id": unknown}).status == 404
    eraser.post("/partners/customer/erase", {"id": customer})
    assert other.get(f"/partners/customer/erasure?id={customer}").status == 404
    assert eraser.get(f"/partners/customer/erasure?id={new_id()}").status == 404


@pytest.mark.parametrize(
    ("body", "errors"),
    [({}, [("/id", "required")]), ({"id": "x"}, [("/id", "invalid_uuid")])],
)
def test_invalid_erasure_is_rejected(
    eraser: Partner, body: dict[str, str], errors: list[tuple[str, str]]
) -> None:
    assert eraser.post("/partners/customer/erase", body).errors == errors


def test_partner_sees_no_identity_of_operator_and_parked_erasure_is_pending(
    eraser: Partner,
) -> None:
    customer = created(eraser)
    erasure = start_erasure(eraser.account_id, customer, OPERATOR)
    for _ in range(8):
        erasures.WORK.interrupt(erasure.id, erasures.PART, RuntimeError("defect"), clock.now())
    shown = eraser.get(f"/partners/customer/erasure?id={customer}").json
    assert shown["state"] == shown["receipt"]["state"] == "PENDING"
    assert shown["receipt"]["requestedBy"] == "operator"
    assert OPERATOR not in json.dumps(shown)
