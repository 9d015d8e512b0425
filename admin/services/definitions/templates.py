"""Write short, commented definitions that load as they are."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from chalicelib.domain.accounts.places import Place, PlaceKind
from chalicelib.domain.ids import new_id

_LISTED = 20
"""The maximum number of brands in a file."""


class Template(StrEnum):
    """The kind of a new definition."""

    STORE = "store"
    CONTACT_FORM = "contact-form"
    SURVEY = "survey"
    WORKFLOW = "workflow"


def new_definition(template: Template, places: Sequence[Place]) -> str:
    """Return a new definition as YAML. If it needs a brand and there is none, define one too.

    Args:
        places: the brands and stores of the account, whose ids the definition contains.
    """
    brands = [place for place in places if place.kind is PlaceKind.BRAND]
    lines = [f"# {template.value.replace('-', ' ').capitalize()}. Reference: docs/definitions.md"]
    if template in (Template.STORE, Template.CONTACT_FORM) and not brands:
        brands = [Place(id=new_id(), kind=PlaceKind.BRAND, name="My brand")]
        lines += [*_BRAND.format(id=brands[0].id).splitlines(), "---"]
    if template in (Template.STORE, Template.CONTACT_FORM):
        first, *others = brands[:_LISTED]
        places_text = "\n".join(
            [
                f"brandId: {first.id}  # {_comment(first)}",
                *(f"# another brand: {brand.id}  # {_comment(brand)}" for brand in others),
            ]
        )
    else:
        places_text = "\n".join(_targets(brands))
    text = _TEXTS[template].replace("ID", new_id(), 1).replace("PLACES", places_text, 1)
    return "\n".join([*lines, text])


def _targets(brands: Sequence[Place]) -> Iterator[str]:
    if not brands:
        yield "targets: []  # brands or stores: - {type: STORE, targetId: the id or key}"
        return
    yield "targets:  # or single stores: {type: STORE, targetId: the id or key}"
    for brand in brands[:_LISTED]:
        yield f"  - {{type: BRAND, targetId: {brand.id}}}  # {_comment(brand)}"


def _comment(place: Place) -> str:
    return " ".join(place.name.split())


_BRAND = """kind: brand
id: {id}
name: My brand
color: "#0b7285"  # optional"""

_TEXTS = {
    Template.STORE: """kind: store
id: ID
PLACES
key: my-store  # a name of your choice, for other definitions and for purchase imports
name: My store
# timeZone: Europe/Paris  # default: the time zone of the account
# address: 1 Main Street, Anytown  # in the footer of pages and e-mails
""",
    Template.CONTACT_FORM: """kind: contactForm
id: ID
PLACES
name: Contact  # internal
language: en  # the language of the texts below
header: {title: Write to us}
fields:
  - {key: topic, type: SINGLE_SELECT, label: Topic, values: [A visit, Something else]}
  - {key: message, type: LONG_TEXT, label: Your message, required: true}
  - {key: email, type: EMAIL, label: Your e-mail address}
submission: {title: Thank you!, subtitle: We answer soon.}
# translations: {fr: {header: {title: Écrivez-nous}, fields: {message: {label: Votre message}}}}
""",
    Template.SURVEY: """kind: survey
id: ID
name: After the visit  # internal
enabled: false  # remove this line after survey enable, or the next load disables it again
language: en  # the language of the texts below
publiclyAvailable: true  # false: only customers who received a link can answer
sendingChannels: [EMAIL]  # EMAIL, SMS; LINK if it is public
solicitationThreshold: 604800  # seconds: no survey about purchases older than a week
resolicitationDelay: 2592000  # seconds: at most one survey to a customer in 30 days
PLACES
header: {title: "How was your visit, {firstName|dear guest}?"}
fields:
  - {key: nps, type: NPS, label: "Would you recommend us?", required: true}
  - {key: comment, type: LONG_TEXT, label: "What should we change?"}
submission: {title: Thank you!}
# translations: {fr: {fields: {nps: {label: "Nous recommanderiez-vous ?"}}}}
""",
    Template.WORKFLOW: """kind: workflow
id: ID
name: Unhappy guests
enabled: false  # remove this line after workflow enable, or the next load disables it again
operator: $and  # all conditions must match; $or: one
conditions:  # without conditions, all feedback matches
  - {subject: rating, operator: $lte, value: "4"}
actions:
  - key: crm
    url: https://hooks.example.com/feedback  # the receiver of the webhook
    # headers: {Authorization: Bearer secret}
""",
}
