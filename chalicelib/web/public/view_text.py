"""Serialize the public views of forms and surveys to JSON, and cache the JSON."""

from typing import Final, NamedTuple

from chalicelib.domain.forms.public.form import PublicForm
from chalicelib.services.caching import cached

_MAX_CACHED_TEXTS: Final = 256


class _CachedText(NamedTuple):
    """The JSON of a view.

    The cache key of a text is the Python `id` of its view. While the text is cached, the reference
    to the view keeps the view alive, so that Python cannot give the same `id` to another object.
    """

    view: PublicForm
    text: str


def view_text(view: PublicForm) -> str:
    """Return the JSON of a view. Views are cached, so many requests share the same view object."""
    return _cached_text(view).text


@cached(at_most=_MAX_CACHED_TEXTS, key=id)
def _cached_text(view: PublicForm) -> _CachedText:
    return _CachedText(view, view.model_dump_json())
