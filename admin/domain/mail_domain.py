"""Domains from which e-mails are sent: the DNS records to publish, and their verification."""

from dataclasses import dataclass
from typing import Final

from chalicelib.domain.forms.survey import DnsRecord, ExternalDnsConfig, SupportEmail
from chalicelib.domain.solicitation.mail_domain import ascii_domain

VERIFIED: Final = "Success"


@dataclass(frozen=True)
class MailDomain:
    """A domain that is registered with SES.

    Attributes:
        region: the AWS region in which SES receives the bounces.
        dkim_tokens: the tokens of the DKIM records.
        dkim_status, mail_from_status: the states that SES reported last, such as ``Pending``,
            ``Success`` or ``Failed``.
    """

    domain: str
    region: str
    dkim_tokens: tuple[str, ...]
    dkim_status: str
    mail_from_status: str

    @property
    def dkim_records(self) -> tuple[DnsRecord, ...]:
        """The DNS records with the keys that verify the signatures of e-mails."""
        return tuple(
            DnsRecord(
                host=f"{token}._domainkey.{self.domain}",
                type="CNAME",
                value=f"{token}.dkim.amazonses.com",
            )
            for token in self.dkim_tokens
        )

    @property
    def return_path_records(self) -> tuple[DnsRecord, ...]:
        """The DNS records of the return path: the mail server and the allowed senders (SPF)."""
        host = mail_from_of(self.domain)
        server = f"10 feedback-smtp.{self.region}.amazonses.com"
        return (
            DnsRecord(host=host, type="MX", value=server),
            DnsRecord(host=host, type="TXT", value="v=spf1 include:amazonses.com ~all"),
        )

    def describe(self, support_email: SupportEmail) -> SupportEmail:
        """Return the support address with the records and states of its domain."""
        return support_email.model_copy(
            update={
                "domain": self.domain,
                "external_dns_config": ExternalDnsConfig(
                    dkim=_joined(self.dkim_records), return_path=_joined(self.return_path_records)
                ),
                "dkim_verified": self.dkim_status == VERIFIED,
                "return_path_verified": self.mail_from_status == VERIFIED,
            }
        )


def domain_of(email: str) -> str:
    """Return the domain of an e-mail address in lower case and in ASCII, as SES requires.

    Raises:
        ValueError: the domain is not a valid international domain.
    """
    return ascii_domain(email.rpartition("@")[2].lower())


def is_same_or_subdomain(domain: str, parent: str) -> bool:
    """Return whether a domain is this parent domain or one of its subdomains."""
    return f".{domain}".endswith(f".{parent}")


def last_labels(domain: str) -> str:
    """Return the last two labels of a domain: ``shop.example`` for ``mail.shop.example``."""
    return ".".join(domain.split(".")[-2:])


def mail_from_of(domain: str) -> str:
    """Return the subdomain of the return path, to which mail servers send bounces."""
    return f"bounce.{domain}"


def _joined(records: tuple[DnsRecord, ...]) -> DnsRecord:
    """Join the records into one record. Each property has one line per record."""
    return DnsRecord(
        host="\n".join(record.host for record in records),
        type="\n".join(record.type for record in records),
        value="\n".join(record.value for record in records),
    )
