"""The command ``demo-data load``.

Load the demo data, issue credentials and print example requests.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer

from admin.commands.definition import count_list
from admin.definitions.check import check
from admin.definitions.definition import Kind, RawDefinition
from admin.definitions.references import StoredResources
from admin.definitions.save import write
from admin.demo.contents import ACCOUNTS, demo_definitions, stores_of, version_of
from admin.demo.customers import SHOWN_CUSTOMER
from admin.demo.description import DemoDescription, OtherAccount
from admin.demo.feedback import DemoFeedback, demo_feedback
from admin.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from admin.demo.purchases import OTHER_PURCHASE, SHOWN_PURCHASE, id_of
from admin.demo.workflows import main_workflows
from admin.identity import operator_identity
from admin.options import example
from admin.services.accounts.manage import create_account, find_account, issue_key
from admin.services.feedback.load_earlier import EarlierSubmission, load_earlier_submissions
from admin.services.solicitation.manage import create_tracker
from admin.services.webhooks.secret import active_webhook_secret, rotate_webhook_secret
from admin.services.workflows.manage import list_workflows, save_workflow
from admin.terminal import notices, prints_json, progress, results, show_json
from chalicelib.domain import clock
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.paging import in_groups
from chalicelib.domain.parsing import parse
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.services.accounts.settings import change_account_settings
from chalicelib.services.feedback.process import MAX_BATCH_SIZE
from chalicelib.services.feedback.submit import SubmissionMetadata
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form, get_survey
from chalicelib.services.forms.public import find_tracker
from chalicelib.settings import settings

_TRACKERS: Final = 24
_SETTINGS: Final = {"defaultRegion": "FR", "timeZone": "Europe/Paris"}
_AWS: Final = (
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "STAGE",
)
"""The environment variables that select the local cloud."""

_PRIVATE_SURVEY: Final = demo_id("survey stay")


app = typer.Typer(help="Load the demo data.", no_args_is_help=True)


@app.command(epilog=example("demo-data load --base-url BASE_URL --output .local/demo.json"))
def load(
    base_url: Annotated[str, typer.Option(help="The base URL of the service.")],
    output: Annotated[
        Path,
        typer.Option(
            dir_okay=False, help="The file that the command writes ids and credentials to."
        ),
    ],
    webhook_url: Annotated[
        str | None,
        typer.Option(
            help="The URL to which the demo workflows send webhooks. Default: no workflows.",
            envvar="DEMO_WEBHOOK_URL",
        ),
    ] = None,
    mailbox: Annotated[
        str | None,
        typer.Option(
            help="The URL that lists all sent messages as JSON, if they are not sent to customers.",
            envvar="DEMO_MAILBOX",
        ),
    ] = None,
) -> None:
    """Load the demo data if it is not loaded yet, and print example requests.

    If the output file contains valid credentials, the command reuses these credentials. Otherwise,
    it issues new credentials. The stage must run on an emulator.
    """
    if not settings().is_emulated:
        raise typer.BadParameter(
            f"The stage {settings().stage} does not run on an emulator. The ids of the demo data"
            " are public, so the command loads it only into an emulated stage.",
            param_hint="--stage",
        )
    started = time.monotonic()
    loaded_at = _create_accounts()
    definitions = demo_definitions(loaded_at.date())
    version = version_of(definitions)
    if find_tracker(_tracker_id(version, _TRACKERS - 1)):
        outcome = "unchanged"
    else:
        outcome = count_list(_write(definitions))
        if not list_workflows(MAIN_ACCOUNT):  # earlier feedback must not fire webhooks
            outcome += f", {_load_feedback(demo_feedback(definitions, loaded_at))} responses"
    if webhook_url:
        _save_workflows(webhook_url)
    earlier = DemoDescription.read(output)
    description = _describe(base_url.rstrip("/"), mailbox, definitions, version, earlier)
    description.write(output)
    if prints_json():
        show_json(description)
        return
    results().print(f"✓ Demo data: {outcome} ({time.monotonic() - started:.1f} s)")
    _show(description, output)


def _create_accounts() -> datetime:
    """Create the missing accounts. Return the time at which the main account was created."""
    created_at = {}
    for account_id, name in ACCOUNTS.items():
        account = find_account(account_id)
        if account is None:
            account = create_account(name, account_id)
            change_account_settings(account_id, _SETTINGS, "demo")
        created_at[account_id] = account.created_at
    return created_at[MAIN_ACCOUNT]


def _write(definitions: list[RawDefinition]) -> Counter[Kind]:
    checked, problems = check(definitions, None, StoredResources())
    if not problems:
        with progress("Demo data", len(checked)) as advance:
            problems = write(checked, lambda _: advance())
    for problem in problems:
        notices().print(str(problem))
    if problems:
        raise typer.Exit(1)
    return Counter(definition.kind for definition in checked)


def _load_feedback(submissions: Sequence[DemoFeedback]) -> int:
    """Create the trackers of the submissions, and load the submissions, oldest first."""
    loaded = 0
    with progress("Feedback", len(submissions)) as advance:
        for batch in in_groups(submissions, MAX_BATCH_SIZE):
            loaded += load_earlier_submissions([_submission(feedback) for feedback in batch])
            advance(len(batch))
    return loaded


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
    if feedback.purchase_id and feedback.sent_at:
        with clock.fixed_at(feedback.sent_at):
            tracker = create_tracker(
                MAIN_ACCOUNT,
                feedback.form_id,
                feedback.purchase_id,
                feedback.send_mode,
                demo_id(f"tracker {feedback.key}"),
            )
        body["tracker"] = tracker.id
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
            save_workflow(MAIN_ACCOUNT, definition)


def _describe(
    base_url: str,
    mailbox: str | None,
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
        with suppress(NotAuthenticated):
            if authenticate(earlier.api_key, earlier.api_secret).account_id == account_id:
                return earlier.api_key, earlier.api_secret
    credential, secret = issue_key(account_id, operator_identity(), "Demo")
    return credential.api_key, secret


def _webhook_secret(earlier: DemoDescription | None) -> str:
    if earlier and earlier.webhook_secret == active_webhook_secret(MAIN_ACCOUNT):
        return earlier.webhook_secret
    if earlier:
        notices().print(
            "Created a new webhook secret, because the secret in the output file is not active."
        )
    return rotate_webhook_secret(MAIN_ACCOUNT, operator_identity()).secret


def _unused_trackers(definitions: list[RawDefinition], version: str) -> list[str]:
    """Return the ids of `_TRACKERS` unused trackers. Create trackers if too few are unused.

    Trackers are created after all other demo data. If the last tracker exists, the demo data is
    therefore complete.
    """
    stays = [
        id_of(MAIN_ACCOUNT, definition.content)
        for definition in definitions
        if definition.content["kind"] == Kind.PURCHASE
        and definition.content["account"] == MAIN_ACCOUNT
        and "startDate" in definition.content
        and "customerId" in definition.content
    ]
    unused: list[str] = []
    for number in count():
        if len(unused) == _TRACKERS:
            break
        tracker_id = _tracker_id(version, number)
        tracker = find_tracker(tracker_id)
        if tracker is None:
            purchase = stays[number % len(stays)]
            create_tracker(MAIN_ACCOUNT, _PRIVATE_SURVEY, purchase, "EMAIL", tracker_id)
        if tracker is None or tracker.used_at is None:
            unused.append(tracker_id)
    return unused


def _tracker_id(version: str, number: int) -> str:
    return demo_id(f"tracker {version} {number}")


def _purchase_command() -> str:
    """Return a shell command that imports a purchase with the current time and requests a survey.

    The id and the e-mail address contain the time, so each run sends a survey.
    """
    purchase = {
        "source": "Site",
        "externalId": "demo-NOW",
        "storeId": demo_id("store lyon"),
        "date": "DATE",
        "customer": {"firstName": "Zoé", "email": "zoe.NOW@example.com", "emailOptin": True},
    }
    line = json.dumps(purchase, ensure_ascii=False)
    line = line.replace("NOW", "'$(date +%s)'").replace("DATE", "'$(date -u +%FT%TZ)'")
    variables = [f"{name}={quote(os.environ[name])}" for name in _AWS if name in os.environ]
    options = f"--account {MAIN_ACCOUNT} --solicit"
    command = f"{quote(sys.executable)} -m admin purchase import - {options}"
    return f"echo '{line}' | {' '.join(variables)} {command}"


def _show(description: DemoDescription, output: Path) -> None:
    headers = f"-H 'X-API-KEY: {description.api_key}' -H 'X-API-SECRET: {description.api_secret}'"
    base_url = description.base_url
    customer = f"{base_url}/partners/customer"
    survey = f"{base_url}/partners/survey"
    mailbox = f"\nMailbox       {description.mailbox}" if description.mailbox else ""
    send = (
        f"""
Import a purchase of a new customer. Seconds later, the mailbox contains the survey:
{_purchase_command()}
"""
        if description.mailbox
        else ""
    )
    results().print(
        f"""
Base URL      {base_url}
X-API-KEY     {description.api_key}
X-API-SECRET  {description.api_secret}{mailbox}

Try:
curl -s {headers} '{customer}?id={description.customer_id}'
curl -s {headers} -H 'Content-Type: application/json' -d '{{"limit": 5}}' '{customer}/list'
curl -s {headers} '{survey}?id={description.survey_id}'
{send}
Open in a browser:
{description.contact_form_page}
{description.survey_page}
{description.rtl_survey_page}

All ids and credentials are in {output}."""
    )
