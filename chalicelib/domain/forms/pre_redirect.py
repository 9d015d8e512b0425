"""The pre-redirect question of a survey.

Depending on the answer, the respondent is redirected to another site.
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from chalicelib.domain.forms.part import Part


class PreRedirectType(StrEnum):
    """Type of the pre-redirect question."""

    NPS = "NPS"
    CSAT_STAR = "CSAT_STAR"
    CSAT_SMILEY = "CSAT_SMILEY"
    BINARY = "BINARY"


PreRedirectTypeName = Annotated[PreRedirectType, Field(strict=False)]


def _text(description: str, example: str) -> Any:
    return Field(default="", description=description, examples=[example])


class ColoredText(Part):
    """A text with a colour."""

    text: str = _text("The text.", "How satisfied are you?")
    color: str = _text("Hexadecimal colour.", "#1f2933")


class RedirectButton(ColoredText):
    """The button that opens the external site."""

    background_color: str = _text("Hexadecimal colour of the button.", "#0b7285")
    topic: ColoredText = Field(default_factory=ColoredText, description="Text beside the button.")


class NpsTexts(Part):
    """Texts of a question with a scale from 0 to 10."""

    start_text: str = _text("Text beside the value 0.", "Not at all likely")
    end_text: str = _text("Text beside the value 10.", "Very likely")
    topic: str = _text("The question.", "Would you recommend us?")


class CsatStarTexts(Part):
    """Texts of a question with a five-star scale."""

    topic: str = _text("The question.", "How many stars do we deserve?")


class CsatSmileyTexts(Part):
    """Texts of a question with a five-smiley scale."""

    one: str = _text("Text of the first smiley.", "Very bad")
    two: str = _text("Text of the second smiley.", "Bad")
    three: str = _text("Text of the third smiley.", "Fair")
    four: str = _text("Text of the fourth smiley.", "Good")
    five: str = _text("Text of the fifth smiley.", "Very good")
    topic: str = _text("The question.", "How do you feel about your visit?")


class BinaryTexts(Part):
    """Texts of a question with two options."""

    satisfied: str = _text("Text of the positive option.", "I am happy")
    unsatisfied: str = _text("Text of the negative option.", "I am not happy")
    topic: str = _text("The question.", "Are you happy with us?")


class PreRedirectConfig(Part):
    """The question before the survey, and the minimum rating to redirect the respondent."""

    type: PreRedirectTypeName = Field(
        description="Type of the satisfaction question.", examples=["NPS"]
    )
    threshold: int = Field(
        default=0,
        description="Minimum rating, on a scale from 0 to 10, to redirect the respondent.",
        examples=[8],
    )
    text: ColoredText = Field(default_factory=ColoredText, description="Text above the question.")
    button: RedirectButton = Field(
        default_factory=RedirectButton, description="Button that opens the external site."
    )
    nps: NpsTexts = Field(default_factory=NpsTexts, description="Texts of an `NPS` question.")
    csat_star: CsatStarTexts = Field(
        default_factory=CsatStarTexts, description="Texts of a `CSAT_STAR` question."
    )
    csat_smiley: CsatSmileyTexts = Field(
        default_factory=CsatSmileyTexts, description="Texts of a `CSAT_SMILEY` question."
    )
    binary: BinaryTexts = Field(
        default_factory=BinaryTexts, description="Texts of a `BINARY` question."
    )
