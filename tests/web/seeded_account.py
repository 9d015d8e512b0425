"""An account with a contact form, a public survey, a private survey and trackers."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from admin.services.accounts.manage import create_account
from admin.services.customers.save import save_customer
from admin.services.definitions import kinds
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.read import read_customer
from chalicelib.services.forms.read import read_contact_form, read_survey
from chalicelib.storage import trackers
from chalicelib.storage.dynamodb.unit_of_work import commit
from tests.domain.forms import factories as form_factories
from tests.domain.forms.factories import field, select
from tests.services.purchases import record_purchase
from tests.web.definitions import (
    brand_definition,
    customer_definition,
    purchase_definition,
    store_definition,
)

CONTACT = "/public/contact-form"
SURVEY = "/public/survey"
SUBMIT_CONTACT = "/public/contact-form/submit"
SUBMIT_SURVEY = "/public/survey/submit"
REVIEW_PAGE = "https://reviews.example.com/new?place=1"


def fields() -> dict[str, str]:
    """Return a dict with a new field id for each field key in `questions`."""
    return {key: new_id() for key in ("what", "note", "mail", "phone", "nps")}


def questions(ids: dict[str, str]) -> list[dict[str, Any]]:
    """Return the definitions of five fields: a required choice, text, e-mail, phone and rating."""
    return [
        select("what", "Food", "Price", id=ids["what"], required=True, verticalIndex=0),
        field("note", "LONG_TEXT", id=ids["note"], verticalIndex=1),
        field("mail", "EMAIL", id=ids["mail"], verticalIndex=2),
        field("phone", "PHONE", id=ids["phone"], verticalIndex=3),
        field("nps", "NPS", id=ids["nps"], verticalIndex=4),
    ]


@dataclass(frozen=True)
class SeededAccount:
    """An account with forms: the ids of its resources, and methods to change them.

    Attributes:
        fields: field ids by key; all forms of the account have the same fields.
    """

    account_id: str
    brand_id: str
    store_id: str
    contact_form_id: str
    survey_id: str
    private_survey_id: str
    customer_id: str
    fields: dict[str, str]

    def answers(self, **values: str) -> list[dict[str, Any]]:
        """Build submitted answers from values by field key.

        The answer to the required field ``what`` defaults to ``Food``.
        """
        answers = {"what": "Food", **values}
        return [{"id": self.fields[key], "values": [value]} for key, value in answers.items()]

    def tracker(self, survey_id: str | None = None, **purchase: Any) -> str:
        """Create a purchase of the customer and a tracker for this purchase.

        Args:
            survey_id: the survey of the tracker. Defaults to the private survey.
            purchase: fields of the purchase definition.
        """
        definition = {"customerId": self.customer_id, **purchase}
        saved = record_purchase(self.account_id, purchase_definition(self.store_id, **definition))
        tracker = Tracker(
            id=new_id(),
            account_id=self.account_id,
            survey_id=survey_id or self.private_survey_id,
            purchase_id=saved.id,
            customer_id=saved.customer_id,
            store_id=saved.store_id,
            send_mode="SMS",
            created_at=clock.now(),
        )
        commit(partial(trackers.put, tracker=tracker, is_new=True))
        return tracker.id

    def contact_form(self, **definition: Any) -> None:
        """Replace the definition of the contact form."""
        kinds.save(
            kinds.CONTACT_FORM,
            self.account_id,
            form_factories.contact_form(
                id=self.contact_form_id,
                brandId=self.brand_id,
                **({"enabled": True, "fields": questions(self.fields)} | definition),
            ),
        )
        clear_caches()

    def survey(self, survey_id: str | None = None, **definition: Any) -> None:
        """Replace the definition of the public survey, or of the survey with this id."""
        target = {
            "type": "STORE",
            "targetId": self.store_id,
            "enabled": True,
            "newReviewUri": REVIEW_PAGE,
        }
        defaults = {
            "enabled": True,
            "publiclyAvailable": survey_id != self.private_survey_id,
            "fields": questions(self.fields),
            "targets": [target],
            "postRedirect": True,
            "postRedirectThreshold": 8,
        }
        survey = form_factories.survey(id=survey_id or self.survey_id, **(defaults | definition))
        kinds.save(kinds.SURVEY, self.account_id, survey)
        clear_caches()

    @property
    def customer(self) -> Customer:
        """Return the customer's current data."""
        return read_customer(self.account_id, self.customer_id)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return the submission counts of the contact form, the public and the private survey."""
        return (
            read_contact_form(self.account_id, self.contact_form_id).submission_count,
            read_survey(self.account_id, self.survey_id).submission_count,
            read_survey(self.account_id, self.private_survey_id).submission_count,
        )


def seed_account() -> SeededAccount:
    """Create an account with forms that accept submissions."""
    account = create_account("Maison Lumen", new_id()).id
    brand = kinds.save(kinds.BRAND, account, brand_definition())
    store = kinds.save(kinds.STORE, account, store_definition(brand.id))
    customer = save_customer(account, customer_definition())
    seeded = SeededAccount(
        account, brand.id, store.id, new_id(), new_id(), new_id(), customer.id, fields()
    )
    seeded.contact_form()
    seeded.survey()
    seeded.survey(seeded.private_survey_id)
    return seeded
