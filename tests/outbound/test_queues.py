"""The SQS client."""

from botocore.session import get_session

from chalicelib.outbound import queues
from chalicelib.settings import settings
from tests.aws_requests import sent_to


def test_client_uses_the_endpoint_that_botocore_resolves() -> None:
    stock = get_session().create_client("sqs", region_name=settings().region)
    queues.forget_client()
    own = sent_to(queues._client(), "get_queue_url", QueueName="feedback")
    queues.forget_client()
    assert own == sent_to(stock, "get_queue_url", QueueName="feedback")
