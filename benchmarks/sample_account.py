"""Create the account that the benchmarks read, with customers, forms and a purchase of the demo."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from admin.services.accounts.manage import create_account, issue_key
from admin.services.customers.save import save_customer
from admin.services.definitions.kinds import BRAND, CONTACT_FORM, STORE, SURVEY, Replaced, save
from benchmarks.gateway_event import ACCOUNT_ID
from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.paging import in_groups
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.services.feedback.process import MAX_BATCH_SIZE, process_feedback
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.cached_forms import get_contact_form
from chalicelib.services.forms.read import read_survey
from chalicelib.services.purchases.record import record_purchase
from infrastructure.demo.contents import demo_definitions
from infrastructure.demo.ids import MAIN_ACCOUNT, demo_id
from infrastructure.demo.purchases import SHOWN_PURCHASE, id_of

CUSTOMERS: Final = 100
FEEDBACK: Final = 100
FORMS: Final = 10

CONTACT_FORM_ID: Final = demo_id("contact-form lumen")
SURVEY_ID: Final = demo_id("survey visit")
BRAND_ID: Final = demo_id("brand lumen")

Definition = dict[str, Any]
_definitions: Final = cache(demo_definitions)


@dataclass(frozen=True)
class SampleAccount:
    """The credentials of the sample account, as request headers, and the ids of two records."""

    headers: dict[str, str]
    customer_id: str
    purchase_id: str


def load() -> SampleAccount:
    """Create the account and its data through the services. The DynamoDB tables must exist."""
    account = create_account("Maison Lumen", ACCOUNT_ID)
    credential, secret = issue_key(account.id, "benchmark")
    save_places(account.id)
    definitions = demo("customer")
    definitions += [definition | {"id": new_id()} for definition in definitions]
    customers = [save_customer(account.id, each) for each in definitions[:CUSTOMERS]]
    assert len(customers) == CUSTOMERS
    (shown,) = (each for each in demo("purchase") if id_of(MAIN_ACCOUNT, each) == SHOWN_PURCHASE)
    purchase = record_purchase(account.id, parse(shown, PurchaseDefinition))
    _save_copies(CONTACT_FORM, contact_form())
    _save_copies(SURVEY, _by_id("survey", SURVEY_ID))
    headers = {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}
    return SampleAccount(headers, customers[0].id, purchase.id)


def add_feedback() -> str:
    """Answer the survey, and process the answers. Return the id of a feedback."""
    fields = [
        {"id": field.id, "values": ["9"]}
        for field in read_survey(ACCOUNT_ID, SURVEY_ID).fields
        if field.type is FieldType.NPS
    ]
    submission = parse({"id": SURVEY_ID, "fields": fields}, SurveySubmission)
    ids = [submit_feedback(submission, SubmissionMetadata()).id for _ in range(FEEDBACK)]
    for group in in_groups(ids, MAX_BATCH_SIZE):
        process_feedback(group)
    return ids[0]


def respondent_feedback(account_id: str, form_id: str, number: int) -> Feedback:
    """Build a feedback record of a new respondent, without storing it."""
    email = Answer(
        field_id=new_id(), key="mail", type="EMAIL", values=[f"guest-{number}@example.com"]
    )
    return Feedback.model_validate(
        {
            "id": feedback_id(form_id, number),
            "account_id": account_id,
            "kind": FormKind.CONTACT_FORM,
            "form_id": form_id,
            "form_version": "0" * 32,
            "language": "fr",
            "source": "Site",
            "context_id": form_id,
            "answers": (email,),
            "rating": 9,
            "created_at": clock.now(),
        }
    )


def feedback_id(form_id: str, number: int) -> str:
    """Return the id of the feedback with this number."""
    return derived_id(form_id, str(number))


def contact_form_answers() -> list[Definition]:
    """Return answers to all fields of the contact form."""
    fields = get_contact_form(CONTACT_FORM_ID).saved.fields
    return [
        {"id": field.id, "values": [*field.values, field.type.rules.example][:1]}
        for field in fields
    ]


def with_contact_form() -> tuple[str, str]:
    """Create an account with the places of the demo. Return its id and that of a contact form."""
    account_id = create_account("Maison Lumen").id
    save_places(account_id)
    return account_id, save(CONTACT_FORM, account_id, contact_form() | {"id": new_id()}).id


def save_places(account_id: str) -> None:
    """Save the brands and the stores of the demo."""
    for brand in demo("brand"):
        save(BRAND, account_id, brand)
    for store in demo("store"):
        save(STORE, account_id, store)


def contact_form() -> Definition:
    """Return the definition of a contact form. It belongs to the brand `BRAND_ID`."""
    return _by_id("contactForm", CONTACT_FORM_ID)


def demo(kind: str) -> list[Definition]:
    """Return the demo's definitions of one kind."""
    return [
        {name: value for name, value in content.items() if name not in ("kind", "account")}
        for content in (definition.content for definition in _definitions())
        if content["kind"] == kind and content["account"] == MAIN_ACCOUNT
    ]


def _by_id(kind: str, definition_id: str) -> Definition:
    (found,) = (each for each in demo(kind) if each["id"] == definition_id)
    return found


def _save_copies(resource: Replaced[Any], definition: Definition) -> None:
    """Save the definition, and copies with other ids."""
    save(resource, ACCOUNT_ID, definition)
    for number in range(1, FORMS):
        save(resource, ACCOUNT_ID, definition | {"id": derived_id(definition["id"], str(number))})
