"""Images of a form.

The partner view has one model. The saved form and the public view share another model.
"""

from pydantic import ConfigDict, Field

from chalicelib.domain.forms.part import Part, text_field


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
