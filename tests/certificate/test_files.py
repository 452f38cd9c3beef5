"""Reading a certificate file: whatever is wrong with it ends in one error, which names the file."""

import numpy as np
import pytest

from pacband import Certificate, CertificateError, InvalidInput, certify, load
from pacband.certificate.files import check_certificate
from support.certificates import changed


@pytest.fixture
def cert(rng):
    return certify(rng.standard_normal(200), np.zeros(200), eps=0.1, delta=0.1)


@pytest.mark.parametrize("error", [OverflowError("too large"), MemoryError("full"), TypeError("no"), ValueError("odd")])
def test_numbers_that_cannot_be_computed_with_make_no_certificate(cert, tmp_path, monkeypatch, error):
    path = cert.save(tmp_path / "cert.json")

    def fail(content):
        raise error

    monkeypatch.setattr(Certificate, "from_dict", fail)
    with pytest.raises(CertificateError, match=rf"cert\.json: its numbers make no certificate: {error}\."):
        load(path)


def test_only_a_certificate_is_one(cert):
    assert check_certificate(cert) is cert

    class Fitted:
        certificate_ = cert

    with pytest.raises(
        InvalidInput, match=r"certificate must be one that pacband made, got Fitted\. Pass its certificate_\.$"
    ):
        check_certificate(Fitted())
    with pytest.raises(InvalidInput, match=r"certificate must be one that pacband made, got dict\.$"):
        check_certificate(cert.to_dict())


def test_the_attained_delta_that_a_file_states_may_be_delta_and_no_more(cert, tmp_path):
    # All δ is used where the attained one is asked for.
    exact = changed(cert, delta=cert.attained_delta)
    assert exact.attained_delta == exact.delta
    assert load(exact.save(tmp_path / "cert.json")) == exact
