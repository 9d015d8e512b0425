"""Domains from which e-mails are sent: the DNS records to publish, and their verification."""


def ascii_domain(domain: str) -> str:
    """Return a domain in ASCII.

    Raises:
        ValueError: the domain is not a valid international domain.
    """
    if domain.isascii():
        return domain
    import idna

    return idna.encode(domain, uts46=True).decode()


def can_be_sent_to(email: str) -> bool:
    """Return whether SES can send to an e-mail address.

    The local part must be ASCII, because SES does not support SMTPUTF8 (RFC 6531).
    """
    local, _, domain = email.rpartition("@")
    try:
        return local.isascii() and bool(ascii_domain(domain))
    except ValueError:
        return False
