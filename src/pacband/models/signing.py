"""`sign` and `verify_signature`: who issued a certificate file or a model file.

The signature is in a file of its own, ``cert.json.sig``. So the signed file keeps its bytes and its digest, the check
needs to understand nothing of a file that may come from anybody, several people can sign one file, and any other tool
can check the signature::

    openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in cert.json -sigfile cert.json.sig
"""

from __future__ import annotations

import os
from pathlib import Path

from pacband.certificate import AnyCertificate
from pacband.core.atomic_files import replace_file
from pacband.core.signatures import is_signature, sign_bytes
from pacband.exceptions import InvalidInput
from pacband.models import certificate_in

__all__ = ["sign", "signature_path", "signed_certificate", "verify_signature"]


def sign(
    path: str | os.PathLike[str],
    key: str | os.PathLike[str],
    *,
    signature: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Sign a certificate file or a model file with an Ed25519 key.

    Needs the extra ``sign``. The signature says that whoever has the private key signed these bytes. It does not say
    that the promise is true: that follows from the rows (`Certificate.verify`).

    Parameters
    ----------
    path : path
        The file. A file that is damaged, or that pacband did not write, is refused.
    key : path
        The PEM file of the private key; see `generate_keys`.
    signature : path, optional
        The file of the signature, by default ``<path>.sig``.
    overwrite : bool
        Whether another signature in this file is replaced. Otherwise it is refused.

    Returns
    -------
    Path
        The file of the signature.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = pacband.generate_keys(folder / "private.pem", folder / "public.pem")
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> path = cert.save(folder / "cert.json")
    >>> pacband.sign(path, folder / "private.pem").name
    'cert.json.sig'
    >>> pacband.verify_signature(path, folder / "public.pem")
    True
    """
    data, target = Path(path).read_bytes(), signature_path(path, signature)
    certificate_in(data, os.fspath(path))
    if target.exists() and any(os.path.samefile(target, file) for file in (path, key)):
        raise InvalidInput(f"the signature needs a file of its own, got {target}, which is read.")
    signed = sign_bytes(data, key)
    if not overwrite and target.is_file() and target.read_bytes() not in (b"", signed):
        raise InvalidInput(f"{target} exists and is another signature: name another file, or pass overwrite=True.")
    replace_file(target, signed)
    return target


def verify_signature(
    path: str | os.PathLike[str],
    key: str | os.PathLike[str],
    *,
    signature: str | os.PathLike[str] | None = None,
) -> bool:
    """Return whether a file has a valid signature by the owner of a public key.

    Parameters
    ----------
    path : path
        The file that was signed.
    key : path
        The PEM file of the public key. It must come from the signer by a way that you trust, not with the file.
    signature : path, optional
        The file of the signature, by default ``<path>.sig``.
    """
    return signed_certificate(path, key, signature=signature) is not None


def signed_certificate(
    path: str | os.PathLike[str],
    key: str | os.PathLike[str],
    *,
    signature: str | os.PathLike[str] | None = None,
) -> AnyCertificate | None:
    """Return the certificate in a file if the signature of the file is valid, else None.

    The bytes that are checked are the bytes that are read: the file is opened once.
    """
    data, signed = Path(path).read_bytes(), signature_path(path, signature).read_bytes()
    return certificate_in(data, os.fspath(path)) if is_signature(signed, data, key) else None


def signature_path(path: str | os.PathLike[str], signature: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of the signature of a file."""
    return Path(f"{os.fspath(path)}.sig" if signature is None else signature)
