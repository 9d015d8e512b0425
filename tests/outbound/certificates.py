"""Create certificates for test receivers, either signed by a test authority or self-signed.

The authority's certificate has no key identifier and no key usage, as those of some public
authorities.
"""

import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chalicelib.outbound.webhook_http.connection import verifying_tls

_AUTHORITY = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
_RECEIVER = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])


@cache
def authority() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return the private key and the certificate of the test authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(key, _AUTHORITY).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    return key, builder.sign(key, hashes.SHA256())


def client_tls() -> ssl.SSLContext:
    """Return a client TLS context that trusts only the test authority and checks host names."""
    pem = authority()[1].public_bytes(serialization.Encoding.PEM).decode()
    return verifying_tls(pem)


def server_tls(name: str, *, self_signed: bool = False, expired: bool = False) -> ssl.SSLContext:
    """Return a server TLS context with a certificate for this host name or IP address."""
    key = ec.generate_private_key(ec.SECP256R1())
    try:
        subject: x509.GeneralName = x509.IPAddress(ip_address(name))
    except ValueError:
        subject = x509.DNSName(name)
    builder = _builder(key, _RECEIVER, expired=expired).add_extension(
        x509.SubjectAlternativeName([subject]), critical=False
    )
    signed = builder.sign(key if self_signed else authority()[0], hashes.SHA256())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "both.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + signed.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(file)
    return context


def _builder(
    key: ec.EllipticCurvePrivateKey, subject: x509.Name, *, expired: bool = False
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_AUTHORITY)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=-1 if expired else 1))
    )
