"""Environment of in-process tests: moto, with the data stack's tables for the stage ``test``."""

import os
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from hypothesis import settings as hypothesis_settings
from moto import mock_aws

# Before any project import: no test may reach a real account.
os.environ.update(
    {
        "STAGE": "test",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_SESSION_TOKEN": "testing",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "POWERTOOLS_METRICS_NAMESPACE": "feedback",
        "POWERTOOLS_SERVICE_NAME": "feedback",
    }
)
os.environ.pop("AWS_ENDPOINT_URL", None)

hypothesis_settings.register_profile("project", deadline=None, derandomize=True)
hypothesis_settings.load_profile("project")

DATA_STACK = Path(__file__).parent.parent / "infrastructure" / "data.yaml"


@pytest.fixture(scope="module")
def cloud() -> Iterator[None]:
    """Create the data stack's tables and queues on moto, empty for each test module.

    The tests of a module share them and use separate accounts.
    """
    from chalicelib.outbound.queues import forget_client
    from chalicelib.storage.dynamodb.table import forget_connection
    from tests.policies import check_requests

    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        check_requests(patch)
        forget_connection()
        forget_client()
        boto3.client("cloudformation").create_stack(
            StackName="feedback-test-data",
            TemplateBody=DATA_STACK.read_text(),
            Parameters=[{"ParameterKey": "Stage", "ParameterValue": "test"}],
        )
        yield
        forget_connection()
        forget_client()
