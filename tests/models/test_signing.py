"""Signatures of certificate files and model files."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertificateError, InvalidInput
from pacband.models.signing import signed_certificate
from support.certificates import ALL_KINDS
from support.rewriting import redigested

pytest.importorskip("cryptography")


@pytest.fixture
def keys(tmp_path):
    pacband.generate_keys(tmp_path / "private.pem", tmp_path / "public.pem")
    return tmp_path / "private.pem", tmp_path / "public.pem"


@pytest.mark.parametrize("kind", ["constant", "family", "groups"])
def test_a_signed_certificate_is_verified(kind, keys, tmp_path):
    path = ALL_KINDS[kind].save(tmp_path / "cert.json")
    before = path.read_bytes()
    assert pacband.sign(path, keys[0]) == tmp_path / "cert.json.sig"
    assert path.read_bytes() == before
    assert pacband.verify_signature(path, keys[1])
    assert signed_certificate(path, keys[1]) == ALL_KINDS[kind]
    # Signing the same bytes again is no change.
    pacband.sign(path, keys[0])


def test_an_edit_that_the_digest_does_not_notice_is_noticed(keys, tmp_path):
    cert = pacband.certify(
        np.random.default_rng(0).normal(size=400), np.zeros(400), eps=0.1, delta=0.01, about={"issued_by": "me"}
    )
    path = cert.save(tmp_path / "cert.json")
    pacband.sign(path, keys[0])
    redigested(path, lambda content: content["about"].update(issued_by="you"))
    assert pacband.load(path).about.issued_by == "you"
    assert not pacband.verify_signature(path, keys[1])
    assert signed_certificate(path, keys[1]) is None


def test_a_model_file_is_signed_alike(keys, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    model = pacband.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, X[:, 0])
    path = model.save(tmp_path / "model.pacband")
    pacband.sign(path, keys[0], signature=tmp_path / "mine.sig")
    assert pacband.verify_signature(path, keys[1], signature=tmp_path / "mine.sig")
    path.write_bytes(path.read_bytes() + b"\0")
    assert not pacband.verify_signature(path, keys[1], signature=tmp_path / "mine.sig")


def test_a_damaged_file_is_not_signed(keys, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    path.write_bytes(path.read_bytes().replace(b'"eps": 0.1', b'"eps": 0.2'))
    with pytest.raises(CertificateError, match="edited or damaged"):
        pacband.sign(path, keys[0])
    assert not (tmp_path / "cert.json.sig").exists()


def test_another_signature_is_kept(keys, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    pacband.generate_keys(tmp_path / "other.pem", tmp_path / "other.pub")
    before = pacband.sign(path, keys[0]).read_bytes()
    with pytest.raises(InvalidInput, match="exists and is another signature"):
        pacband.sign(path, tmp_path / "other.pem")
    assert (tmp_path / "cert.json.sig").read_bytes() == before
    pacband.sign(path, tmp_path / "other.pem", overwrite=True)
    assert pacband.verify_signature(path, tmp_path / "other.pub")
    assert not pacband.verify_signature(path, keys[1])


@pytest.mark.parametrize("output", ["cert.json", "private.pem"])
def test_a_signature_replaces_neither_the_file_nor_the_key(output, keys, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    before = (tmp_path / output).read_bytes()
    with pytest.raises(InvalidInput, match="a file of its own"):
        pacband.sign(path, keys[0], signature=tmp_path / output, overwrite=True)
    assert (tmp_path / output).read_bytes() == before


def test_a_signature_that_is_not_there_is_an_error(keys, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    with pytest.raises(FileNotFoundError):
        pacband.verify_signature(path, keys[1])
