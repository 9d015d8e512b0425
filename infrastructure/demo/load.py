"""Load the demo data into the local cloud, and issue credentials."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from admin.identity import operator_identity
from admin.services.accounts.manage import create_account, find_account, issue_key, require_key
from admin.services.accounts.settings import change_account_settings
from admin.services.definitions.check import check
from admin.services.definitions.definition import Kind, RawDefinition
from admin.services.definitions.kinds import WORKFLOW, save
from admin.services.definitions.references import StoredResources
from admin.services.definitions.save import write
from admin.services.webhooks.secret import rotate_webhook_secret, signing_webhook_secrets
from admin.services.workflows.manage import list_workflows
from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.daily import DailyGroup, day_of
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.paging import in_groups
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.solicitation.solicitation import SolicitationState
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.feedback.process import MAX_BATCH_SIZE
from chalicelib.services.feedback.submit import SubmissionMetadata
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form, get_survey
from chalicelib.services.purchases.record import record_purchase
from chalicelib.storage import solicitations, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.solicitations import SolicitationRow
from infrastructure.demo.contents import ACCOUNTS, demo_definitions, stores_of, version_of
from infrastructure.demo.customers import SHOWN_CUSTOMER
from infrastructure.demo.description import DemoDescription, OtherAccount
from infrastructure.demo.feedback import DemoFeedback, SentSurvey, demo_feedback, sent_surveys
from infrastructure.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from infrastructure.demo.load_earlier import EarlierSubmission, load_earlier_submissions
from infrastructure.demo.purchases import OTHER_PURCHASE, PURCHASE, SHOWN_PURCHASE, id_of
from infrastructure.demo.workflows import main_workflows
from infrastructure.deployment.progress import DeploymentError

_TRACKERS: Final = 24
_TIME_ZONE: Final = "Europe/Paris"
_PRIVATE_SURVEY: Final = demo_id("survey stay")


def load(base_url: str, output: Path, webhook_url: str, mailbox: str) -> str:
    """Load the demo data if it is not loaded yet. Return what was loaded, in words.

    If the output file contains valid credentials, they stay the same. Otherwise, issue new ones.

    Args:
        output: the file for the description.
        webhook_url: the URL to which the workflows send webhooks.
        mailbox: the URL that lists all sent messages as JSON.

    Raises:
        DeploymentError: the data is invalid.
    """
    loaded_at = _create_accounts()
    definitions = demo_definitions(loaded_at.date())
    version = version_of(definitions)
    outcome = "unchanged"
    if trackers.find(_tracker_id(version, _TRACKERS - 1)) is None:
        save_demo(definitions)
        outcome = f"{len(definitions)} records"
        if not list_workflows(MAIN_ACCOUNT):  # earlier feedback must not fire webhooks
            surveys = sent_surveys(definitions, loaded_at)
            feedback = demo_feedback(definitions, loaded_at)
            _record_sent(surveys)
            for batch in in_groups(feedback, MAX_BATCH_SIZE):
                load_earlier_submissions([_submission(each) for each in batch])
            outcome += f", {len(surveys)} surveys sent, {len(feedback)} responses"
    _save_workflows(webhook_url)
    earlier = DemoDescription.read(output)
    _describe(base_url, mailbox, definitions, version, earlier).write(output)
    return outcome


def _create_accounts() -> datetime:
    """Create the missing accounts. Return the time at which the main account was created."""
    created_at = {}
    for account_id, name in ACCOUNTS.items():
        account = find_account(account_id)
        if account is None:
            account = create_account(name, account_id)
            change_account_settings(
                account_id, {"defaultRegion": "FR", "timeZone": _TIME_ZONE}, "demo"
            )
        created_at[account_id] = account.created_at
    return created_at[MAIN_ACCOUNT]


def save_demo(definitions: Sequence[RawDefinition]) -> None:
    """Save the definitions, then record the purchases among them.

    Raises:
        DeploymentError: a definition is invalid.
        InvalidInput: a purchase is invalid.
    """
    purchases = [each.content for each in definitions if each.content["kind"] == PURCHASE]
    others = [each for each in definitions if each.content["kind"] != PURCHASE]
    checked, problems = check(others, None, StoredResources())
    if problems := problems or write(checked, lambda _: None):
        raise DeploymentError(f"The demo data is invalid: {problems[0]}")
    for content in purchases:
        fields = {name: content[name] for name in content.keys() - {"kind", "account"}}
        record_purchase(content["account"], parse(fields, PurchaseDefinition))


def _record_sent(surveys: Sequence[SentSurvey]) -> None:
    """Store that surveys were sent, with their trackers. No message is sent."""
    ids = [survey.purchase_id for survey in surveys]
    recorded = solicitations.find_many_with_purchases(MAIN_ACCOUNT, ids)
    directory = current_directory(MAIN_ACCOUNT)
    for survey in surveys:
        solicitation, _ = recorded[survey.purchase_id]
        if solicitation.state is SolicitationState.SENT:
            continue
        store, day = directory.store(survey.store_id), day_of(survey.sent_at, _TIME_ZONE)
        brand_id = store.brand_id if store else None
        group = DailyGroup(day, FormKind.SURVEY, survey.survey_id, brand_id, survey.store_id)
        tracker = Tracker(
            id=survey.tracker_id,
            account_id=MAIN_ACCOUNT,
            survey_id=survey.survey_id,
            purchase_id=survey.purchase_id,
            customer_id=survey.customer_id,
            store_id=survey.store_id,
            send_mode=survey.channel.value,
            created_at=survey.sent_at,
            counted_as=group.key,
        )
        commit(partial(_link, solicitation.id, tracker, survey.sent_at))


def _link(solicitation_id: str, tracker: Tracker, sent_at: datetime, rows: Rows) -> None:
    key = Key(SolicitationRow, solicitation_id)
    rows.prefetch(key)
    row = rows.get(key)
    assert row  # noqa: S101 - the purchase was recorded
    trackers.put(rows, tracker, is_new=True)
    solicitations.link(rows, row, tracker, sent_at)


def _submission(feedback: DemoFeedback) -> EarlierSubmission:
    is_survey = feedback.kind is Kind.SURVEY
    saved = (get_survey if is_survey else get_contact_form)(feedback.form_id).saved
    field_ids = {field.key: field.id for field in saved.fields}
    body = {
        "id": feedback.form_id,
        "store": feedback.store_id,
        "fields": [
            {"id": field_ids[key], "values": values} for key, values in feedback.answers.items()
        ],
    }
    if feedback.survey:
        body["tracker"] = feedback.survey.tracker_id
    respondent = Respondent(language=feedback.language)
    return EarlierSubmission(
        parse(body, SurveySubmission) if is_survey else parse(body, ContactFormSubmission),
        SubmissionMetadata(respondent, idempotency_key=feedback.key),
        feedback.submitted_at,
    )


def _save_workflows(url: str) -> None:
    """Save the demo workflows that do not exist yet or whose webhook URL differs from ``url``."""
    urls = {workflow.id: workflow.actions[0].url for workflow in list_workflows(MAIN_ACCOUNT)}
    for definition in main_workflows(url):
        if urls.get(definition["id"]) != url:
            save(WORKFLOW, MAIN_ACCOUNT, definition)


def _describe(
    base_url: str,
    mailbox: str,
    definitions: list[RawDefinition],
    version: str,
    earlier: DemoDescription | None,
) -> DemoDescription:
    key, secret = _credentials(MAIN_ACCOUNT, earlier)
    other_key, other_secret = _credentials(OTHER_ACCOUNT, earlier and earlier.other)
    brand = demo_id("brand lumen")
    return DemoDescription(
        base_url=base_url,
        account_id=MAIN_ACCOUNT,
        api_key=key,
        api_secret=secret,
        webhook_secret=_webhook_secret(earlier),
        brand_id=brand,
        store_ids=stores_of(definitions, brand),
        contact_form_id=demo_id("contact-form lumen"),
        survey_id=demo_id("survey visit"),
        private_survey_id=_PRIVATE_SURVEY,
        trackers=_unused_trackers(definitions, version),
        purchase_id=SHOWN_PURCHASE,
        customer_id=SHOWN_CUSTOMER,
        contact_form_page=f"{base_url}/public/contact-form/page?id={demo_id('contact-form lumen')}",
        survey_page=f"{base_url}/public/survey/page?survey={demo_id('survey visit')}",
        rtl_survey_page=f"{base_url}/public/survey/page?survey={demo_id('survey casablanca')}",
        mailbox=mailbox,
        other=OtherAccount(
            api_key=other_key,
            api_secret=other_secret,
            customer_id=demo_id("customer other 1"),
            purchase_id=OTHER_PURCHASE,
            contact_form_id=demo_id("contact-form minuit"),
            survey_id=demo_id("survey minuit"),
            store_id=demo_id("store minuit-lille"),
        ),
    )


def _credentials(
    account_id: str, earlier: DemoDescription | OtherAccount | None
) -> tuple[str, str]:
    if earlier:
        with suppress(NotFound):
            key = require_key(earlier.api_key)
            if key.account_id == account_id and key.accepts(earlier.api_secret, clock.now()):
                return earlier.api_key, earlier.api_secret
    credential, secret = issue_key(account_id, operator_identity(), "Demo")
    return credential.api_key, secret


def _webhook_secret(earlier: DemoDescription | None) -> str:
    signing = signing_webhook_secrets(MAIN_ACCOUNT, clock.now())
    if earlier and signing and earlier.webhook_secret == signing[0]:
        return earlier.webhook_secret
    return rotate_webhook_secret(MAIN_ACCOUNT, operator_identity()).secret


def _unused_trackers(definitions: Iterable[RawDefinition], version: str) -> list[str]:
    """Return the ids of `_TRACKERS` unused trackers. Create trackers if too few are unused.

    Trackers are created after all other demo data. If the last tracker exists, the demo data is
    therefore complete.
    """
    stays = [
        content
        for content in (definition.content for definition in definitions)
        if content["kind"] == PURCHASE
        and content["account"] == MAIN_ACCOUNT
        and {"startDate", "customerId"} <= content.keys()
    ]
    unused: list[str] = []
    for number in count():
        if len(unused) == _TRACKERS:
            break
        tracker_id, stay = _tracker_id(version, number), stays[number % len(stays)]
        tracker = trackers.find(tracker_id)
        if tracker is None:
            tracker = Tracker(
                id=tracker_id,
                account_id=MAIN_ACCOUNT,
                survey_id=_PRIVATE_SURVEY,
                purchase_id=id_of(MAIN_ACCOUNT, stay),
                customer_id=stay["customerId"],
                store_id=stay["storeId"],
                send_mode=SendMode.EMAIL.value,
                created_at=clock.now(),
            )
            commit(partial(trackers.put, tracker=tracker, is_new=True))
        if tracker.used_at is None:
            unused.append(tracker_id)
    return unused


def _tracker_id(version: str, number: int) -> str:
    return demo_id(f"tracker {version} {number}")
