"""Make the emulator check the actions and resources that AWS checks.

The service authorization reference of AWS has no actions for batches of SQS: AWS checks the action
for each message. `SendRawEmail` has the identity of the sender as resource.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs

from ministack.core import iam_actions  # type: ignore[import-not-found]

_BATCH: Final = "Batch"
_SEND: Final = "SendRawEmail"


def check_permissions_as_aws() -> None:
    """Replace the emulator's rules for batches of SQS and for the identities of SES."""
    iam_actions.extract_iam_action = _with_single_actions(iam_actions.extract_iam_action)
    iam_actions.extract_resource_arn = _with_identities(iam_actions.extract_resource_arn)


def _with_single_actions(extract: Callable[..., str | None]) -> Callable[..., str | None]:
    def extract_action(service: str, *request: Any) -> str | None:
        action = extract(service, *request)
        return action.removesuffix(_BATCH) if action and service == "sqs" else action

    return extract_action


def _with_identities(extract: Callable[..., str]) -> Callable[..., str]:
    def extract_resource(
        service: str,
        method: str,
        path: str,
        headers: Any,
        body: bytes,
        query: Any,
        region: str,
        account: str,
    ) -> str:
        form = parse_qs(body.decode("utf-8", "replace")) if service == "ses" and body else {}
        if form.get("Action") == [_SEND]:
            sender = form.get("Source", ["sender"])[0]
            return f"arn:aws:ses:{region}:{account}:identity/{sender}"
        return extract(service, method, path, headers, body, query, region, account)

    return extract_resource
