"""Examples of requests and answers: one believable account, made from the models themselves.

What is answered is built as the service builds it, so an example can never miss a key.
"""

import json
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.comparison import Comparator
from chalicelib.domain.customers.custom_attribute import AttributeType, CustomAttributeValue
from chalicelib.domain.customers.customer import (
    Customer,
    CustomerBody,
    CustomerPage,
    Tag,
    customer_from_body,
)
from chalicelib.domain.customers.import_batch import (
    AcceptedBatch,
    ImportProgress,
    ImportStatus,
    RejectedRow,
    RowError,
    RowInputError,
)
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.forms.contact_form import PartnerContactForm
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.fields import (
    ExpectedValue,
    FieldDependency,
    PartnerField,
    PartnerFieldGroup,
)
from chalicelib.domain.forms.image import PartnerImage
from chalicelib.domain.forms.list_pages import ContactFormPage, SurveyPage
from chalicelib.domain.forms.pre_redirect import (
    BinaryTexts,
    ColoredText,
    CsatSmileyTexts,
    CsatStarTexts,
    NpsTexts,
    PreRedirectConfig,
    PreRedirectType,
    RedirectButton,
)
from chalicelib.domain.forms.presentation import (
    Body,
    ExternalLink,
    Font,
    Footer,
    GeneralStyle,
    Header,
    Submission,
    SurveyStyle,
)
from chalicelib.domain.forms.survey import (
    Channel,
    DnsRecord,
    ExternalDnsConfig,
    PartnerSurvey,
    PartnerTarget,
    ResolicitationMode,
    SupportEmail,
)
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.domain.purchases.purchase import Purchase

REQUEST_ID: Final = "8f3b1a52-6c0e-4d0f-9a53-b1e7c2d4f601"

_FIRST_SAVED: Final = datetime(2026, 3, 2, 9, 14, 7, 512000, UTC)
_LAST_CHANGED: Final = datetime(2026, 11, 18, 17, 40, 55, 90000, UTC)
_DATES: Final = {"created_at": _FIRST_SAVED, "updated_at": _LAST_CHANGED}
_WRITTEN: Final[dict[str, Any]] = {
    "created_at": "2026-02-11T08:30:00.000Z",
    "updated_at": "2026-10-05T15:21:43.000Z",
}

Part = TypeVar("Part", bound=BaseModel)


def example_id(name: str) -> str:
    """The identifier of a thing in the examples, always the same."""
    return derived_id("example", name)


def _filled(part: type[Part], **given: Any) -> Part:
    """A part with the example of each of its fields, apart from those that are given."""
    examples = {
        name: field.examples[0]
        for name, field in part.model_fields.items()
        if field.examples and name not in given
    }
    return part(**examples, **given)


def _json(resource: BaseModel) -> Any:
    return json.loads(resource.model_dump_json())


_BRAND: Final = example_id("Maison Lumen")
_STORE: Final = example_id("Maison Lumen Lyon")
CUSTOMER_ID: Final = example_id("customer")
PURCHASE_ID: Final = example_id("purchase")
CONTACT_FORM_ID: Final = example_id("contact form")
SURVEY_ID: Final = example_id("survey")
BATCH_ID: Final = example_id("batch")

_CUSTOMER: Final = Customer(
    id=CUSTOMER_ID,
    **_DATES,
    description="Prefers a table on the terrace",
    company="Atelier Roche",
    first_name="Amélie",
    last_name="Roche",
    display_name="Amélie Roche",
    language=Language("fr"),
    phone_number="+33 6 12 34 56 78",
    email="amelie.roche@example.com",
    civility="Mme",
    tags=(Tag(id=example_id("tag"), **_DATES, tag="Regular", color="#C0392B"),),
    email_optin=True,
    feedback_count=2,
    purchase_count=5,
    data_sources=(DataSource("Import"), DataSource("TheFork")),
    metadata={
        "import": {"loyaltyCard": "LC-20418"},
        "theFork": {"customerUuid": "d1f0", "isVip": True},
    },
    attributes=(
        CustomAttributeValue(
            id=example_id("attribute"),
            **_DATES,
            attribute="Favourite dish",
            type=AttributeType.SINGLE_SELECT,
            auto_detected=False,
            from_possible_value="Quenelles",
            text="",
            rating="",
            value="Quenelles",
        ),
    ),
    theForkId="tf-5521904",
    rating_sum=17,
    rating_count=2,
)

CUSTOMER_BODY: Final = {
    "firstName": "Amélie",
    "lastName": "Roche",
    "email": "amelie.roche@example.com",
    "phoneNumber": "+33 6 12 34 56 78",
    "language": "fr",
    "emailOptin": True,
    "theForkId": "tf-5521904",
    "metadata": {"loyaltyCard": "LC-20418"},
}

_NEW_CUSTOMER: Final = customer_from_body(
    CustomerBody.model_validate(CUSTOMER_BODY), example_id("new customer"), _FIRST_SAVED
)

BATCH_BODY: Final = {
    "batch": [
        CUSTOMER_BODY,
        {"email": "tom.keller@example.com", "company": "Atelier Roche"},
        {"phoneNumber": "+49 30 1234567", "lastName": "Brandt", "smsOptin": True},
    ]
}

_ACCEPTED_BATCH: Final = AcceptedBatch(
    id=BATCH_ID,
    status=ImportStatus.QUEUED,
    row_count=2,
    rejected=(
        RejectedRow(
            index=1,
            errors=(
                RowInputError(
                    pointer="/batch/1/email",
                    code="invalid_email",
                    detail="Must be an e-mail address.",
                ),
            ),
        ),
    ),
)

_BATCH_PROGRESS: Final = ImportProgress(
    id=BATCH_ID,
    status=ImportStatus.COMPLETED,
    row_count=268,
    created=240,
    filled=19,
    unchanged=8,
    failed=1,
    errors=(
        RowError(
            index=41, code="too_large", detail="The customer would be larger than 32768 bytes."
        ),
    ),
    created_at=_FIRST_SAVED,
    updated_at=_FIRST_SAVED.replace(second=9),
    completed_at=_FIRST_SAVED.replace(second=9),
)

_PURCHASE: Final = Purchase(
    id=PURCHASE_ID,
    **_DATES,
    store_id=_STORE,
    store_name="Maison Lumen Lyon",
    customer=_CUSTOMER,
    date=datetime(2026, 11, 14, 18, 5, tzinfo=UTC),
    start_date=datetime(2026, 11, 15, 19, 30, tzinfo=UTC),
    end_date=datetime(2026, 11, 15, 22, 0, tzinfo=UTC),
    external_id="TF-88412067",
    source=DataSource("TheFork"),
    metadata={"partySize": 4, "occasion": "Birthday"},
)

_GROUP: Final = PartnerFieldGroup(
    id=example_id("group"), **_WRITTEN, name="Your visit", vertical_index=0
)


def _images() -> dict[str, PartnerImage]:
    return {
        name: _filled(PartnerImage, url=f"https://cdn.example.com/forms/{name}.png")
        for name in ("logo", "footer_logo", "cover", "submission_image")
    }


def _fields(deciding: PartnerField, follow_up: str) -> dict[str, Any]:
    """Two fields, of which the second is shown by an answer to the first."""
    shown = FieldDependency(
        id=example_id(f"dependency of {follow_up}"),
        **_WRITTEN,
        field=example_id(follow_up),
        depends_on_field=deciding.id,
        depends_on_field_values=[ExpectedValue(operator=Comparator.EQ, value=deciding.values[0])]
        if deciding.values
        else [ExpectedValue(operator=Comparator.LTE, value="6")],
    )
    follow_up_field = PartnerField(
        id=example_id(follow_up),
        **_WRITTEN,
        type=FieldType["LONG_TEXT"],
        label=follow_up,
        placeholder="A few words are enough",
        vertical_index=1,
        group=_GROUP.id,
        dependencies=[shown.id],
    )
    return {
        "fields": [deciding.model_copy(update={"dependency_of": [shown.id]}), follow_up_field],
        "field_groups": [_GROUP],
        "field_dependencies": [shown],
    }


def _form(name: str, style: GeneralStyle) -> dict[str, Any]:
    return {
        **_WRITTEN,
        "name": name,
        "description": "Shown on the website",
        "language": Language("en"),
        "enabled": True,
        "auto_translate": True,
        "general_style": style,
        "header": _filled(Header),
        "body": _filled(Body),
        "footer": _filled(Footer, display=True, display_logo=True),
        "external_link": _filled(ExternalLink),
        "submission": _filled(Submission),
        "submission_count": 128,
        **_images(),
    }


_CONTACT_FORM: Final = PartnerContactForm(
    id=CONTACT_FORM_ID,
    **_form("Write to us", _filled(GeneralStyle, font=_filled(Font))),
    brand_id=_BRAND,
    brand_name="Maison Lumen",
    **_fields(
        PartnerField(
            id=example_id("topic"),
            **_WRITTEN,
            type=FieldType["SINGLE_SELECT"],
            label="What is it about?",
            required=True,
            values=["A reservation", "An order", "Something else"],
            group=_GROUP.id,
        ),
        "Which reservation?",
    ),
)

_SURVEY: Final = PartnerSurvey(
    id=SURVEY_ID,
    **_form("After your visit", _filled(SurveyStyle, font=_filled(Font))),
    **_fields(
        PartnerField(
            id=example_id("recommendation"),
            **_WRITTEN,
            type=FieldType["NPS"],
            label="Would you recommend us?",
            required=True,
            group=_GROUP.id,
        ),
        "What should we change?",
    ),
    targets=[
        PartnerTarget(
            id=example_id("target"),
            **_WRITTEN,
            type=PlaceKind.STORE,
            enabled=True,
            target_id=_STORE,
            target_name="Maison Lumen Lyon",
            new_review_uri="https://reviews.example.com/new?place=lyon",
        )
    ],
    publicly_available=False,
    support_email=_filled(
        SupportEmail,
        id=example_id("support email"),
        **_WRITTEN,
        external_dns_config=ExternalDnsConfig(
            dkim=_filled(DnsRecord),
            return_path=_filled(
                DnsRecord, host="bounces.example.com", type="CNAME", value="mail.example.net"
            ),
        ),
        dkim_verified=True,
        return_path_verified=True,
    ),
    sending_channels=[Channel.EMAIL, Channel.SMS],
    solicitation_threshold=604_800,
    resolicitation_delay=2_592_000,
    resolicitation_mode=ResolicitationMode.BRAND,
    pre_redirect=True,
    pre_redirect_config=PreRedirectConfig(
        type=PreRedirectType.NPS,
        threshold=9,
        text=_filled(ColoredText),
        button=_filled(
            RedirectButton,
            text="Leave a review",
            color="#ffffff",
            topic=ColoredText(text="It helps others to find us.", color="#52606d"),
        ),
        nps=_filled(NpsTexts),
        csat_star=_filled(CsatStarTexts),
        csat_smiley=_filled(CsatSmileyTexts),
        binary=_filled(BinaryTexts),
    ),
    post_redirect=True,
    post_redirect_threshold=8,
    email_logo=_filled(PartnerImage, url="https://cdn.example.com/forms/email_logo.png"),
    email_cover=_filled(PartnerImage, url="https://cdn.example.com/forms/email_cover.png"),
)

_PAGE: Final = PageRequest.model_validate({"limit": 1, "page": 2})

CUSTOMER: Final = _json(_CUSTOMER)
NEW_CUSTOMER: Final = _json(_NEW_CUSTOMER)
ACCEPTED_BATCH: Final = _json(_ACCEPTED_BATCH)
BATCH_PROGRESS: Final = _json(_BATCH_PROGRESS)
CONTACT_FORM: Final = _json(_CONTACT_FORM)
SURVEY: Final = _json(_SURVEY)
PURCHASE: Final = _json(_PURCHASE)
CUSTOMER_PAGE: Final = _json(
    CustomerPage(items=(_CUSTOMER,), meta=page_meta(_PAGE, item_count=1, total_items=264))
)
CONTACT_FORM_PAGE: Final = _json(
    ContactFormPage(items=(_CONTACT_FORM,), meta=page_meta(_PAGE, item_count=1, total_items=3))
)
SURVEY_PAGE: Final = _json(
    SurveyPage(items=(_SURVEY,), meta=page_meta(_PAGE, item_count=1, total_items=4))
)
