"""The pre-redirect question of a survey, and the translations of a survey.

Depending on the answer, the respondent is redirected to another site.
"""

from pydantic import Field

from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.part import Part, text_field
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.schema import Choice


class PreRedirectType(Choice):
    """Type of the pre-redirect question."""

    NPS = "NPS"
    CSAT_STAR = "CSAT_STAR"
    CSAT_SMILEY = "CSAT_SMILEY"
    BINARY = "BINARY"


class ColoredText(Part):
    """A text with a colour."""

    text: str = text_field("The text.", "How satisfied are you?")
    color: str = text_field("Hexadecimal colour.", "#1f2933")


class RedirectButton(ColoredText):
    """The button that opens the external site."""

    text: str = text_field("The text.", "Write a review")
    background_color: str = text_field("Hexadecimal colour of the button.", "#0b7285")
    topic: ColoredText = Field(default_factory=ColoredText, description="Text beside the button.")


class NpsTexts(Part):
    """Texts of a question with a scale from 0 to 10."""

    start_text: str = text_field("Text beside the value 0.", "Not at all likely")
    end_text: str = text_field("Text beside the value 10.", "Very likely")
    topic: str = text_field("The question.", "Would you recommend us?")


class CsatStarTexts(Part):
    """Texts of a question with a five-star scale."""

    topic: str = text_field("The question.", "How many stars do we deserve?")


class CsatSmileyTexts(Part):
    """Texts of a question with a five-smiley scale."""

    one: str = text_field("Text of the first smiley.", "Very bad")
    two: str = text_field("Text of the second smiley.", "Bad")
    three: str = text_field("Text of the third smiley.", "Fair")
    four: str = text_field("Text of the fourth smiley.", "Good")
    five: str = text_field("Text of the fifth smiley.", "Very good")
    topic: str = text_field("The question.", "How do you feel about your visit?")


class BinaryTexts(Part):
    """Texts of a question with two options."""

    satisfied: str = text_field("Text of the positive option.", "I am happy")
    unsatisfied: str = text_field("Text of the negative option.", "I am not happy")
    topic: str = text_field("The question.", "Are you happy with us?")


class PreRedirectConfig(Part):
    """The question before the survey, and the minimum rating to redirect the respondent."""

    type: PreRedirectType = Field(
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

    @property
    def field_type(self) -> FieldType:
        """The field type with the same answers as the question."""
        return FieldType[self.type.name]

    @property
    def topic_and_labels(self) -> tuple[str, list[str]]:
        """The question, and the labels of its options or of both ends of its scale."""
        texts = dict(getattr(self, self.type.name.lower()))
        return texts.pop("topic"), list(texts.values())


class TextTranslation(Part):
    """The translation of a `ColoredText`. The colour is the same in every language."""

    text: str = ""


class ButtonTranslation(TextTranslation):
    """The texts of a button."""

    topic: TextTranslation = Field(default_factory=TextTranslation)


class PreRedirectTranslation(Part):
    """The texts of the pre-redirect question."""

    text: TextTranslation = Field(default_factory=TextTranslation)
    button: ButtonTranslation = Field(default_factory=ButtonTranslation)
    nps: NpsTexts = Field(default_factory=NpsTexts)
    csat_star: CsatStarTexts = Field(default_factory=CsatStarTexts)
    csat_smiley: CsatSmileyTexts = Field(default_factory=CsatSmileyTexts)
    binary: BinaryTexts = Field(default_factory=BinaryTexts)


class SurveyTranslation(FormTranslation):
    """All texts of a survey in one language."""

    pre_redirect_config: PreRedirectTranslation | None = None
