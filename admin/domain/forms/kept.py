"""Complete the definition of a form with the values that a load never changes by omission."""

from typing import Any, Final

from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey, SupportEmail

_DERIVED: Final = {"created_at", "updated_at"}


def with_kept_values(definition: Any, stored: SavedContactForm | SavedSurvey | None) -> Any:
    """Return the definition with the stored `enabled` and `supportEmail`, if it omits them.

    Operators disable forms and verify support addresses with other commands. A file that was
    written before must not enable a form again or remove a verified address. Null restores the
    default: a form is enabled and has no support address.
    """
    if stored is None or not isinstance(definition, dict):
        return definition
    kept: dict[str, Any] = {"enabled": stored.enabled}
    if isinstance(stored, SavedSurvey) and stored.support_email:
        kept["supportEmail"] = support_email_definition(stored.support_email)
    return kept | definition


def support_email_definition(support_email: SupportEmail) -> dict[str, Any]:
    """Return the definition of a stored support address."""
    content = support_email.model_dump(mode="json", by_alias=True, exclude=_DERIVED)
    return {name: value for name, value in content.items() if name != "forwardingEmail" or value}
