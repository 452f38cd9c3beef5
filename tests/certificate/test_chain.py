"""The place of a certificate in its chain."""

import math

import pytest

from pacband.certificate.chain import check_chain
from pacband.exceptions import CertificateError
from pacband.planning.shares import successor_delta


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
