"""The style and the images of a form, and the texts that do not belong to a field.

A colour is ``#`` with 3, 4, 6 or 8 hexadecimal digits, or ``""`` if unset.
"""

from typing import Any

from pydantic import ConfigDict, Field

from chalicelib.domain.forms.part import Part, text_field
from chalicelib.domain.schema import Choice


class Radius(Choice):
    """Shape of the corners of a box."""

    SHARP = "SHARP"
    ROUNDED = "ROUNDED"
    PILL = "PILL"


def _colour(of: str, example: str) -> Any:
    return text_field(f"Hexadecimal colour of {of}.", example)


def _position(of: str) -> Any:
    return Field(default=0, ge=0, description=f"Position of {of}.", examples=[1])


def _radius(of: str) -> Any:
    return Field(
        default=Radius.ROUNDED, description=f"Shape of the corners of {of}.", examples=["SHARP"]
    )


class Font(Part):
    """The font of a form."""

    name: str = text_field("Name of the font.", "Inter")
    url: str = text_field("URL of the font.", "https://fonts.example.com/inter.css")


class GeneralStyle(Part):
    """Style of a form."""

    field_radius: Radius = _radius("input fields")
    button_radius: Radius = _radius("buttons")
    font: Font = Field(default_factory=Font, description="Font of all texts.")
    title_color: str = _colour("the title", "#1f2933")
    subtitle_color: str = _colour("the subtitle", "#52606d")
    group_color: str = _colour("group names", "#1f2933")
    text_color: str = _colour("texts", "#323f4b")
    accent_color: str = _colour("accents", "#0b7285")
    divider_color: str = _colour("dividers", "#e4e7eb")
    background_color: str = _colour("the background", "#ffffff")
    label_color: str = _colour("field labels", "#323f4b")
    placeholder_color: str = _colour("placeholders", "#9aa5b1")
    field_background_color: str = _colour("the inside of fields", "#f5f7fa")
    field_border_color: str = _colour("field borders", "#cbd2d9")
    button_text_color: str = _colour("button texts", "#ffffff")
    button_background_color: str = _colour("buttons", "#0b7285")
    button_border_color: str = _colour("button borders", "#0b7285")
    field_option_color: str = _colour("the options of a field", "#323f4b")
    logo_position: int = _position("the logo")
    cover_image_position: int = _position("the cover image")
    submission_image_position: int = _position("the image shown after submission")


class SurveyStyle(GeneralStyle):
    """Style of a survey: the style of a form, with additional properties for stars and cards."""

    zone_color: str = _colour("the answer zone", "#f5f7fa")
    star_background_color: str = _colour("empty stars", "#ffffff")
    star_filled_background_color: str = _colour("filled stars", "#f0b429")
    star_border_color: str = _colour("star borders", "#f0b429")
    card_border_color: str = _colour("card borders", "#e4e7eb")
    card_background_color: str = _colour("cards", "#ffffff")
    card_border_radius: Radius = _radius("cards")


class Image(Part):
    """An image with all its properties, as saved and in the public view."""

    content_type: str = text_field("Media type of the image.", "image/png")
    url: str = text_field("URL of the image.", "https://cdn.example.com/forms/logo.png")
    size: int = Field(default=0, ge=0, description="Size in bytes.", examples=[18432])
    width: int = Field(default=0, ge=0, description="Width in pixels.", examples=[640])
    height: int = Field(default=0, ge=0, description="Height in pixels.", examples=[240])
    originalname: str = text_field("Name of the uploaded file.", "logo.png")
    source_url: str = text_field(
        "Original URL of the image.", "https://www.example.com/assets/logo.png"
    )
    external_id: str = text_field("Identifier in an external system.", "img-2041")
    key: str = text_field("Storage key of the image.", "forms/logo.png")


class PartnerImage(Part):
    """An image in the partner view: size and height are strings, width is a number."""

    model_config = ConfigDict(strict=False, coerce_numbers_to_str=True)

    content_type: str = text_field("Media type of the image.", "image/png")
    url: str = text_field("URL of the image.", "https://cdn.example.com/forms/logo.png")
    size: str = Field(default="0", description="Size in bytes.", examples=["18432"])
    width: int = Field(default=0, description="Width in pixels.", examples=[640])
    height: str = Field(default="0", description="Height in pixels.", examples=["240"])


class Header(Part):
    """Texts above the fields."""

    title: str = text_field("Title of the form.", "How was your visit?")
    subtitle: str = text_field("Line below the title.", "It takes less than a minute.")


class Body(Part):
    """Texts of the form's body."""

    button_text: str = text_field("Text of the submit button.", "Send")


class Footer(Part):
    """The area below the form."""

    display: bool = Field(
        default=False, description="Whether the footer is shown.", examples=[True]
    )
    display_logo: bool = Field(
        default=False, description="Whether the footer shows a logo.", examples=[True]
    )
    background_color: str = _colour("the footer", "#1f2933")
    title: str = text_field("Title of the footer.", "Maison Lumen")
    text: str = text_field("Text of the footer.", "12 rue des Tanneurs, Lyon")
    text_color: str = _colour("the footer's texts", "#ffffff")
    icon_color: str = _colour("the footer's icons", "#ffffff")
    image_position: int = _position("the footer's image")


class Submission(Part):
    """The thank-you page, shown after submission."""

    title: str = text_field("Title of the page.", "Thank you!")
    subtitle: str = text_field("Line below the title.", "Your answer has reached the team.")
    title_color: str = _colour("the title", "#1f2933")
    subtitle_color: str = _colour("the subtitle", "#52606d")


class Thanks(Part):
    """The texts of the thank-you page for answers from a minimum rating on."""

    min_rating: int = Field(ge=0, le=10, description="Lowest rating with these texts.")
    title: str = text_field("Title of the page.", "Thank you!")
    subtitle: str = text_field("Line below the title.", "See you soon.")


class Layout(Choice):
    """Whether a page shows all questions, or one after the other."""

    PAGE = "PAGE"
    STEPS = "STEPS"


class ExternalLink(Part):
    """Links to the form owner's web pages."""

    website: str = text_field("Address of the website.", "https://www.example.com")
    twitter: str = text_field("Address of the Twitter page.", "https://twitter.com/example")
    facebook: str = text_field("Address of the Facebook page.", "https://www.facebook.com/example")
    instagram: str = text_field(
        "Address of the Instagram page.", "https://www.instagram.com/example"
    )
    linkedin: str = text_field(
        "Address of the LinkedIn page.", "https://www.linkedin.com/company/example"
    )
