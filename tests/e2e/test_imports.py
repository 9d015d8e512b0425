"""Test of an import through the gateway."""

from collections.abc import Callable

from tests.e2e.importer import Importer, customer_rows


def test_batches_with_same_idempotency_key_are_imported_once(
    new_importer: Callable[[], Importer],
) -> None:
    importer = new_importer()
    body = {"batch": [*customer_rows(60, "a"), customer_rows(1, "a")[0] | {"company": "Lumen"}]}
    headers = {"Idempotency-Key": "monday"}
    responses = [
        importer.http.post("/partners/customer/batch", json=body, headers=headers) for _ in range(2)
    ]
    assert [response.status_code for response in responses] == [201, 201]
    assert len({response.json()["id"] for response in responses}) == 1
    progress = importer.finish(responses[0].json()["id"])
    assert (progress["created"], progress["filled"], progress["failed"]) == (60, 1, 0)
    customers = importer.all_customers()
    assert [customer["firstName"] for customer in customers] == [f"a {n}" for n in range(60)]
    assert customers[0]["company"] == "Lumen"
