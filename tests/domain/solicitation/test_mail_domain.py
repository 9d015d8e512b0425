"""Test the DNS records and the state of a domain that sends e-mails."""

import pytest

from admin.domain.mail_domain import MailDomain, domain_of
from chalicelib.domain.forms.survey import SupportEmail


@pytest.mark.parametrize("email", ["help@shop.example", "Help@SHOP.Example", '"a@b"@shop.example'])
def test_domain_of_address_is_in_lower_case(email: str) -> None:
    assert domain_of(email) == "shop.example"


@pytest.mark.parametrize("email", ["help@bücher.example", "help@BÜCHER.example"])
def test_international_domain_is_converted_to_ascii(email: str) -> None:
    assert domain_of(email) == "xn--bcher-kva.example"


@pytest.mark.parametrize("dkim", ["Success", "Pending"])
@pytest.mark.parametrize("mail_from", ["Success", "Failed"])
def test_only_success_is_verified(dkim: str, mail_from: str) -> None:
    domain = MailDomain("shop.example", "eu-west-1", ("a", "b"), dkim, mail_from)
    described = domain.describe(SupportEmail.model_construct(email="help@shop.example"))
    assert described.domain == "shop.example"
    assert described.dkim_verified == (dkim == "Success")
    assert described.return_path_verified == (mail_from == "Success")
