"""Images of a form.

The partner view has one model. The saved form and the public view share another model.
"""

from pydantic import ConfigDict, Field

from chalicelib.domain.forms.part import Part


class Image(Part):
    """An image with all its properties, as saved and in the public view."""

    content_type: str = Field(
        default="", description="Media type of the image.", examples=["image/png"]
    )
    url: str = Field(
        default="",
        description="URL of the image.",
        examples=["https://cdn.example.com/forms/logo.png"],
    )
    size: int = Field(default=0, ge=0, description="Size in bytes.", examples=[18432])
    width: int = Field(default=0, ge=0, description="Width in pixels.", examples=[640])
    height: int = Field(default=0, ge=0, description="Height in pixels.", examples=[240])
    originalname: str = Field(
        default="", description="Name of the uploaded file.", examples=["logo.png"]
    )
    source_url: str = Field(
        default="",
        description="Original URL of the image.",
        examples=["https://www.example.com/assets/logo.png"],
    )
    external_id: str = Field(
        default="", description="Identifier in an external system.", examples=["img-2041"]
    )
    key: str = Field(
        default="", description="Storage key of the image.", examples=["forms/logo.png"]
    )


class PartnerImage(Part):
    """An image in the partner view: size and height are strings, width is a number."""

    model_config = ConfigDict(strict=False, coerce_numbers_to_str=True)

    content_type: str = Field(
        default="", description="Media type of the image.", examples=["image/png"]
    )
    url: str = Field(
        default="",
        description="URL of the image.",
        examples=["https://cdn.example.com/forms/logo.png"],
    )
    size: str = Field(default="0", description="Size in bytes.", examples=["18432"])
    width: int = Field(default=0, description="Width in pixels.", examples=[640])
    height: str = Field(default="0", description="Height in pixels.", examples=["240"])
