"""Surveys: the saved survey and its partner view."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, ValidationInfo

from chalicelib.domain.accounts.places import Directory, PlaceKind
from chalicelib.domain.forms.form import PartnerForm, SavedForm
from chalicelib.domain.forms.part import DatedPart, Part, text_field
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig, SurveyTranslation
from chalicelib.domain.forms.presentation import Image, PartnerImage, SurveyStyle
from chalicelib.domain.language import Language
from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Choice, Resource, UuidText

MAX_RESOLICITATION_DELAY_S: Final = 366 * 24 * 3600


class SendMode(Choice):
    """The channel through which a survey is sent; ``LINK`` for a public survey."""

    EMAIL = "EMAIL"
    SMS = "SMS"
    LINK = "LINK"


class DelayStart(Choice):
    """The date of a purchase from which `solicitationDelay` counts."""

    DATE = "DATE"
    END_DATE = "END_DATE"


class ResolicitationMode(Choice):
    """The scope in which `resolicitationDelay` applies: account, or one brand, store or survey."""

    ACCOUNT = "ACCOUNT"
    BRAND = "BRAND"
    STORE = "STORE"
    SURVEY = "SURVEY"


class Target(DatedPart):
    """A brand or store that a survey targets, as saved."""

    type: PlaceKind = Field(
        description="Whether the target is a brand or a store.", examples=[PlaceKind.BRAND]
    )
    enabled: bool = Field(description="Whether surveys are sent for this target.", examples=[True])
    target_id: UuidText = Field(
        description="Identifier of the brand or store.",
        examples=["723ba1ce-c10c-5e5f-a88d-1dfb2a5b80fe"],
    )
    new_review_uri: str = text_field(
        "URL of the page for public reviews.", "https://reviews.example.com/new?place=1"
    )


def _current_name(saved: str, target: ValidationInfo) -> str:
    names: Directory | None = target.context
    # Pydantic adds only valid values to `data`, so `data` lacks an invalid target id.
    return names.name_of(target.data.get("target_id", "")) if names else saved


class PartnerTarget(Target):
    """A brand or store that a survey targets, in the partner view."""

    target_name: Annotated[str, AfterValidator(_current_name)] = Field(
        default="",
        validate_default=True,
        description="Current name of the brand or store.",
        examples=["Maison Lumen"],
    )


class DnsRecord(Part):
    """A DNS record that the owner of a mail domain publishes."""

    host: str = text_field("Name of the record.", "mail._domainkey.example.com")
    type: str = text_field("Type of the record.", "TXT")
    value: str = text_field("Value of the record.", "k=rsa; p=MIGfMA0GCSq")


class ExternalDnsConfig(Part):
    """The DNS records that let the service send e-mail for a domain."""

    dkim: DnsRecord = Field(
        default_factory=DnsRecord,
        description="DNS record with the DKIM key, which verifies e-mail signatures.",
    )
    return_path: DnsRecord = Field(
        default_factory=DnsRecord,
        description="DNS record of the return path, which receives bounced e-mails.",
    )


class SupportEmail(DatedPart):
    """The support address of a survey: the sender or Reply-To address of the survey's e-mails."""

    email: str = text_field("E-mail address.", "support@example.com")
    domain: str = text_field("Domain of the address.", "example.com")
    forwarding_email: str = text_field("Address that replies are forwarded to.", "team@example.com")
    default: bool = Field(
        default=False, description="Whether this is the account's default address."
    )
    enable_inbound: bool = Field(default=False, description="Whether the address receives replies.")
    external_dns_config: ExternalDnsConfig = Field(
        default_factory=ExternalDnsConfig,
        description="DNS records that the domain's owner publishes.",
    )
    dkim_verified: bool = Field(default=False, description="Whether the DKIM record is verified.")
    return_path_verified: bool = Field(
        default=False, description="Whether the return path is verified."
    )


class _Sending(Part):
    """Properties that the partner view and the saved survey share, such as sending rules."""

    general_style: SurveyStyle = Field(
        default_factory=SurveyStyle, description="Style of the survey."
    )
    publicly_available: bool = Field(
        description="Whether the survey can be requested publicly without a tracker.",
        examples=[True],
    )
    support_email: SupportEmail | None = Field(
        default=None, description="Support address of the survey; null if there is none."
    )
    sending_channels: list[SendMode] = Field(
        default=[],
        description="Channels for sending the survey, preferred channel first.",
        examples=[["SMS"]],
    )
    solicitation_threshold: int = Field(
        default=0,
        description="Maximum number of seconds between the purchase date and the date when the "
        "purchase is processed for survey dispatch. After a longer delay, no survey is sent.",
        examples=[604800],
    )
    resolicitation_delay: int = Field(
        default=0,
        description="Seconds to wait before sending a new survey to the same customer.",
        examples=[2592000],
    )
    resolicitation_mode: ResolicitationMode = Field(
        default=ResolicitationMode.ACCOUNT,
        description="Scope in which `resolicitationDelay` applies.",
        examples=["ACCOUNT"],
    )
    pre_redirect: bool = Field(
        default=False,
        description="Enables redirection to external satisfaction surveys before submission.",
        examples=[True],
    )
    pre_redirect_config: PreRedirectConfig | None = Field(
        default=None, description="Question before the survey; null if there is none."
    )
    post_redirect: bool = Field(
        default=False, description="Enables redirection after submission.", examples=[True]
    )
    post_redirect_threshold: int | None = Field(
        default=None,
        ge=0,
        le=10,
        description="Minimum rating to redirect the respondent after submission; 0 redirects "
        "every respondent. Null if `postRedirect` is false.",
        examples=[8],
    )


class PartnerSurvey(_Sending, PartnerForm):
    """A survey in the partner view."""

    targets: list[PartnerTarget] = Field(
        default=[], description="Brands and stores that the survey targets."
    )
    email_logo: PartnerImage | None = Field(default=None, description="Logo in e-mails.")
    email_cover: PartnerImage | None = Field(default=None, description="Cover image in e-mails.")

    @classmethod
    def read(cls, saved: str | bytes, directory: Directory, submission_count: int) -> Self:
        """Build the view from a saved survey and data that is stored separately.

        Args:
            saved: the JSON of the saved survey.
            directory: the account's directory, which contains the current names of the survey's
                targets.
        """
        survey = cls.model_validate_json(saved, context=directory)
        return survey.model_copy(update={"submission_count": submission_count})


class SavedSurvey(_Sending, SavedForm):
    """A survey as saved.

    Attributes:
        solicitation_delay: seconds between the date of the purchase and the survey. No view
            contains this property and the next two.
        solicitation_delay_from: the date from which this delay counts.
        reminder_delay: seconds between the survey and its reminder; 0 for no reminder.
        save_taps: whether ratings and choices are saved before the respondent sends them. No view
            contains this property.
    """

    solicitation_delay: int = 0
    solicitation_delay_from: DelayStart = DelayStart.DATE
    reminder_delay: int = 0
    save_taps: bool = True
    targets: list[Target]
    email_logo: Image | None = None
    email_cover: Image | None = None
    translations: Mapping[Language, SurveyTranslation]

    @property
    def saves_first_tap(self) -> bool:
        """Whether the first answer is saved when it is tapped, without a consent before."""
        return self.save_taps and not any(field.is_consent for field in self.fields)


class SurveyPage(Resource):
    """One page of an account's surveys."""

    items: tuple[PartnerSurvey, ...]
    meta: PageMeta
