"""``demo``: the demo data, its credentials, and how to try them."""

import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Annotated, Final

import typer

from admin.commands.load import StoredKnowledge, counts_in_words
from admin.definitions.check import check
from admin.definitions.definition import Definition, Kind, RawDefinition
from admin.definitions.save import write
from admin.demo.contents import ACCOUNTS, demo_definitions, stores_of, version_of
from admin.demo.customers import SHOWN_CUSTOMER
from admin.demo.description import DemoDescription, OtherAccount
from admin.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from admin.demo.purchases import OTHER_PURCHASE, SHOWN_PURCHASE, id_of
from admin.demo.workflows import main_workflows
from admin.terminal import notices, results, writing_progress
from chalicelib.domain import clock
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.services.accounts.manage import create_account, issue_key
from chalicelib.services.solicitation.issue_tracker import issue_tracker
from chalicelib.services.webhooks.secret import rotate_webhook_secret
from chalicelib.services.workflows.manage import list_workflows, save_workflow
from chalicelib.storage import accounts, trackers, webhook_secrets

_TRACKERS: Final = 24
_PRIVATE_SURVEY: Final = demo_id("survey stay")


def demo(
    base_url: Annotated[str, typer.Option(help="Where the service answers.")],
    output: Annotated[
        Path, typer.Option(dir_okay=False, help="The file that gets the ids and credentials.")
    ],
    webhook_url: Annotated[
        str | None,
        typer.Option(
            help="Where the demo's workflows send their webhooks; none without it.",
            envvar="DEMO_WEBHOOK_URL",
        ),
    ] = None,
) -> None:
    """Put the demo data in, unless it is there, and show how to try it.

    What is there is kept. Credentials that the file holds are kept while they work.
    """
    started = time.monotonic()
    documents = demo_definitions()
    version = version_of(documents)
    if trackers.find(_tracker_id(version, _TRACKERS - 1)):
        outcome = "kept"
    else:
        outcome = counts_in_words(_load(documents))
    if webhook_url:
        _keep_workflows(webhook_url)
    described = _describe(base_url.rstrip("/"), documents, version, DemoDescription.read(output))
    try:
        described.write(output)
    except OSError as error:
        notices().print(f"Error: {output} cannot be written: {error.strerror}.")
        raise typer.Exit(1) from None
    results().print(f"✓ Demo data: {outcome} ({time.monotonic() - started:.1f} s)")
    _show(described, output)


def _load(documents: list[RawDefinition]) -> Counter[Kind]:
    for account_id, name in ACCOUNTS.items():
        if accounts.find(account_id) is None:
            create_account(name, account_id)
    checked, problems = check(documents, None, StoredKnowledge())
    written: Counter[Kind] = Counter()
    if not problems:
        with writing_progress("Demo data", len(checked)) as advance:

            def tell(definition: Definition) -> None:
                written[definition.kind] += 1
                advance()

            problems = write(checked, tell)
    for problem in problems:
        notices().print(str(problem))
    if problems:
        raise typer.Exit(1)
    return written


def _keep_workflows(url: str) -> None:
    """Saves the workflows that are missing or send to another place; the others are kept."""
    there = {workflow.id: workflow.actions[0].url for workflow in list_workflows(MAIN_ACCOUNT)}
    for document in main_workflows(url):
        if there.get(document["id"]) != url:
            save_workflow(MAIN_ACCOUNT, document)


def _describe(
    base_url: str, documents: list[RawDefinition], version: str, earlier: DemoDescription | None
) -> DemoDescription:
    key, secret = _credentials(
        MAIN_ACCOUNT, (earlier.api_key, earlier.api_secret) if earlier else None
    )
    other_key, other_secret = _credentials(
        OTHER_ACCOUNT, (earlier.other.api_key, earlier.other.api_secret) if earlier else None
    )
    brand = demo_id("brand lumen")
    return DemoDescription(
        base_url=base_url,
        account_id=MAIN_ACCOUNT,
        api_key=key,
        api_secret=secret,
        webhook_secret=_webhook_secret(earlier),
        brand_id=brand,
        store_ids=stores_of(documents, brand),
        contact_form_id=demo_id("contact-form lumen"),
        survey_id=demo_id("survey visit"),
        private_survey_id=_PRIVATE_SURVEY,
        trackers=_unused_trackers(documents, version),
        purchase_id=SHOWN_PURCHASE,
        customer_id=SHOWN_CUSTOMER,
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


def _credentials(account_id: str, earlier: tuple[str, str] | None) -> tuple[str, str]:
    if earlier:
        try:
            if authenticate(*earlier) == account_id:
                return earlier
        except NotAuthenticated:
            pass
    credential, secret = issue_key(account_id, label="Demo")
    return credential.api_key, secret


def _webhook_secret(earlier: DemoDescription | None) -> str:
    if earlier and earlier.webhook_secret == webhook_secrets.find_active(MAIN_ACCOUNT, clock.now()):
        return earlier.webhook_secret
    if earlier:
        notices().print("Made a new webhook secret: the one of the demo file signs no more.")
    return rotate_webhook_secret(MAIN_ACCOUNT).secret


def _unused_trackers(documents: list[RawDefinition], version: str) -> list[str]:
    """Trackers that took no submission yet; new ones take the places of those that did.

    The first of them are made last of all, so they also tell that the data is whole.
    """
    stays = [
        id_of(MAIN_ACCOUNT, document.content)
        for document in documents
        if document.content["kind"] == Kind.PURCHASE
        and document.content["account"] == MAIN_ACCOUNT
        and "startDate" in document.content
        and "customerId" in document.content
    ]
    unused: list[str] = []
    for number in count():
        if len(unused) == _TRACKERS:
            break
        tracker_id = _tracker_id(version, number)
        tracker = trackers.find(tracker_id)
        if tracker is None:
            purchase = stays[number % len(stays)]
            issue_tracker(MAIN_ACCOUNT, _PRIVATE_SURVEY, purchase, "EMAIL", tracker_id)
        if tracker is None or tracker.used_at is None:
            unused.append(tracker_id)
    return unused


def _tracker_id(version: str, number: int) -> str:
    return demo_id(f"tracker {version} {number}")


def _show(described: DemoDescription, output: Path) -> None:
    headers = f"-H 'X-API-KEY: {described.api_key}' -H 'X-API-SECRET: {described.api_secret}'"
    base_url = described.base_url
    customer = f"{base_url}/partners/customer"
    survey = f"{base_url}/partners/survey"
    results().print(
        f"""
Base URL      {base_url}
X-API-KEY     {described.api_key}
X-API-SECRET  {described.api_secret}

Try:
curl -s {headers} '{customer}?id={described.customer_id}'
curl -s {headers} -H 'Content-Type: application/json' -d '{{"limit": 5}}' '{customer}/list'
curl -s {headers} '{survey}?id={described.survey_id}'

Everything else that scripts need is in {output}."""
    )
