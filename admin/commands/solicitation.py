"""The command ``solicitation``: list, explain and resend surveys about purchases."""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Final

import typer

from admin.display.customers import summary_of
from admin.display.solicitations import show_solicitations, solicitation_record
from admin.display.words import sending_rules
from admin.error_messages import one_line_message
from admin.options import (
    EXTERNAL_ID,
    SOURCE,
    AccountArgument,
    EmailOption,
    PhoneOption,
    WideOption,
    YesOption,
    example,
    id_option,
    limit_option,
    time_option,
)
from admin.services.accounts.manage import require_account
from admin.services.customers.find import find_by_email, find_by_phone_number
from admin.services.solicitation.manage import (
    list_solicitations,
    list_solicitations_of_customer,
    load_cases,
    load_explanation,
    load_reminder,
    load_unknown,
    resend,
    text_cost,
)
from admin.terminal import (
    cell_text,
    confirm,
    day,
    json_name,
    notices,
    prints_json,
    results,
    show_json,
    show_properties,
    show_record,
    show_table,
)
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import Conflict, Unavailable
from chalicelib.domain.forms.survey import ResolicitationMode
from chalicelib.domain.solicitation.contact import REMINDER_SCOPE, Contact, scopes_of
from chalicelib.domain.solicitation.decide import (
    Decision,
    Facts,
    Hold,
    Send,
    SkipReason,
    decide,
)
from chalicelib.domain.solicitation.explanation import outcome_in_words
from chalicelib.domain.solicitation.phone_number import is_mobile, region_of
from chalicelib.domain.solicitation.sms_segments import TextSize
from chalicelib.domain.solicitation.solicitation import SolicitationState
from chalicelib.services.customers.read import read_customer
from chalicelib.services.solicitation.case import Case
from chalicelib.services.solicitation.send_invitation import describe_size

app = typer.Typer(help="List, explain and resend surveys about purchases.", no_args_is_help=True)

_FINAL: Final = "The outcome above is final, so this decision has no effect."


@app.command("list", epilog=example("solicitation list ACCOUNT --state skipped --json"))
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
        time_option("List only solicitations created at or after this time."),
    ] = None,
    limit: Annotated[int, limit_option("solicitations", 100_000)] = 50,
    customer: Annotated[
        str | None, id_option("List only the solicitations of this customer.")
    ] = None,
    _wide: WideOption = False,
) -> None:
    """List an account's solicitations, newest first.

    Cost: two AWS requests, plus one per 1,000 solicitations. With --state or --reason, the command
    reads solicitations until enough match. With --customer, two requests, plus one per 100
    solicitations of the customer.
    """
    if customer:
        read_customer(account, customer)
        of_customer = [
            solicitation
            for solicitation in list_solicitations_of_customer(account, customer)
            if state in (None, solicitation.state)
            and (reason is None or reason.value == solicitation.reason)
            and (since is None or solicitation.created_at >= since)
        ]
        show_solicitations(of_customer[:limit])
        return
    found = list_solicitations(
        account,
        state=state,
        reason=reason.value if reason else None,
        since=since,
        at_most=limit,
    )
    show_solicitations(found)


@app.command(
    epilog=example(
        "solicitation explain ACCOUNT --email zoe@example.com",
        "solicitation explain ACCOUNT Site ORDER-1",
    )
)
def explain(
    account: AccountArgument,
    source: Annotated[DataSource | None, SOURCE] = None,
    external_id: Annotated[str | None, EXTERNAL_ID] = None,
    email: EmailOption = None,
    phone: PhoneOption = None,
    customer: Annotated[str | None, id_option("The customer's id.")] = None,
) -> None:
    """Explain why a person received surveys or none, for one purchase or for all.

    For one purchase, the command shows the outcome, each fact, and the decision that the current
    facts lead to, for the survey and for its reminder. With --email, --phone or --customer, it
    shows one sentence for each purchase of the person.

    Cost: about 13 AWS requests; for a person, about ten, and two per purchase.
    """
    person = [option for option in (email, phone, customer) if option is not None]
    if len(person) + (source is not None) != 1 or (source is None) != (external_id is None):
        raise typer.BadParameter(
            "Provide SOURCE and EXTERNAL_ID, or one of --email, --phone and --customer."
        )
    if source is None or external_id is None:
        _explain_person(account, email, phone, customer)
        return
    case = load_explanation(account, source, external_id)
    outcome = solicitation_record(case.solicitation)
    decided = decide(case.facts)
    facts, decision = dict(_facts(case.facts)), _described(decided)
    size, price = _text_cost(case, decided) or (None, None)
    reminder = _reminder(case)
    if prints_json():
        show_json(
            {
                "outcome": {json_name(name): value for name, value in outcome.items()},
                "facts": {json_name(name): texts for name, texts in facts.items()},
                "decision": decision,
                "reminder": {json_name(name): text for name, text in reminder.items()} or None,
                "textMessage": size and {"segments": size.segments, "price": price},
            }
        )
        return
    show_properties({name: value for name, value in outcome.items() if value is not None})
    results().print()
    show_properties({name: "\n".join(texts) for name, texts in facts.items()})
    results().print(f"\nDecision from these facts: {decision}")
    if case.solicitation.outcome_is_final:
        results().print(_FINAL)
    if size:
        results().print(f"Text message: {_described_cost(size, price)}")
    if reminder:
        results().print()
        show_properties({name: text for name, text in reminder.items() if text})


def _explain_person(
    account: str, email: str | None, phone: str | None, customer_id: str | None
) -> None:
    require_account(account)
    if email is not None:
        found = find_by_email(account, email)
    elif phone is not None:
        found = find_by_phone_number(account, phone)
    else:
        found = [read_customer(account, customer_id or "")]
    if not found:
        raise Conflict("No customer of the account has this address.")
    cases = [case for customer in found for case in load_cases(account, customer.id)]
    show_table(
        ["Purchase", "Date", "Store", "Survey"],
        [
            [
                f"{case.solicitation.source} {case.solicitation.external_id}",
                day(case.facts.purchase.date),
                case.facts.store.name if case.facts.store else "deleted",
                outcome_in_words(case.solicitation, case.facts, cell_text),
            ]
            for case in cases
        ],
    )
    if not cases:
        notices().print("The person has no purchases, so no survey was due.")


@app.command("resend", epilog=example("solicitation resend ACCOUNT Site ORDER-1"))
def resend_unknown(
    account: AccountArgument,
    source: Annotated[DataSource, SOURCE],
    external_id: Annotated[str, EXTERNAL_ID],
    yes: YesOption = False,
) -> None:
    """Send a survey with the outcome UNKNOWN again. The customer may receive the survey twice.

    Cost: about 12 AWS requests.
    """
    read_once = cache(lambda: load_unknown(account, source, external_id))
    confirm(lambda: _resend_question(read_once()), is_confirmed=yes)
    resend(read_once())
    notices().print("Queued.")
    show_record({"queued": 1})


def _resend_question(case: Case) -> str:
    solicitation, recipient = case.solicitation, case.facts.recipient
    name = summary_of(recipient.customer) if recipient else "a deleted customer"
    return (
        f"The customer may already have received this survey. Send the survey about the purchase"
        f" {solicitation.source} {solicitation.external_id} to {name} again?"
    )


def _reminder(case: Case) -> dict[str, str | None]:
    """Return the outcome of the survey's reminder by name; empty if there is no reminder."""
    reminder = load_reminder(case)
    if reminder is None:
        return {}
    own, sent_at = reminder.solicitation, case.solicitation.reminded_at
    due_at = datetime.fromtimestamp(own.due_at, UTC) if own.due_at else None
    return {
        "Reminder": own.state.value,
        "Reminder reason": own.reason or None,
        "Reminder due at": cell_text(due_at) if due_at else None,
        "Reminder sent at": cell_text(sent_at) if sent_at else None,
        "Reminder decision": None if own.outcome_is_final else _described(decide(reminder.facts)),
    }


def _facts(facts: Facts) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each fact and its values."""
    purchase, store, hours = facts.purchase, facts.store, facts.sending_hours
    yield "Now", [cell_text(facts.now)]
    yield "Purchase date", [cell_text(purchase.date)]
    if facts.processed_at:
        yield "First processed", [cell_text(facts.processed_at)]
    yield "Survey requested", [cell_text(facts.is_requested)]
    if facts.is_cancelled:
        yield "Cancelled", [cell_text(facts.is_cancelled)]
    if send_at := facts.purchase.send_at:
        yield "Send at", [cell_text(send_at)]
    yield "Store", [f"{store.name if store else 'deleted'} ({purchase.store_id})"]
    yield "Surveys", list(_surveys(facts)) or ["none"]
    yield from _recipient(facts)
    if facts.text_limit is not None:
        yield "Text messages", [f"{facts.text_count} of {facts.text_limit} reserved today (UTC)"]
    span = f"{hours.start:%H:%M} to {hours.end:%H:%M}" if hours else "any time"
    yield "Sending hours", [f"{span} ({facts.time_zone})"]


def _surveys(facts: Facts) -> Iterator[str]:
    """Describe the surveys that target the store or its brand."""
    places = {facts.store.id, facts.store.brand_id} if facts.store else set()
    for survey in facts.surveys:
        for target in survey.targets:
            if target.target_id in places:
                is_enabled = survey.opening_at(facts.now).is_open and target.enabled
                state = f"{target.type.value}, {'enabled' if is_enabled else 'disabled'}"
                yield f"{survey.name} ({survey.id}): {'; '.join([state, *sending_rules(survey)])}"


def _recipient(facts: Facts) -> Iterator[tuple[str, list[str]]]:
    recipient = facts.recipient
    if recipient is None:
        yield "Customer", ["none"]
        return
    scopes = _scopes(facts)
    customer = recipient.customer
    has_email, number = bool(customer.email), recipient.phone_number
    yield "Customer", [customer.id]
    yield (
        "E-mail",
        [
            f"address {cell_text(has_email)}, opt-in {cell_text(customer.email_optin)},"
            f" bounced {cell_text(customer.email_bounced)}",
            *(_contact(recipient.email, scopes) if recipient.email else ()),
        ],
    )
    yield (
        "Phone",
        [
            f"{number or ('invalid' if customer.phone_number else 'none')},"
            f" opt-in {cell_text(customer.sms_optin)}",
            *(_number_facts(number, recipient.text_countries) if number else ()),
            *(_contact(recipient.phone, scopes) if recipient.phone else ()),
        ],
    )
    yield "Customer record", list(_contact(recipient.record, scopes)) or ["no survey yet"]


def _number_facts(number: str, countries: Collection[str]) -> Iterator[str]:
    kind = "mobile" if is_mobile(number) else "not mobile"
    allowed = ", ".join(sorted(countries)) or "none"
    yield f"country {region_of(number)}, {kind}; countries that receive text messages: {allowed}"


def _scopes(facts: Facts) -> dict[str, str]:
    """Return the names of the scopes of surveys about this purchase."""
    names = {REMINDER_SCOPE: "reminder"}
    for survey in facts.surveys:
        store = facts.store
        modes = scopes_of(store.id if store else "", store.brand_id if store else None, survey.id)
        names |= {scope: f"survey of this {mode.value.lower()}" for mode, scope in modes.items()}
        names[modes[ResolicitationMode.SURVEY]] = f"survey {survey.name}"
    return names


def _contact(contact: Contact, scopes: Mapping[str, str]) -> Iterator[str]:
    for channel, reason in contact.suppressed.items():
        yield f"{channel.value} suppressed: {reason.value}"
    for scope, solicited in contact.solicited.items():
        if name := scopes.get(scope):
            yield f"last {name}: {cell_text(solicited.at)}, purchase {solicited.by}"


def _text_cost(case: Case, decision: Decision) -> tuple[TextSize, float | None] | None:
    try:
        return text_cost(case, decision)
    except Unavailable as error:
        reason = one_line_message(error)
        notices().print(f"The size of the text message is not known. {reason}")
        return None


def _described_cost(size: TextSize, price: float | None) -> str:
    if price is None:
        return describe_size(size)
    # Segments can cost less than a hundredth.
    return f"{describe_size(size)}, price {f'{price:.6f}'.rstrip('0').rstrip('.')}"


def _described(decision: Decision) -> str:
    match decision:
        case Send():
            return f"send survey {decision.survey.id} now through {decision.channel.value}"
        case Hold():
            return f"held until {cell_text(decision.until)} ({decision.reason.value})"
    return f"skip ({decision.reason.value})"
