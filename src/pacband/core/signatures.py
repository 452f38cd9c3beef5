"""Ed25519 keys and signatures of bytes, by the package `cryptography`.

Keys are PEM files, as OpenSSL reads and writes them: PKCS #8 for the private key, SubjectPublicKeyInfo for the public
one. A signature is the 64 bytes of RFC 8032 over the bytes of a file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pacband.core.atomic_files import check_directory
from pacband.core.extras import require
from pacband.exceptions import InvalidInput

__all__ = ["generate_keys", "is_signature", "key_fingerprint", "sign_bytes"]

# A PEM file of an Ed25519 key has about 120 bytes.
_LARGEST_KEY = 1 << 16


def generate_keys(private: str | os.PathLike[str], public: str | os.PathLike[str]) -> str:
    """Make a new Ed25519 key pair for signatures, and write its two PEM files.

    The private key signs: only its owner can read its file (mode 0600), and it has no password. The public key
    verifies: give it to whoever receives certificates, by a way that you both trust. Existing files are refused.

    Parameters
    ----------
    private, public : path
        The two files.

    Returns
    -------
    str
        The fingerprint of the public key, the SHA-256 of its 32 bytes: compare it when you hand the key over.

    Raises
    ------
    InvalidInput
        If a file exists.
    """
    serialization, ed25519 = _crypto()
    files = Path(private), Path(public)
    if os.path.realpath(files[0]) == os.path.realpath(files[1]):
        raise InvalidInput(f"the private and the public key need two files, got {files[0]} twice.")
    for file in files:
        check_directory(file)
        if os.path.lexists(file):
            raise InvalidInput(f"{file} exists: a key is never overwritten. Choose another name.")
    key = ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shown = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    written: list[Path] = []
    try:
        for file, data, mode in zip(files, (secret, shown), (0o600, 0o644), strict=True):
            _write_new(file, data, mode)
            written.append(file)
    except BaseException:
        # Half a pair is of no use.
        for file in written:
            with suppress(OSError):
                file.unlink()
        raise
    return key_fingerprint(public)


def sign_bytes(data: bytes, key: str | os.PathLike[str]) -> bytes:
    """Return the signature of these bytes by the private key in a PEM file."""
    signature: bytes = _private_key(key).sign(data)
    return signature


def is_signature(signature: bytes, data: bytes, key: str | os.PathLike[str]) -> bool:
    """Return whether this is the signature of these bytes, by the public key in a PEM file."""
    invalid = require("cryptography.exceptions", purpose="a signature").InvalidSignature
    try:
        _public_key(key).verify(signature, data)
    except invalid:
        return False
    return True


def key_fingerprint(key: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the 32 bytes of the public key in a PEM file."""
    return sha256(_public_key(key).public_bytes_raw()).hexdigest()


def _private_key(path: str | os.PathLike[str]) -> Any:
    serialization, ed25519 = _crypto()
    data, name = _read_key(path), os.fspath(path)
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except TypeError:
        raise InvalidInput(
            f"{name} is encrypted with a password, which pacband does not read: decrypt it with `openssl pkey`."
        ) from None
    except Exception as error:  # the library has several types of errors for a file that is no key
        if b"PUBLIC KEY" in data:
            raise InvalidInput(f"{name} is a public key: sign with the private key.") from error
        raise InvalidInput(f"{name} must be a private Ed25519 key as a PEM file.") from error
    _check_ed25519(key, ed25519.Ed25519PrivateKey, name)
    mode = os.stat(path).st_mode & 0o777
    # Windows has no such modes.
    if os.name == "posix" and mode & 0o077:
        raise InvalidInput(
            f"{name} is a private key and must be readable by its owner only, got mode {mode:o}. If nobody else has "
            "read it, run `chmod 600` on it; otherwise make a new pair of keys."
        )
    return key


def _public_key(path: str | os.PathLike[str]) -> Any:
    serialization, ed25519 = _crypto()
    data, name = _read_key(path), os.fspath(path)
    try:
        key = serialization.load_pem_public_key(data)
    except Exception as error:  # as above
        if b"PRIVATE KEY" in data:
            raise InvalidInput(f"{name} is a private key: verify with the public key, and keep this one.") from error
        raise InvalidInput(f"{name} must be a public Ed25519 key as a PEM file.") from error
    return _check_ed25519(key, ed25519.Ed25519PublicKey, name)


def _check_ed25519(key: Any, kind: Any, name: str) -> Any:
    if not isinstance(key, kind):
        raise InvalidInput(f"{name} must be an Ed25519 key, got {type(key).__name__}.")
    return key


def _read_key(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        data = file.read(_LARGEST_KEY + 1)
    if len(data) > _LARGEST_KEY:
        raise InvalidInput(f"{os.fspath(path)} is too large for a key.")
    return data


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that must not exist, with this mode from its first moment on."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _crypto() -> tuple[Any, Any]:
    names = "serialization", "asymmetric.ed25519"
    first, second = (require(f"cryptography.hazmat.primitives.{name}", purpose="a signature") for name in names)
    return first, second
