"""Test how many AWS requests saving a definition sends."""

from admin.services.definitions.kinds import BRAND, STORE, save
from chalicelib.aws_calls import counted_calls
from tests.web.definitions import brand_definition, store_definition


def test_places_are_read_only_for_store_with_new_brand(account: str) -> None:
    brand, other = (save(BRAND, account, brand_definition()).id for _ in range(2))
    store = store_definition(brand_id=brand)
    requests = []
    for definition in (store, store, store | {"name": "Nice"}, store | {"brandId": other}):
        with counted_calls() as calls:
            save(STORE, account, definition)
        requests.append((calls["dynamodb.Query"], calls.total()))
    assert requests == [(1, 3), (0, 1), (0, 2), (1, 3)]
