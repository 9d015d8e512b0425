"""A survey as an operator writes it, checked and turned into what is saved."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from chalicelib.domain.accounts.places import Directory, PlaceKind
from chalicelib.domain.forms.definitions.build import build_saved_form, keep_dates
from chalicelib.domain.forms.definitions.form import FormDefinition, LanguageName, parse_definition
from chalicelib.domain.forms.definitions.references import References
from chalicelib.domain.forms.definitions.rules import (
    duplicate,
    duplicates,
    form_errors,
    repeated,
)
from chalicelib.domain.forms.image import Image
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig
from chalicelib.domain.forms.presentation import SurveyStyle
from chalicelib.domain.forms.survey import (
    Channel,
    ChannelName,
    ExternalDnsConfig,
    ResolicitationMode,
    ResolicitationModeName,
    SavedSurvey,
    SupportEmail,
    Target,
    TargetType,
)
from chalicelib.domain.forms.translation import SurveyTranslation
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import InputError, json_pointer, unknown_reference
from chalicelib.domain.rule import rule
from chalicelib.domain.schema import Email, Identifier, Input, format_timestamp

_HIGHEST_RATING = 10


class TargetDefinition(Input):
    """A brand or a store of the account that a survey is aimed at."""

    id: Identifier | None = None
    type: TargetType
    target_id: Identifier
    enabled: bool = True
    new_review_uri: str = ""


class SupportEmailDefinition(Input):
    """The address that a survey is sent from; without a `domain` it is the address's own."""

    id: Identifier | None = None
    email: Email
    domain: str | None = Field(default=None, max_length=255)
    forwarding_email: Email | None = None
    default: bool = False
    enable_inbound: bool = False
    external_dns_config: ExternalDnsConfig = ExternalDnsConfig()
    dkim_verified: bool = False
    return_path_verified: bool = False


class SurveyDefinition(FormDefinition):
    """A survey as an operator writes it; its targets must be brands and stores of the account."""

    general_style: SurveyStyle = SurveyStyle()
    targets: list[TargetDefinition] = []
    publicly_available: bool = False
    support_email: SupportEmailDefinition | None = None
    sending_channels: list[ChannelName] = []
    solicitation_threshold: int = 0
    resolicitation_delay: int = 0
    resolicitation_mode: ResolicitationModeName = ResolicitationMode.ACCOUNT
    pre_redirect: bool = False
    pre_redirect_config: PreRedirectConfig | None = None
    post_redirect: bool = False
    post_redirect_threshold: int | None = None
    email_logo: Image | None = None
    email_cover: Image | None = None
    translations: Mapping[LanguageName, SurveyTranslation] = {}


def read_survey(document: Any, directory: Directory) -> SurveyDefinition:
    """The document as its model.

    Raises:
        InvalidInput: with every key and value that does not fit, and every rule that is broken.
    """

    def rule_errors(survey: SurveyDefinition) -> Iterator[InputError]:
        yield from form_errors(survey, References.of(survey))
        yield from _target_errors(survey, directory)
        yield from _sending_errors(survey)
        yield from _redirect_errors(survey)

    return parse_definition(SurveyDefinition, document, rule_errors)


def save_survey(
    document: SurveyDefinition, now: datetime, earlier: SavedSurvey | None = None
) -> SavedSurvey:
    """The survey to save, in place of the earlier one if there is one.

    Raises:
        InputTooLarge: the saved survey would be too large.
    """
    moment = format_timestamp(now)
    return build_saved_form(
        SavedSurvey,
        document,
        References.of(document),
        now,
        earlier,
        targets=keep_dates(_targets(document, moment), earlier.targets if earlier else ()),
        support_email=_support_email(document, moment, earlier),
        post_redirect_threshold=document.post_redirect_threshold
        if document.post_redirect
        else None,
    )


@rule
def _target_errors(document: SurveyDefinition, directory: Directory) -> Iterator[InputError]:
    targets = document.targets
    for position, target in enumerate(targets):
        yield from _place_errors(target, directory, "targets", position, "targetId")
    for position in repeated(targets, "target_id"):
        yield duplicate("targets", position, "targetId")
    for position in repeated(targets, "id"):
        yield duplicate("targets", position, "id")


@rule
def _place_errors(
    target: TargetDefinition, directory: Directory, *path: str | int
) -> Iterator[InputError]:
    if target.type is PlaceKind.BRAND and directory.brand(target.target_id) is None:
        yield unknown_reference("brand", *path)
    if target.type is PlaceKind.STORE and directory.store(target.target_id) is None:
        yield unknown_reference("store", *path)


def _sending_errors(document: SurveyDefinition) -> Iterator[InputError]:
    yield from _channel_errors(document)
    yield from _repeated_channel_errors(document)
    yield from _not_negative(lambda: document.solicitation_threshold, "solicitationThreshold")
    yield from _not_negative(lambda: document.resolicitation_delay, "resolicitationDelay")


@rule
def _channel_errors(document: SurveyDefinition) -> Iterator[InputError]:
    path = "sendingChannels"
    if not document.publicly_available and not document.sending_channels:
        yield InputError(json_pointer(path), "required", "A private survey needs a channel.")
    for position, channel in enumerate(document.sending_channels):
        if channel is Channel.LINK and not document.publicly_available:
            yield InputError(
                json_pointer(path, position), "not_allowed", "Only a public survey has a link."
            )


@rule
def _repeated_channel_errors(document: SurveyDefinition) -> Iterator[InputError]:
    for position in duplicates(document.sending_channels):
        yield duplicate("sendingChannels", position)


@rule
def _not_negative(read: Callable[[], int], key: str) -> Iterator[InputError]:
    if read() < 0:
        yield _out_of_range("This is not negative.", key)


def _redirect_errors(document: SurveyDefinition) -> Iterator[InputError]:
    yield from _pre_redirect_errors(document)
    yield from _pre_redirect_threshold_errors(document)
    yield from _post_redirect_errors(document)
    yield from _post_redirect_threshold_errors(document)


@rule
def _pre_redirect_errors(document: SurveyDefinition) -> Iterator[InputError]:
    config = document.pre_redirect_config
    if document.pre_redirect and config is None:
        yield _required("preRedirectConfig")
    if document.pre_redirect and config and "threshold" not in config.model_fields_set:
        yield _required("preRedirectConfig", "threshold")


@rule
def _pre_redirect_threshold_errors(document: SurveyDefinition) -> Iterator[InputError]:
    config = document.pre_redirect_config
    if config and not 0 <= config.threshold <= _HIGHEST_RATING:
        yield _out_of_range("This must be 0 to 10.", "preRedirectConfig", "threshold")


@rule
def _post_redirect_errors(document: SurveyDefinition) -> Iterator[InputError]:
    if document.post_redirect and document.post_redirect_threshold is None:
        yield _required("postRedirectThreshold")


@rule
def _post_redirect_threshold_errors(document: SurveyDefinition) -> Iterator[InputError]:
    threshold = document.post_redirect_threshold
    if threshold is not None and not 0 <= threshold <= _HIGHEST_RATING:
        yield _out_of_range("This must be 0 to 10.", "postRedirectThreshold")


def _required(*path: str) -> InputError:
    return InputError(json_pointer(*path), "required", "This redirection cannot work without it.")


def _out_of_range(detail: str, *path: str) -> InputError:
    return InputError(json_pointer(*path), "out_of_range", detail)


def _targets(document: SurveyDefinition, moment: str) -> list[Target]:
    return [
        Target(
            id=target.id or derived_id(document.id, "target", target.target_id),
            created_at=moment,
            updated_at=moment,
            type=target.type,
            enabled=target.enabled,
            target_id=target.target_id,
            new_review_uri=target.new_review_uri,
        )
        for target in document.targets
    ]


def _support_email(
    document: SurveyDefinition, moment: str, earlier: SavedSurvey | None
) -> SupportEmail | None:
    given = document.support_email
    if given is None:
        return None
    address = SupportEmail(
        id=given.id or derived_id(document.id, "support email", given.email),
        created_at=moment,
        updated_at=moment,
        email=given.email,
        domain=given.email.rpartition("@")[2] if given.domain is None else given.domain,
        forwarding_email=given.forwarding_email or "",
        default=given.default,
        enable_inbound=given.enable_inbound,
        external_dns_config=given.external_dns_config,
        dkim_verified=given.dkim_verified,
        return_path_verified=given.return_path_verified,
    )
    before = earlier.support_email if earlier else None
    return keep_dates([address], [before] if before else ())[0]
