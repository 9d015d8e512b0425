"""Create customers of one account concurrently through the gateway."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.e2e.importer import Importer

AT_ONCE = 24


def test_concurrent_creates_are_accepted_and_listed(new_importer: Callable[[], Importer]) -> None:
    importer = new_importer()
    importer.http.timeout = httpx.Timeout(240)  # the emulator starts a process per concurrent call

    def create(number: int) -> httpx.Response:
        body = {"email": f"p{number}@example.test"}
        return importer.http.post("/partners/customer", json=body)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        # Start the functions' processes first, because the start takes long on the emulator.
        list(threads.map(importer.list_page, [1] * AT_ONCE))
        responses = list(threads.map(create, range(AT_ONCE)))
    assert [response.status_code for response in responses] == [201] * AT_ONCE
    created = {response.json()["id"] for response in responses}
    read = [importer.http.get("/partners/customer", params={"id": each}) for each in created]
    assert [response.status_code for response in read] == [200] * AT_ONCE
    importer.wait_until_listed(AT_ONCE)
    assert {customer["id"] for customer in importer.all_customers()} == created
