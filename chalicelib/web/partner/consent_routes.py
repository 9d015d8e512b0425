"""The partner routes that show the consent of addresses."""

from typing import Final

from chalice import Blueprint

from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)

_EMAIL: Final = {"email": "lou.blanc@example.com"}


@partner_route(routes, "POST", "/partners/consent/list")
@operation(
    tag="Consents",
    description="Returns the customers for whose addresses the service has learned something that"
    " you did not tell it: an unsubscription, a complaint, a bounce, or that the operator has"
    " lifted one of these. Each customer is shown in its current state. Read the list from the"
    " beginning once, keep the `cursor`, and ask with it again later. A change appears within a"
    " minute, and can appear again during 15 minutes. Remove customers with `removed` from your"
    " copy: they were erased. They are listed for 90 days.",
    body="solicitation.consent.ConsentListRequest",
    body_description="The requested page. An empty body requests the first 10 customers and needs"
    " no content type.",
    body_optional=True,
    examples={"The first page": {"limit": 100}},
    errors=("invalid_cursor",),
    response="solicitation.consent.ConsentList",
    returns="The page of customers.",
)
def list_consents(request: PartnerRequest) -> Resource:
    """List changed consents."""
    from chalicelib.domain.solicitation.consent import ConsentListRequest
    from chalicelib.services.solicitation import consents

    return consents.list_consents(request.account_id, request.optional_body(ConsentListRequest))


@partner_route(routes, "POST", "/partners/consent/find")
@operation(
    tag="Consents",
    description="Returns whether the service may send messages to an e-mail address or a phone"
    " number, or why not. The address of an erased person is `OPTED_OUT`.",
    body="solicitation.opt_out.OneAddress",
    body_description="The address.",
    examples={"By e-mail address": _EMAIL},
    invalid=_EMAIL | {"phoneNumber": "+33 6 12 34 56 78"},
    response="solicitation.consent.FoundConsent",
    returns="Whether the address receives messages.",
)
def find_consent(request: PartnerRequest) -> Resource:
    """Find the consent of an address."""
    from chalicelib.domain.solicitation.opt_out import OneAddress
    from chalicelib.services.solicitation import consents

    return consents.find_consent(request.account_id, request.body(OneAddress))
