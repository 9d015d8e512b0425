"""An account with one resource of each kind."""

from dataclasses import dataclass

from admin.services.customers.save import save_customer
from admin.services.definitions.kinds import BRAND, CONTACT_FORM, STORE, SURVEY, save
from chalicelib.domain.ids import new_id
from tests.domain.forms import factories as form_factories
from tests.services.purchases import record_purchase
from tests.web.definitions import (
    brand_definition,
    customer_definition,
    purchase_definition,
    store_definition,
)
from tests.web.partner_client import Partner


@dataclass(frozen=True)
class LoadedAccount:
    """A client with the account's credentials, and the URL path of each resource by kind."""

    partner: Partner
    brand_id: str
    store_id: str
    paths: dict[str, str]


def load_records(partner: Partner) -> LoadedAccount:
    account = partner.account_id
    brand = save(BRAND, account, brand_definition())
    store = save(STORE, account, store_definition(brand.id))
    customer = save_customer(account, customer_definition(email="zoe@example.test"))
    purchase = record_purchase(account, purchase_definition(store.id, customerId=customer.id))
    form = save(CONTACT_FORM, account, form_factories.contact_form(id=new_id(), brandId=brand.id))
    survey = save(
        SURVEY,
        account,
        form_factories.survey(
            id=new_id(), targets=[{"type": "STORE", "targetId": store.id, "enabled": True}]
        ),
    )
    return LoadedAccount(
        partner,
        brand.id,
        store.id,
        {
            "purchase": f"/partners/purchase?id={purchase.id}",
            "customer": f"/partners/customer?id={customer.id}",
            "contact form": f"/partners/contact-form?id={form.id}",
            "survey": f"/partners/survey?id={survey.id}",
        },
    )
