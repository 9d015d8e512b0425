"""Parse the definition of a survey and build the survey to save."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import Field

from admin.domain.definitions import parse_and_validate
from admin.domain.forms.build import build_form, retain_timestamps, with_kept_values
from admin.domain.forms.form import TRANSLATIONS, FormDefinition, LanguageName
from admin.domain.forms.rules import form_errors
from admin.domain.input_errors import not_allowed
from chalicelib.domain.accounts.places import Directory, PlaceKind
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig, SurveyTranslation
from chalicelib.domain.forms.presentation import Image, SurveyStyle
from chalicelib.domain.forms.survey import (
    MAX_RESOLICITATION_DELAY_S,
    DelayStart,
    ExternalDnsConfig,
    PartnerSurvey,
    ResolicitationMode,
    SavedSurvey,
    SendMode,
    SupportEmail,
    Target,
)
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import (
    InputError,
    duplicate,
    duplicate_positions,
    json_pointer,
    out_of_range,
    unknown_reference,
)
from chalicelib.domain.schema import Email, Identifier, Input, format_timestamp

MAX_SOLICITATION_DELAY_S: Final = 90 * 24 * 3600
_MAX_REMINDER_DELAY_S: Final = 30 * 24 * 3600
_HIGHEST_RATING = 10
_IGNORED = "No effect: only `support-email check` sets it."


class TargetDefinition(Input):
    """A target of a survey: a brand or a store of the account."""

    id: Identifier | None = Field(
        default=None, description="The id. Default: derived from `targetId`."
    )
    type: PlaceKind
    target_id: Identifier
    enabled: bool = True
    new_review_uri: str = Field(
        default="", description="The https URL of the page for public reviews."
    )


class SupportEmailDefinition(Input):
    """The definition of a survey's support address. `domain` defaults to the e-mail's domain."""

    id: Identifier | None = Field(
        default=None, description="The id. Default: derived from the address."
    )
    email: Email
    domain: str | None = Field(
        default=None,
        max_length=255,
        description="The domain. Default: the domain of the address.",
    )
    forwarding_email: Email | None = None
    default: bool = False
    enable_inbound: bool = False
    external_dns_config: ExternalDnsConfig = ExternalDnsConfig()
    dkim_verified: bool = Field(default=False, description=_IGNORED)
    return_path_verified: bool = Field(default=False, description=_IGNORED)


class SurveyDefinition(FormDefinition):
    """The definition of a survey. Its targets must be brands and stores of the account."""

    enabled: bool = Field(
        default=True,
        description="Whether the survey accepts submissions and is sent. An existing survey stays"
        " as it is if this field is absent.",
    )
    general_style: SurveyStyle = SurveyStyle()
    targets: list[TargetDefinition] = []
    publicly_available: bool = False
    support_email: SupportEmailDefinition | None = Field(
        default=None,
        description="The support address. An existing one stays if this field is absent; `null`"
        " removes it.",
    )
    sending_channels: list[SendMode] = []
    solicitation_threshold: int = Field(
        default=0,
        description="The maximum age of a purchase in seconds when it arrives. About older"
        " purchases, no survey is sent. 0: no limit.",
    )
    solicitation_delay: int = Field(
        default=0,
        description="Seconds between the purchase and the survey, up to 90 days. A purchase with"
        " `sendAt` has no delay.",
    )
    solicitation_delay_from: DelayStart = Field(
        default=DelayStart.DATE,
        description="The date of the purchase from which `solicitationDelay` counts.",
    )
    reminder_delay: int = Field(
        default=0,
        description="Seconds between the survey and its only reminder, 1 to 30 days; on the stages"
        " `local` and `test`, from 60 seconds. 0: no reminder.",
    )
    save_taps: bool = Field(
        default=True,
        description="Whether ratings and choices on the page of a tracker are saved when they are"
        " tapped, and count although the respondent does not send them.",
    )
    resolicitation_delay: int = Field(
        default=0,
        description="The minimum number of seconds between two surveys to a customer. 0: no limit.",
    )
    resolicitation_mode: ResolicitationMode = ResolicitationMode.ACCOUNT
    pre_redirect: bool = False
    pre_redirect_config: PreRedirectConfig | None = None
    post_redirect: bool = False
    post_redirect_threshold: int | None = None
    email_logo: Image | None = None
    email_cover: Image | None = None
    translations: Mapping[LanguageName, SurveyTranslation] = Field(
        default={}, description=TRANSLATIONS
    )


def define_survey(
    definition: Any,
    directory: Directory,
    now: datetime,
    earlier: SavedSurvey | None = None,
    *,
    is_emulated: bool = False,
) -> SavedSurvey:
    """Parse the definition of a survey, and build the survey that replaces ``earlier``.

    The other arguments and the errors are those of `define_contact_form`.

    Args:
        is_emulated: whether the stage is never deployed. Then, a reminder can follow in a minute.
    """

    def rule_errors(survey: SurveyDefinition) -> Iterator[InputError]:
        yield from form_errors(survey)
        yield from _target_errors(survey.targets, directory)
        yield from _sending_errors(survey, is_emulated=is_emulated)
        yield from _pre_redirect_errors(survey)
        yield from _post_redirect_errors(survey)

    parsed = parse_and_validate(
        with_kept_values(definition, earlier), SurveyDefinition, rule_errors
    )
    timestamp = format_timestamp(now)
    return build_form(
        SavedSurvey,
        PartnerSurvey,
        parsed,
        directory,
        now,
        earlier,
        targets=retain_timestamps(_targets(parsed, timestamp), earlier.targets if earlier else ()),
        support_email=_support_email(parsed, timestamp, earlier),
        post_redirect_threshold=parsed.post_redirect_threshold if parsed.post_redirect else None,
    )


def offer_warnings(definition: FormDefinition) -> Iterator[InputError]:
    """Yield a warning if a respondent who follows the offer before the survey is not counted."""
    config = getattr(definition, "pre_redirect_config", None)
    if not isinstance(definition, SurveyDefinition) or not definition.pre_redirect or not config:
        return
    reasons = (
        (not definition.save_taps, "`saveTaps` is false"),
        (
            all(field.type is not config.field_type for field in definition.fields),
            f"the survey has no field of type {config.type}",
        ),
        (any(field.is_consent for field in definition.fields), "the survey requires a consent"),
    )
    if reason := next((text for is_true, text in reasons if is_true), None):
        detail = f"A respondent who follows the offer of a review is not counted: {reason}."
        yield InputError(json_pointer("preRedirectConfig", "type"), "answer_not_saved", detail)


def _target_errors(
    targets: Sequence[TargetDefinition], directory: Directory
) -> Iterator[InputError]:
    for position, target in enumerate(targets):
        if target.type is PlaceKind.BRAND and directory.brand(target.target_id) is None:
            yield unknown_reference("brand", "targets", position, "targetId")
        if target.type is PlaceKind.STORE and directory.store(target.target_id) is None:
            yield unknown_reference("store", "targets", position, "targetId")
    for position in duplicate_positions(target.target_id for target in targets):
        yield duplicate("targets", position, "targetId")
    for position in duplicate_positions(target.id for target in targets):
        yield duplicate("targets", position, "id")


def _sending_errors(definition: SurveyDefinition, *, is_emulated: bool) -> Iterator[InputError]:
    path = "sendingChannels"
    if not definition.publicly_available and not definition.sending_channels:
        yield InputError(
            json_pointer(path), "required", "A private survey needs at least one channel."
        )
    for position, channel in enumerate(definition.sending_channels):
        if channel is SendMode.LINK and not definition.publicly_available:
            yield not_allowed("LINK is allowed for public surveys only.", path, position)
    for position in duplicate_positions(definition.sending_channels):
        yield duplicate(path, position)
    address = definition.support_email.email if definition.support_email else ""
    if not address.rpartition("@")[0].isascii():
        detail = "Must be ASCII before the @, because SES cannot send from other addresses."
        yield InputError(json_pointer("supportEmail", "email"), "invalid_email", detail)
    if definition.solicitation_threshold < 0:
        yield out_of_range("Must be at least 0.", "solicitationThreshold")
    if not 0 <= definition.solicitation_delay <= MAX_SOLICITATION_DELAY_S:
        detail = f"Must be 0 to {MAX_SOLICITATION_DELAY_S} (90 days)."
        yield out_of_range(detail, "solicitationDelay")
    least_s, delay_s = 60 if is_emulated else 24 * 3600, definition.reminder_delay
    if delay_s and not least_s <= delay_s <= _MAX_REMINDER_DELAY_S:
        detail = f"Must be 0, or {least_s} to {_MAX_REMINDER_DELAY_S} (30 days)."
        yield out_of_range(detail, "reminderDelay")
    if not 0 <= definition.resolicitation_delay <= MAX_RESOLICITATION_DELAY_S:
        detail = f"Must be 0 to {MAX_RESOLICITATION_DELAY_S} (366 days)."
        yield out_of_range(detail, "resolicitationDelay")


def _pre_redirect_errors(definition: SurveyDefinition) -> Iterator[InputError]:
    config = definition.pre_redirect_config
    if definition.pre_redirect and config is None:
        yield _required_for("preRedirect", "preRedirectConfig")
    if definition.pre_redirect and config and "threshold" not in config.model_fields_set:
        yield _required_for("preRedirect", "preRedirectConfig", "threshold")
    if config and not 0 <= config.threshold <= _HIGHEST_RATING:
        yield _invalid_rating("preRedirectConfig", "threshold")


def _post_redirect_errors(definition: SurveyDefinition) -> Iterator[InputError]:
    threshold = definition.post_redirect_threshold
    if definition.post_redirect and threshold is None:
        yield _required_for("postRedirect", "postRedirectThreshold")
    if threshold is not None and not 0 <= threshold <= _HIGHEST_RATING:
        yield _invalid_rating("postRedirectThreshold")


def _required_for(option: str, *path: str) -> InputError:
    return InputError(json_pointer(*path), "required", f"Required if {option} is true.")


def _invalid_rating(*path: str) -> InputError:
    return out_of_range(f"Must be between 0 and {_HIGHEST_RATING}.", *path)


def _targets(definition: SurveyDefinition, timestamp: str) -> list[Target]:
    return [
        Target(
            **target.model_dump(by_alias=False, exclude={"id"}),
            id=target.id or derived_id(definition.id, "target", target.target_id),
            created_at=timestamp,
            updated_at=timestamp,
        )
        for target in definition.targets
    ]


def _support_email(
    definition: SurveyDefinition, timestamp: str, earlier: SavedSurvey | None
) -> SupportEmail | None:
    address = definition.support_email
    if address is None:
        return None
    before = earlier.support_email if earlier else None
    checked = before if before and before.email == address.email else None
    support_email = SupportEmail(
        id=address.id or derived_id(definition.id, "support email", address.email),
        created_at=timestamp,
        updated_at=timestamp,
        email=address.email,
        domain=address.email.rpartition("@")[2] if address.domain is None else address.domain,
        forwarding_email=address.forwarding_email or "",
        default=address.default,
        enable_inbound=address.enable_inbound,
        external_dns_config=checked.external_dns_config
        if checked and "external_dns_config" not in address.model_fields_set
        else address.external_dns_config,
        dkim_verified=bool(checked and checked.dkim_verified),
        return_path_verified=bool(checked and checked.return_path_verified),
    )
    return retain_timestamps([support_email], [before] if before else ())[0]
