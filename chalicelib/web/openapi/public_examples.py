"""Examples of what end users get and submit, made from the partner's examples of the same forms."""

from typing import Any, Final

from chalicelib.domain.feedback.submission import SurveySubmitted
from chalicelib.domain.ids import derived_id
from chalicelib.web.openapi import examples as partner

CONTACT_FORM_ID: Final = partner.CONTACT_FORM["id"]
SURVEY_ID: Final = partner.SURVEY["id"]
BRAND_ID: Final = partner.CONTACT_FORM["brandId"]
STORE_ID: Final = partner.SURVEY["targets"][0]["targetId"]
TRACKER_ID: Final = derived_id("example", "tracker")

_STORE: Final = {"id": STORE_ID, "name": "Maison Lumen Lyon", "color": "#0B7285"}
_BRAND: Final = {"id": BRAND_ID, "name": "Maison Lumen", "color": "#0B7285"}
_SHARED: Final = (
    "id",
    "language",
    "enabled",
    "autoTranslate",
    "generalStyle",
    "header",
    "body",
    "footer",
    "submission",
    "externalLink",
)
_IMAGES: Final = ("logo", "footerLogo", "cover", "submissionImage")


def _dependency(dependency: dict[str, Any]) -> dict[str, Any]:
    return {
        name: dependency[name]
        for name in ("id", "field", "dependsOnField", "operator", "dependsOnFieldValues")
    }


def _public(form: dict[str, Any]) -> dict[str, Any]:
    """What of a partner's example end users get, in the public shapes."""
    dependencies = {each["id"]: _dependency(each) for each in form["fieldDependencies"]}
    return {
        **{name: form[name] for name in _SHARED},
        **{name: _image(form[name]) for name in _IMAGES},
        "storeList": [_STORE],
        "fields": [
            {
                **{k: v for k, v in each.items() if k not in ("createdAt", "updatedAt")},
                "key": each["id"],
                "translatedValues": each["values"],
                "dependencies": [dependencies[i] for i in each["dependencies"]],
                "dependencyOf": [dependencies[i] for i in each["dependencyOf"]],
            }
            for each in form["fields"]
        ],
        "fieldGroups": [
            {
                "id": each["id"],
                "key": each["id"],
                "name": each["name"],
                "verticalIndex": each["verticalIndex"],
            }
            for each in form["fieldGroups"]
        ],
        "fieldDependencies": list(dependencies.values()),
    }


def _image(image: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: image[name] for name in ("contentType", "url", "width")},
        "size": int(image["size"]),
        "height": int(image["height"]),
        "originalname": "image.png",
        "sourceUrl": image["url"],
        "externalId": "img-1",
        "key": "forms/image.png",
    }


def _submitted(form: dict[str, Any], **more: str) -> dict[str, Any]:
    deciding = form["fields"][0]
    value = deciding["values"][0] if deciding["values"] else "9"
    return {
        "id": form["id"],
        **more,
        "fields": [
            {"id": deciding["id"], "values": [value]},
        ],
    }


PUBLIC_CONTACT_FORM: Final = {
    **_public(partner.CONTACT_FORM),
    "brandName": [partner.CONTACT_FORM["brandName"]],
}

PUBLIC_SURVEY: Final = {
    **_public(partner.SURVEY),
    "preRedirect": partner.SURVEY["preRedirect"],
    "preRedirectConfig": partner.SURVEY["preRedirectConfig"],
    "externalUrl": partner.SURVEY["targets"][0]["newReviewUri"],
    "sendMode": "SMS",
    "store": _STORE,
    "brand": _BRAND,
    "order": "TF-88412067",
    "emailLogo": partner.SURVEY["emailLogo"],
    "emailCover": partner.SURVEY["emailCover"],
}

CONTACT_FORM_SUBMISSION: Final = _submitted(partner.CONTACT_FORM, store=STORE_ID)
SURVEY_SUBMISSION: Final = _submitted(partner.SURVEY, tracker=TRACKER_ID)
SURVEY_SUBMITTED: Final = SurveySubmitted(
    redirect_to="https://reviews.example.com/new?place=lyon"
).model_dump(by_alias=True)
