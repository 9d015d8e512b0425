"""Build saved contact forms and surveys from their stored documents.

After a rollback, an earlier version of the service can find forms that it cannot read. Such a form
must not stop the others.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import UnreadableForm
from chalicelib.log import logger
from chalicelib.storage.forms import FormRow, StoredForm

Saved = TypeVar("Saved", bound=BaseModel)
Built = TypeVar("Built")


@contextmanager
def reading(stored: StoredForm | FormRow) -> Iterator[None]:
    """Raise `UnreadableForm` if the ``with`` block cannot parse the document of this form."""
    try:
        yield
    except ValidationError as error:
        raise UnreadableForm(stored.form_id) from error


def read_saved(model: type[Saved], stored: StoredForm | FormRow) -> Saved:
    """Build a saved form.

    Raises:
        UnreadableForm: this version of the service cannot read the form.
    """
    with reading(stored):
        return model.model_validate_json(stored.document)


def readable(build: Callable[[StoredForm], Built], forms: Iterable[StoredForm]) -> Iterator[Built]:
    """Yield the results for the forms that this version of the service can read.

    Log the others, except archived ones.
    """
    for stored in forms:
        try:
            built = build(stored)
        except UnreadableForm:
            if not is_archived(stored.document):
                logger.error(
                    "form unreadable", account_id=stored.account_id, form_id=stored.form_id
                )
        else:
            yield built


def is_archived(document: bytes) -> bool:
    """Return whether an operator archived the form, also if it cannot be read."""
    try:
        saved = json.loads(document)
    except ValueError:
        return False
    return isinstance(saved, dict) and saved.get("archived") is True
