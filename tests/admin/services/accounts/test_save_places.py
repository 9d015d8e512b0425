"""Test how the definitions of stores are saved."""

from admin.services.definitions.kinds import BRAND, STORE, save
from chalicelib.services.accounts.directory import current_directory
from tests.web.definitions import brand_definition, store_definition


def test_saved_store_has_time_zone_of_definition(account: str) -> None:
    brand = save(BRAND, account, brand_definition())
    kyoto = save(STORE, account, store_definition(brand.id, timeZone="Asia/Tokyo"))
    lyon = save(STORE, account, store_definition(brand.id))
    directory = current_directory(account)
    assert directory.store(kyoto.id) == kyoto
    assert (kyoto.time_zone, lyon.time_zone) == ("Asia/Tokyo", None)
