"""Test that the surveys of a period are found by their sending time, with few AWS requests."""

from datetime import timedelta

from admin.services.solicitation.sent_surveys import find_sent_surveys
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.sending_errors import MessageRejected
from tests.services.moved_time import Time
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import Shop, stored

DAY = timedelta(days=1)


def customer(number: int) -> dict[str, object]:
    return {"email": f"customer{number}@example.test", "emailOptin": True}


def test_period_contains_surveys_by_sending_time(
    shop: Shop, provider: Provider, time: Time
) -> None:
    start = clock.now()
    shop.record(customer=customer(1))
    held = shop.record(customer=customer(2), date=format_timestamp(start + 2 * DAY))
    shop.solicit()
    shop.advance(time, 3 * DAY)
    provider.reactions.append(MessageRejected("invalid address"))
    shop.record(customer=customer(3))
    shop.solicit()
    sent_at = stored(held).sent_at
    assert sent_at
    for since, until, number in (
        (start, start + DAY, 1),
        (start + DAY, start + 4 * DAY, 1),
        (start, start + 4 * DAY, 2),
        (sent_at, sent_at + DAY, 1),
        (start + DAY, sent_at, 0),
    ):
        with counted_calls() as calls:
            found = list(find_sent_surveys(shop.account_id, since, until))
        assert [(survey.survey_id, survey.store_id) for survey in found] == [
            (shop.survey_id, shop.store_id)
        ] * number
        assert dict(calls) == {"dynamodb.Query": 1} | (
            {"dynamodb.BatchGetItem": 2} if number else {}
        )


def test_option_selects_surveys_of_one_definition(shop: Shop) -> None:
    shop.record()
    shop.solicit()
    period = (clock.now() - DAY, clock.now() + DAY)
    selected = {
        survey_id: len(list(find_sent_surveys(shop.account_id, *period, survey_id=survey_id)))
        for survey_id in (shop.survey_id, new_id())
    }
    assert list(selected.values()) == [1, 0]
