"""Find the ids of forms, brands and stores that an operator names."""

from admin.domain.selection import select
from admin.services.forms.manage import list_forms
from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.ids import parse_id
from chalicelib.services.accounts.directory import current_directory


def form_id_of(account_id: str, kind: FormKind, text: str) -> str:
    """Return the id of the account's form with this id, key or name, or beginning of one.

    No AWS request for an id, which is not checked; otherwise three per 100 forms.

    Raises:
        NotFound: no form of the account has this key, name or beginning.
        Conflict: several forms have it.
    """
    word = kind.value.lower().replace("_", " ")
    return parse_id(text) or (
        select(
            text,
            list_forms(account_id, kind),
            lambda form: (form.saved.id, form.saved.key, form.saved.name),
            word,
        ).saved.id
    )


def place_id_of(account_id: str, kind: PlaceKind, text: str) -> str:
    """Return the id of the account's brand or store with this id, key or name, or beginning of one.

    No AWS request for an id, which is not checked; otherwise one.

    Raises:
        NotFound: no brand or store of the account has this key, name or beginning.
        Conflict: several of them have it.
    """
    if parsed := parse_id(text):
        return parsed
    places = [place for place in current_directory(account_id).places if place.kind is kind]
    return select(text, places, lambda p: (p.id, p.key, p.name), kind.value.lower()).id
