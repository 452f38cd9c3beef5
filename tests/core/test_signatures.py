"""Ed25519: the vectors of RFC 8032, keys as OpenSSL knows them, and what is refused."""

import os
import shutil
import stat
import subprocess

import pytest

from pacband import InvalidInput, generate_keys
from pacband.core.signatures import is_signature, key_fingerprint, sign_bytes

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
from cryptography.hazmat.primitives.asymmetric import ec, ed25519  # noqa: E402

PRIVATE = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
PUBLIC = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo

# RFC 8032, section 7.1: secret key, public key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), VECTORS)
def test_the_vectors_of_the_standard(secret, public, message, signature, tmp_path):
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    (tmp_path / "private.pem").write_bytes(key.private_bytes(*PRIVATE, serialization.NoEncryption()))
    (tmp_path / "private.pem").chmod(0o600)
    shown = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
    (tmp_path / "public.pem").write_bytes(shown.public_bytes(*PUBLIC))
    data, signed = bytes.fromhex(message), bytes.fromhex(signature)
    assert sign_bytes(data, tmp_path / "private.pem") == signed
    assert is_signature(signed, data, tmp_path / "public.pem")
    # Any other bit, of the message or of the signature, is no signature; nor is a part of one.
    assert not is_signature(signed, data + b"\0", tmp_path / "public.pem")
    for position in (0, 31, 32, 63):
        other = bytearray(signed)
        other[position] ^= 1
        assert not is_signature(bytes(other), data, tmp_path / "public.pem")
    for part in (b"", signed[:63], signed + b"\0"):
        assert not is_signature(part, data, tmp_path / "public.pem")


def test_a_pair_of_keys_signs_and_verifies_and_only_its_owner_reads_the_private_one(tmp_path):
    before = os.umask(0)
    try:
        fingerprint = generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    finally:
        os.umask(before)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "private.pem").stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "public.pem").stat().st_mode) == 0o644
    assert fingerprint == key_fingerprint(tmp_path / "public.pem")
    assert len(fingerprint) == 64
    generate_keys(tmp_path / "other.pem", tmp_path / "other.pub")
    signed = sign_bytes(b"abc", tmp_path / "private.pem")
    assert is_signature(signed, b"abc", tmp_path / "public.pem")
    assert not is_signature(signed, b"abc", tmp_path / "other.pub")


@pytest.mark.parametrize("taken", ["private.pem", "public.pem"])
def test_a_key_is_never_overwritten_and_half_a_pair_never_written(taken, tmp_path):
    (tmp_path / taken).write_bytes(b"")
    with pytest.raises(InvalidInput, match=f"{taken} exists: a key is never overwritten"):
        generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    assert os.listdir(tmp_path) == [taken]


def test_a_pair_needs_two_files_in_a_folder(tmp_path):
    with pytest.raises(InvalidInput, match="two files"):
        generate_keys(tmp_path / "key.pem", tmp_path / "key.pem")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        generate_keys(tmp_path / "key.pem", tmp_path / "below" / "key.pem")
    assert os.listdir(tmp_path) == []


def test_a_pair_that_cannot_be_written_is_not_there(tmp_path, monkeypatch):
    from pacband.core import signatures

    whole = signatures._write_new

    def full(path, data, mode):
        if path.name == "public.pem":
            raise OSError(28, "No space left on device", str(path))
        whole(path, data, mode)

    monkeypatch.setattr(signatures, "_write_new", full)
    with pytest.raises(OSError, match="No space"):
        generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    assert os.listdir(tmp_path) == []


def test_a_draft_of_a_key_is_removed(tmp_path, monkeypatch):
    def broken(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    assert os.listdir(tmp_path) == []


def test_what_is_no_key_is_refused(tmp_path):
    generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    (tmp_path / "noise.pem").write_bytes(b"noise")
    (tmp_path / "large.pem").write_bytes(b"x" * 70_000)
    curve = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "curve.pem").write_bytes(curve.private_bytes(*PRIVATE, serialization.NoEncryption()))
    (tmp_path / "curve.pub").write_bytes(curve.public_key().public_bytes(*PUBLIC))
    secret = ed25519.Ed25519PrivateKey.generate()
    (tmp_path / "curve.pem").chmod(0o600)
    (tmp_path / "locked.pem").write_bytes(secret.private_bytes(*PRIVATE, serialization.BestAvailableEncryption(b"pw")))
    for name, message in {
        "noise.pem": "must be a private Ed25519 key as a PEM file",
        "public.pem": "public.pem is a public key: sign with the private key",
        "curve.pem": "must be an Ed25519 key, got",
        "locked.pem": "is encrypted with a password",
        "large.pem": "is too large for a key",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            sign_bytes(b"", tmp_path / name)
    for name, message in {
        "noise.pem": "must be a public Ed25519 key as a PEM file",
        "private.pem": "private.pem is a private key: verify with the public key",
        "curve.pub": "must be an Ed25519 key, got",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            is_signature(bytes(64), b"", tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o610])
def test_a_private_key_that_others_can_use_does_not_sign(tmp_path, mode):
    generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    (tmp_path / "private.pem").chmod(mode)
    with pytest.raises(InvalidInput, match=f"must be readable by its owner only, got mode {mode:o}"):
        sign_bytes(b"", tmp_path / "private.pem")
    for private in (0o600, 0o400):
        (tmp_path / "private.pem").chmod(private)
        assert is_signature(sign_bytes(b"", tmp_path / "private.pem"), b"", tmp_path / "public.pem")


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    shutil.which("openssl") is None or not openssl("version").stdout.startswith("OpenSSL 3"), reason="needs OpenSSL 3"
)
def test_openssl_reads_the_same_keys_and_signatures(tmp_path):
    assert openssl("genpkey", "-algorithm", "ed25519", "-out", tmp_path / "private.pem").returncode == 0
    assert openssl("pkey", "-in", tmp_path / "private.pem", "-pubout", "-out", tmp_path / "public.pem").returncode == 0
    (tmp_path / "data").write_bytes(b"what is signed")
    (tmp_path / "data.sig").write_bytes(sign_bytes(b"what is signed", tmp_path / "private.pem"))
    given = ["-verify", "-pubin", "-inkey", tmp_path / "public.pem", "-rawin", "-in", tmp_path / "data"]
    done = openssl("pkeyutl", *given, "-sigfile", tmp_path / "data.sig")
    assert "Signature Verified Successfully" in done.stdout, done.stderr
    assert is_signature((tmp_path / "data.sig").read_bytes(), b"what is signed", tmp_path / "public.pem")
