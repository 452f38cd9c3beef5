"""Every kind of certificate as JSON and as a value: saved whole or not at all."""

import dataclasses
import json
import math
import os
import pickle
from importlib import resources

import jsonschema
import numpy as np
import pytest

from pacband import CertificateError, InvalidInput, certify, certify_family, certify_groups, load
from pacband.certificate.portable import decode, encode
from support.certificates import ALL_KINDS, each_kind


@each_kind
def test_survives_a_file_bit_for_bit(cert, tmp_path):
    path = cert.save(tmp_path / "cert.json")
    again = load(path)
    assert again == cert
    assert type(again) is type(cert)
    assert again.to_dict() == cert.to_dict()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@each_kind
def test_survives_pickling_and_is_immutable(cert):
    # Not a file format: joblib and Spark copy objects to their workers in this way.
    assert pickle.loads(pickle.dumps(cert)) == cert
    assert hash(cert) == hash(pickle.loads(pickle.dumps(cert)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        cert.eps = 0.5
    for name in ("candidates", "groups"):
        with pytest.raises((TypeError, AttributeError)):
            getattr(cert, name)["one"] = None


@each_kind
def test_file_follows_the_shipped_schema(cert, tmp_path):
    document = json.loads(cert.save(tmp_path / "cert.json").read_text())
    schema = json.loads(resources.files("pacband.core.schemas").joinpath("pacband-certificate.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(document)) == []


def test_saving_is_atomic(tmp_path, monkeypatch):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    before = path.read_bytes()

    def crash(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, crash)
            with pytest.raises(OSError, match="disk full"):
                ALL_KINDS["scaled"].save(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["cert.json"]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    ALL_KINDS["constant"].save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "real.json") == ALL_KINDS["constant"]


def test_saving_never_replaces_what_is_no_file(tmp_path):
    with pytest.raises(CertificateError, match="is not a regular file"):
        ALL_KINDS["constant"].save(tmp_path)


def test_a_missing_directory_is_named_and_not_the_draft(tmp_path):
    cert = certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    with pytest.raises(FileNotFoundError, match="there is no directory") as caught:
        cert.save(tmp_path / "nowhere" / "cert.json")
    assert caught.value.filename == str(tmp_path / "nowhere" / "cert.json")


Y = np.random.default_rng(0).standard_normal(400)


KINDS = {
    "single": certify(Y, np.zeros(400), eps=0.2, delta=0.1),
    "family": certify_family(Y, {"a": np.zeros(400), "b": np.ones(400)}, eps=0.2, delta=0.1),
    "groups": certify_groups(Y, np.zeros(400), np.arange(400) % 2, eps=0.2, delta=0.1),
}


FOLLOWS = {"promise", "attained_delta", "expected_violation"}


def without(value):
    if isinstance(value, dict):
        return {key: without(entry) for key, entry in value.items() if key not in FOLLOWS}
    return [without(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stated_is_all_but_what_follows_from_it(kind):
    cert = KINDS[kind]
    assert cert.stated() == without(cert.to_dict())
    assert cert.stated()["kind"] == kind
    assert not any(f'"{name}"' in json.dumps(cert.stated()) for name in FOLLOWS)
    assert all(f'"{name}"' in json.dumps(cert.to_dict()) for name in FOLLOWS)


def test_certificates_that_state_something_else_have_other_digests():
    assert len({cert.digest for cert in KINDS.values()}) == 3
    assert KINDS["family"].digest == type(KINDS["family"]).from_dict(KINDS["family"].to_dict()).digest


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.5, 0.5), (-0.5, -0.5), (0.0, 0.0), (3, 3), ("max", "max"), (None, None),
        (((1.0, 0.5), (0.5, math.inf)), [[1.0, 0.5], [0.5, "Infinity"]]),
    ],
)  # fmt: skip
def test_values_become_json_and_back(value, code):
    assert encode(value) == code
    assert decode(code) == value
    assert type(decode(code)) is type(value)


def test_an_issued_certificate_is_not_replaced_where_that_is_not_wanted(tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json", overwrite=False)
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=r"cert.json exists.*do not issue one after another.*overwrite=True"):
        ALL_KINDS["scaled"].save(path, overwrite=False)
    assert path.read_bytes() == before
    ALL_KINDS["scaled"].save(path)
    assert load(path) == ALL_KINDS["scaled"]


def test_an_empty_file_is_no_issued_certificate(tmp_path):
    (tmp_path / "cert.json").touch()
    ALL_KINDS["constant"].save(tmp_path / "cert.json", overwrite=False)
    assert load(tmp_path / "cert.json") == ALL_KINDS["constant"]


def test_what_is_no_file_is_refused_as_such_and_not_as_a_certificate(tmp_path):
    with pytest.raises(CertificateError, match="is not a regular file"):
        ALL_KINDS["constant"].save(tmp_path, overwrite=False)
