"""The command ``solicitation``: list, explain and resend surveys about purchases."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from admin.commands.account import AccountArgument
from admin.commands.purchase import ExternalIdArgument, SourceArgument
from admin.terminal import notices, results, show_json, show_table
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.domain.solicitation.decide import (
    Decision,
    Facts,
    Hold,
    Recipient,
    Send,
    SkipReason,
    decide,
)
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState
from chalicelib.services.solicitation.manage import (
    list_solicitations,
    load_explanation,
    resend,
)

app = typer.Typer(help="List, explain and resend surveys about purchases.", no_args_is_help=True)


@app.command("list")
def list_all(
    account: AccountArgument,
    state: Annotated[
        SolicitationState | None,
        typer.Option(help="List only solicitations in this state.", case_sensitive=False),
    ] = None,
    reason: Annotated[
        SkipReason | None,
        typer.Option(help="List only solicitations with this reason.", case_sensitive=False),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
            help="List only solicitations created at or after this time (UTC).",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(help="The maximum number of solicitations.", min=1, max=100_000)
    ] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """List an account's solicitations, the newest first."""
    found = list_solicitations(
        account,
        state=state,
        reason=reason.value if reason else None,
        since=since.replace(tzinfo=UTC) if since else None,
        at_most=limit,
    )
    rows = [_properties(solicitation) for solicitation in found]
    if as_json:
        show_json(rows)
        return
    show_table(
        ["Source", "External id", "Customer", "State", "Reason", "Channel", "Held until", "Sent"],
        [
            [
                str(row[name] or "")
                for name in (
                    "source",
                    "externalId",
                    "customerId",
                    "state",
                    "reason",
                    "channel",
                    "heldUntil",
                    "sentAt",
                )
            ]
            for row in rows
        ],
    )


@app.command()
def explain(
    account: AccountArgument, source: SourceArgument, external_id: ExternalIdArgument
) -> None:
    """Show the outcome of a solicitation, and the decision from the current facts."""
    case = load_explanation(account, source, external_id)
    lines = [
        *_outcome_lines(case.solicitation),
        "",
        *_fact_lines(case.facts),
        "",
        f"Decision from these facts: {_described(decide(case.facts))}",
    ]
    results().print("\n".join(lines))


@app.command("resend")
def resend_unknown(
    account: AccountArgument,
    source: SourceArgument,
    external_id: ExternalIdArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Send a survey again whose outcome is UNKNOWN. The customer may receive it twice."""
    if not yes:
        notices().print("The customer may already have received this survey.")
        typer.confirm("Send it again?", abort=True, err=True)
    resend(account, source, external_id)
    notices().print("Queued.")


def _properties(solicitation: Solicitation) -> dict[str, Any]:
    held_until, sent_at = solicitation.held_until, solicitation.sent_at
    return {
        "source": solicitation.source,
        "externalId": solicitation.external_id,
        "customerId": solicitation.customer_id,
        "state": solicitation.state.value,
        "reason": solicitation.reason or None,
        "channel": solicitation.channel.value if solicitation.channel else None,
        "surveyId": solicitation.survey_id,
        "trackerId": solicitation.tracker_id,
        "heldUntil": format_timestamp(held_until) if held_until else None,
        "sentAt": format_timestamp(sent_at) if sent_at else None,
    }


def _outcome_lines(solicitation: Solicitation) -> Iterator[str]:
    yield f"Solicitation        {solicitation.id}"
    for name, value in _properties(solicitation).items():
        if value:
            yield f"  {name:<18}{value}"
    if solicitation.message_id:
        yield f"  {'messageId':<18}{solicitation.message_id}"


def _fact_lines(facts: Facts) -> Iterator[str]:
    purchase, store = facts.purchase, facts.store
    yield "Facts"
    yield f"  Now               {format_timestamp(facts.now)}"
    yield f"  Purchase date     {format_timestamp(purchase.date)}"
    if facts.processed_at:
        yield f"  First processed   {format_timestamp(facts.processed_at)}"
    yield f"  Survey requested  {_yes(facts.is_requested)}"
    yield f"  Store             {store.name if store else 'deleted'} ({purchase.store_id})"
    for survey in facts.surveys:
        places = {target.target_id: target.enabled for target in survey.targets}
        for place_id in (store.id, store.brand_id) if store else ():
            if place_id in places:
                is_enabled = survey.enabled and places[place_id]
                yield (
                    f"  Survey            {survey.id}: {'enabled' if is_enabled else 'disabled'},"
                    f" channels {', '.join(survey.sending_channels)},"
                    f" threshold {survey.solicitation_threshold} s,"
                    f" delay {survey.resolicitation_delay} s per {survey.resolicitation_mode.value}"
                )
    yield from _recipient_lines(facts.recipient)
    hours = facts.sending_hours
    span = f"{hours.start:%H:%M} to {hours.end:%H:%M}" if hours else "any time"
    yield f"  Sending hours     {span} ({facts.time_zone})"


def _recipient_lines(recipient: Recipient | None) -> Iterator[str]:
    if recipient is None:
        yield "  Customer          none"
        return
    customer = recipient.customer
    yield f"  Customer          {customer.id}"
    yield (
        f"  E-mail            {'yes' if customer.email else 'none'},"
        f" opt-in {_yes(customer.email_optin)}, bounced {_yes(customer.email_bounced)}"
    )
    number = recipient.phone_number or ("invalid" if customer.phone_number else "none")
    yield f"  Phone             {number}, opt-in {_yes(customer.sms_optin)}"
    contacts = {"Record": recipient.record, "Address": recipient.email, "Number": recipient.phone}
    for name, contact in contacts.items():
        if contact:
            yield from _contact_lines(name, contact)


def _contact_lines(name: str, contact: Contact) -> Iterator[str]:
    for channel, reason in contact.suppressed.items():
        yield f"  {name:<18}{channel.value} suppressed: {reason.value}"
    for scope, solicited in contact.solicited.items():
        time = format_timestamp(solicited.at)
        yield f"  {name:<18}last survey in scope {scope}: {time} for purchase {solicited.by}"


def _described(decision: Decision) -> str:
    match decision:
        case Send():
            return f"send survey {decision.survey.id} now through {decision.channel.value}"
        case Hold():
            return f"held until {format_timestamp(decision.until)} ({decision.reason.value})"
    return f"skip ({decision.reason.value})"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
