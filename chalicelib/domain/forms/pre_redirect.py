"""The question asked before a survey, whose answer may lead straight to another site (2.5)."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from chalicelib.domain.forms.part import Part


class PreRedirectType(StrEnum):
    """How satisfaction is asked for."""

    NPS = "NPS"
    CSAT_STAR = "CSAT_STAR"
    CSAT_SMILEY = "CSAT_SMILEY"
    BINARY = "BINARY"


PreRedirectTypeName = Annotated[PreRedirectType, Field(strict=False)]


def _text(description: str, example: str) -> Any:
    return Field(default="", description=description, examples=[example])


class ColoredText(Part):
    """A text and its colour."""

    text: str = _text("The text.", "How satisfied are you?")
    color: str = _text("Its colour, hexadecimal.", "#1f2933")


class RedirectButton(ColoredText):
    """The button that leads on."""

    background_color: str = _text("Colour of the button, hexadecimal.", "#0b7285")
    topic: ColoredText = Field(default_factory=ColoredText, description="Text beside the button.")


class NpsTexts(Part):
    """Texts around a 0 to 10 scale."""

    start_text: str = _text("Text at 0.", "Not at all likely")
    end_text: str = _text("Text at 10.", "Very likely")
    topic: str = _text("The question.", "Would you recommend us?")


class CsatStarTexts(Part):
    """Texts around five stars."""

    topic: str = _text("The question.", "How many stars do we deserve?")


class CsatSmileyTexts(Part):
    """Texts below five smileys."""

    one: str = _text("Text of the first smiley.", "Very bad")
    two: str = _text("Text of the second smiley.", "Bad")
    three: str = _text("Text of the third smiley.", "Fair")
    four: str = _text("Text of the fourth smiley.", "Good")
    five: str = _text("Text of the fifth smiley.", "Very good")
    topic: str = _text("The question.", "How do you feel about your visit?")


class BinaryTexts(Part):
    """Texts of a choice between two."""

    satisfied: str = _text("Text of the good choice.", "I am happy")
    unsatisfied: str = _text("Text of the bad choice.", "I am not happy")
    topic: str = _text("The question.", "Are you happy with us?")


class PreRedirectConfig(Part):
    """What is asked before the survey, and from which answer on the respondent is led away."""

    type: PreRedirectTypeName = Field(
        description="How satisfaction is asked for.", examples=["NPS"]
    )
    threshold: int = Field(
        default=0,
        description="Rating, brought to 0 to 10, from which on the respondent is redirected.",
        examples=[8],
    )
    text: ColoredText = Field(default_factory=ColoredText, description="Text above the question.")
    button: RedirectButton = Field(
        default_factory=RedirectButton, description="Button that leads on."
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
