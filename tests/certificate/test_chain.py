"""The place of a certificate in a chain: what a successor must state, and the δ that it may use."""

import math

import pytest

from pacband.certificate.chain import check_chain
from pacband.exceptions import CertificateError
from pacband.planning.shares import successor_delta


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


def test_the_first_of_a_chain_names_none():
    check_chain(0.5, None, 1, None)


@pytest.mark.parametrize(
    ("predecessor", "generation", "chain_delta"),
    [
        (None, 1, 0.1), (None, 2, None), (None, 2, 0.1), ("digest", 1, 0.1), ("digest", 1, None), ("digest", 2, None), (7, 2, 0.1),
        ("digest", 2, 0.0), ("digest", 2, 1.0), ("digest", 2, 1.5), ("digest", 2, -0.1),
    ],
)  # fmt: skip
def test_a_place_that_is_none_is_refused(predecessor, generation, chain_delta):
    with pytest.raises(
        CertificateError, match=r"a successor names its predecessor, its generation from 2 on and the chain's delta in"
    ):
        check_chain(1e-300, predecessor, generation, chain_delta)


@pytest.mark.parametrize("generation", [2, 3, 10])
def test_a_successor_may_use_its_part_of_the_chains_delta_and_no_more(generation):
    part = float(successor_delta(0.5, generation))
    check_chain(math.nextafter(part, 0.0), "digest", generation, 0.5)
    with pytest.raises(CertificateError, match=rf"certificate {generation} of a chain at chain_delta=0.5 may use"):
        check_chain(math.nextafter(part, 1.0), "digest", generation, 0.5)


def test_a_successor_may_use_its_whole_part():
    check_chain(0.125, "digest", 2, 0.5)
