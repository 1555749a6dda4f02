"""Prior commitment: a third party's word (RFC 3161) that a study digest existed at a time.

A token lies in `DIR/timestamp/`, beside `frozen/`, with the certificates that vouch for it. The data that is stamped is
the canonical JSON whose SHA-256 is the study digest, so that the token carries the study digest itself. No network is
needed to check it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from darkcurrent.errors import IntegrityError, MissingExtraError, TransportError, UsageError
from darkcurrent.protocol.freeze import write_whole
from darkcurrent.records import Record

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

__all__ = ["FILES", "FOLDER", "Commitment", "certificates_only", "check_token", "commitment_of", "stamp"]

FOLDER: Final = "timestamp"
FILES: Final = ("token.tsr", "authorities.pem")

_LARGEST: Final = 1 << 20
_SECONDS: Final = 30.0
_CERTIFICATE: Final = re.compile(
    rb"-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----"
)


class Commitment(Record):
    """What a third party says of when a study digest existed.

    Attributes
    ----------
    authority, at : str or None
        Who signed, and the time in the token (UTC); None where the token could not be checked here.
    roots_sha256 : tuple of str
        The fingerprints of the certificates that were trusted for it.
    remark : str or None
        Why it could not be checked.
    """

    authority: str | None = None
    at: str | None = None
    roots_sha256: tuple[str, ...] = ()
    remark: str | None = None


def stamp(folder: Path, study_digest: str, content: bytes, url: str, authorities: Path | None) -> Commitment:
    """Ask a time-stamp authority for a token, check it, and write it into a new folder.

    Parameters
    ----------
    folder : Path
        `DIR/timestamp`.
    study_digest : str
        The digest that the token is to carry.
    content : bytes
        What has this digest.
    url : str
        Where the authority answers.
    authorities : Path or None
        A PEM file with the certificates to trust; those of the system, where None.

    Raises
    ------
    UsageError
        Where a token is there already, or the address or the PEM file cannot be used.
    MissingExtraError
        Where the extra `timestamp` is not installed.
    TransportError
        Where the authority does not answer, or refuses.
    IntegrityError
        Where what it answers is no token over this digest by somebody who is trusted.
    """
    if folder.exists():
        raise UsageError(
            f"{folder} exists already: a study is stamped once, and a token is never overwritten."
        )
    pem = _pem(authorities)
    client = _client()
    request = (
        client.TimestampRequestBuilder().data(content).hash_algorithm(client.HashAlgorithm.SHA256).build()
    )
    token = _post(url, request.as_bytes())
    found = check_token(token, pem, study_digest, nonce=request.nonce)
    write_whole(folder, dict(zip(FILES, (token, pem), strict=True)))
    return found


def commitment_of(folder: Path, study_digest: str) -> Commitment | None:
    """Read the token in a folder and check it; None where there is none.

    Raises
    ------
    IntegrityError
        Where the token is damaged, or is not over this digest.
    """
    if not folder.exists():
        return None
    try:
        token, pem = ((folder / name).read_bytes() for name in FILES)
    except OSError as error:
        raise IntegrityError(
            f"{folder} is not whole ({error.strerror}): restore it from a copy, or remove it."
        ) from error
    try:
        return check_token(token, pem, study_digest)
    except MissingExtraError as error:
        return Commitment(remark=str(error))


def check_token(token: bytes, pem: bytes, study_digest: str, nonce: int | None = None) -> Commitment:
    """Check a token offline against the certificates in a PEM file.

    Raises
    ------
    IntegrityError
        Where it is none, is over another digest, or is signed by nobody whom these certificates vouch for.
    """
    client = _client()
    roots = _certificates(pem)
    try:
        response = client.decode_timestamp_response(token)
    except (ValueError, TypeError) as error:
        raise IntegrityError(
            f"The time-stamp token is no RFC 3161 response in DER ({ascii(str(error))[:120]})."
        ) from error
    builder = client.VerifierBuilder(roots=roots)
    if nonce is not None:
        builder = builder.nonce(nonce)
    try:
        builder.build().verify(response, bytes.fromhex(study_digest))
    except (client.VerificationError, ValueError) as error:
        raise IntegrityError(
            f"The time-stamp token does not hold for the study digest {study_digest[:12]} ({ascii(str(error))[:120]})."
        ) from error
    return Commitment(
        authority=_signer(response).subject.rfc4514_string(),
        at=response.tst_info.gen_time.isoformat(),
        roots_sha256=tuple(sorted(_fingerprint(root) for root in roots)) if len(roots) <= 5 else (),
    )


def _client() -> Any:
    try:
        import rfc3161_client
    except ImportError as error:
        raise MissingExtraError("A time-stamp token", "timestamp") from error
    return rfc3161_client


def _pem(authorities: Path | None) -> bytes:
    import ssl

    path = authorities or Path(ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt")
    try:
        return certificates_only(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): name the authority's certificates with --timestamp-ca."
        ) from error


def certificates_only(pem: bytes) -> bytes:
    """Return the certificates of a PEM file; a private key or a remark that stands beside them stays behind."""
    return b"".join(found + b"\n" for found in _CERTIFICATE.findall(pem))


def _certificates(pem: bytes) -> list[Certificate]:
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return list(dict.fromkeys(load_pem_x509_certificates(pem)))
    except ValueError as error:
        raise UsageError("The certificates of the time-stamp authority are no PEM file.") from error


def _fingerprint(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.hashes import SHA256

    return certificate.fingerprint(SHA256()).hex()


def _signer(response: TimeStampResponse) -> Certificate:
    """Return the certificate of who signed a token that was checked."""
    from cryptography.x509 import load_der_x509_certificate

    (info,) = response.signed_data.signer_infos
    return next(
        certificate
        for certificate in map(load_der_x509_certificate, response.signed_data.certificates)
        if (certificate.issuer, certificate.serial_number) == (info.issuer, info.serial_number)
    )


def _post(url: str, query: bytes) -> bytes:
    import http.client
    import urllib.request

    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"{url!r} is no address of a time-stamp authority: it begins with http:// or https://."
        )
    try:
        request = urllib.request.Request(  # noqa: S310 - http and https only
            url, data=query, headers={"Content-Type": "application/timestamp-query"}
        )
        with urllib.request.urlopen(request, timeout=_SECONDS) as reply:  # noqa: S310
            token: bytes = reply.read(_LARGEST + 1)
    except ValueError as error:
        raise UsageError(f"{url!r} is no address of a time-stamp authority ({error}).") from error
    except (http.client.HTTPException, OSError) as error:
        raise TransportError(
            f"The time-stamp authority gave no token ({ascii(str(error))[:120]}): nothing was stamped, and the same command "
            "may be given again before the first call."
        ) from error
    if len(token) > _LARGEST:
        raise TransportError("The time-stamp authority sent more than a token.")
    return token
