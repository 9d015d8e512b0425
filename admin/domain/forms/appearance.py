"""Warn about the appearance of a form: low contrast, and parts that pages do not display.

A form with low contrast is valid. Pages replace its colours so that respondents can read them.
"""

from collections.abc import Iterator
from typing import Final

from admin.domain.forms.form import FormDefinition
from chalicelib.domain.forms.colours import (
    ReplacedColour,
    configured_colours,
    replaced_colours,
)
from chalicelib.domain.forms.web_url import is_font_file_url, page_origin
from chalicelib.domain.input_errors import InputError, json_pointer

_HOSTS: Final = "from hosts with ASCII letters, digits, '-' and '.'"
_IMAGES: Final = ("logo", "footer_logo", "cover", "submission_image")


def appearance_warnings(definition: FormDefinition) -> Iterator[InputError]:
    """Yield warnings for colours with too low contrast, and for parts that pages do not display."""
    font = definition.general_style.font
    if font.url and not is_font_file_url(font.url):
        yield InputError(
            json_pointer("generalStyle", "font", "url"),
            "no_font_file",
            f"Pages load only font files over https (.woff2, .woff, .ttf or .otf), {_HOSTS}.",
        )
    for position, field in enumerate(definition.fields):
        labels = field.type.rules.labels
        if labels and field.values and len(field.values) != labels:
            yield InputError(
                json_pointer("fields", position, "values"),
                "labels_ignored",
                f"Pages display `values` as labels only if there are {labels}.",
            )
    for name in _IMAGES:
        image = getattr(definition, name)
        if image and image.url and not page_origin(image.url):
            yield InputError(
                json_pointer(type(definition).model_fields[name].alias or name, "url"),
                "image_not_displayed",
                f"Pages display only images {_HOSTS}.",
            )
    configured = configured_colours(
        definition.general_style, definition.footer, definition.submission
    )
    reported: set[tuple[str, str]] = set()
    for replaced in replaced_colours(configured):
        pair = (replaced.foreground, replaced.background)
        if pair not in reported:
            reported.add(pair)
            yield _low_contrast(replaced)


def _low_contrast(replaced: ReplacedColour) -> InputError:
    front = (replaced.foreground, replaced.foreground_colour)
    back = (replaced.background, replaced.background_colour)
    (pointer, colour), (name, other) = sorted((front, back), key=lambda item: item[0][0] != "/")
    # Round down: a ratio below the minimum must not look like the minimum.
    return InputError(
        pointer,
        "low_contrast",
        f"The contrast of {colour} with {other}"
        f" ({name if name.startswith('/') else f'the default {name}'}) is"
        f" {int(replaced.ratio * 100) / 100:.2f}; WCAG 2.2 requires at least"
        f" {replaced.minimum:g}. Pages display {replaced.displayed} instead of"
        f" {replaced.foreground_colour}.",
    )
