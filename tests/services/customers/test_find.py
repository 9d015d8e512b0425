"""Tests of finding customers by phone number."""

import pytest

from admin.services.accounts.manage import create_account
from admin.services.accounts.settings import change_account_settings
from admin.services.customers.find import find_by_phone_number
from admin.services.customers.save import save_customer
from chalicelib.services.caching import clear_caches
from tests.web.definitions import customer_definition

pytestmark = pytest.mark.usefixtures("cloud")


def test_phone_number_is_found_in_national_and_international_notation() -> None:
    account_id = create_account("Maison Lumen").id
    change_account_settings(account_id, {"defaultRegion": "FR"}, "operator")
    clear_caches()
    customers = [
        save_customer(account_id, customer_definition(phoneNumber=number))
        for number in ("06 12 34 56 78", "+33 (0)6 12 34 56 78", "0033612345678")
    ]
    save_customer(account_id, customer_definition(phoneNumber="06 12 34 56 79"))
    for number in ("0612345678", "+33612345678"):
        found = find_by_phone_number(account_id, number)
        assert {customer.id for customer in found} == {customer.id for customer in customers}
