"""Find earlier definitions in the history of an account."""

import json
from datetime import datetime
from typing import Any

from admin.domain.forms.build import support_email_definition
from admin.services.accounts.manage import last_changes_of
from admin.services.definitions.definition import Kind
from admin.services.definitions.kinds import Replaced
from admin.services.workflows.manage import find_version
from chalicelib.domain.errors import Conflict
from chalicelib.domain.forms.survey import SavedSurvey


def previous_definition(
    account_id: str, resource: Replaced[Any], resource_id: str, at: datetime | None
) -> dict[str, Any]:
    """Return the definition before the last change, or the definition of a time.

    Raises:
        Conflict: the history contains no change of the resource, or none after the time, or the
            resource did not exist before the change.
        NotFound: the earlier version of a workflow was not kept.
    """
    kind = resource.kind
    changes = last_changes_of(account_id, f"{kind.value} {resource_id}")
    if at is None:
        change = changes[0] if changes else None
    else:
        change = next((c for c in reversed(changes) if c.changed_at > at), None)
    if change is None:
        raise Conflict(f"The history contains no change of this {kind.word} to revert.")
    if change.old is None:
        raise Conflict(f"The {kind.word} did not exist before {change.changed_at:%Y-%m-%d %H:%M}.")
    if kind is Kind.WORKFLOW:
        earlier = find_version(account_id, resource_id, change.changed_at)
    else:
        earlier = resource.saved.model_validate_json(json.dumps(change.old))
    definition = resource.content(account_id, earlier)
    # A load keeps what these properties are now, if a definition omits them.
    if kind not in (Kind.BRAND, Kind.STORE):
        definition["enabled"] = earlier.enabled
    if isinstance(earlier, SavedSurvey):
        address = earlier.support_email
        definition["supportEmail"] = support_email_definition(address) if address else None
    return definition
