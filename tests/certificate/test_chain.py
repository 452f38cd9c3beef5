"""The place of a certificate in a chain: what a successor must state, and the δ that it may use."""

import pytest

from pacband.certificate.chain import check_chain
from pacband.exceptions import CertificateError


def test_the_first_certificate_and_its_successors_are_accepted():
    assert check_chain(0.5, None, 1, None) is None
    for generation in range(2, 6):
        assert check_chain(0.1 / (2 * generation * (generation - 1)), "digest", generation, 0.1) is None


@pytest.mark.parametrize(
    ("predecessor", "generation", "chain_delta"),
    [(None, 2, 0.1), ("digest", 1, 0.1), ("digest", 2, None), (None, 1, 0.1), (3, 2, 0.1), ("digest", 2, 1.0)],
)
def test_a_successor_without_its_place_is_refused(predecessor, generation, chain_delta):
    with pytest.raises(CertificateError, match="a successor names its predecessor, its generation from 2 on and the"):
        check_chain(1e-6, predecessor, generation, chain_delta)


def test_a_successor_may_use_no_more_than_its_part():
    with pytest.raises(CertificateError, match=r"certificate 3 of a chain at chain_delta=0\.12 may use 0\.01, got"):
        check_chain(0.0101, "digest", 3, 0.12)
