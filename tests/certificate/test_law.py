"""What is known about violations beyond the promise: their interval, and how many are next."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from pacband import InvalidInput, certify, certify_tolerance
from pacband.draws import Spaced
from pacband.planning.windows import most_violations
from support.certificates import ALL_KINDS

N = 2000


@pytest.fixture(scope="module")
def errors():
    return np.random.default_rng(0).standard_normal(N)


def test_violation_interval_is_the_central_interval_of_the_beta_law():
    cert = ALL_KINDS["constant"]
    low, high = cert.violation_interval(0.9)
    law = beta(cert.rank, cert.n_samples - cert.rank + 1)
    assert law.cdf(low) == pytest.approx(0.05, rel=1e-9)
    assert law.cdf(high) == pytest.approx(0.95, rel=1e-9)
    assert cert.expected_violation == pytest.approx(law.mean(), rel=1e-12)
    with pytest.raises(InvalidInput, match=r"level must be in \(0, 1\), got 1.5"):
        cert.violation_interval(1.5)


def test_the_interval_of_a_given_bound_is_that_of_clopper_and_pearson(errors):
    made = certify_tolerance(errors, 0 * errors, 2.5, delta=0.1)
    k = made.rank - 1
    assert k == np.count_nonzero(np.abs(errors) > 2.5) > 0
    expected = beta.ppf(0.05, k, N - k + 1), beta.ppf(0.95, k + 1, N - k)
    assert made.violation_interval(0.9) == pytest.approx(expected, rel=1e-9)


class TestOutlook:
    def test_it_is_the_window_of_the_share_of_delta(self, errors):
        made = certify(errors, 0 * errors, n_candidates=3, rank=40)
        assert made.outlook(100, delta=0.3) == most_violations(N, 40, 100, Fraction(0.3) / 3)

    def test_the_dependence_of_all_draws_uses_up_a_part(self, errors):
        made = certify(errors, 0 * errors, eps=0.2, delta=0.1, draws=Spaced(4, mixing=lambda gap: 1e-5))
        n, slack = made.n_samples, Fraction(1e-5)
        assert made.outlook(100) == most_violations(n, made.rank, 100, Fraction(0.1) - (n + 100) * slack)
        assert made.outlook(9000) > 0
        with pytest.raises(InvalidInput, match=r"the dependence of 500 \+ 10000 draws uses up all of delta=0.1"):
            made.outlook(10_000)

    def test_nothing_is_known_where_just_all_of_delta_is_used_up(self, errors):
        made = certify(errors, 0 * errors, eps=0.2, delta=2.0**-3, draws=Spaced(4, mixing=lambda gap: 2.0**-13))
        assert made.n_samples == 500
        assert made.outlook(523) > 0
        with pytest.raises(InvalidInput, match=r"the dependence of 500 \+ 524 draws uses up all of delta=0.125"):
            made.outlook(524)

    def test_it_reaches_as_many_draws_as_pacband_supports(self, errors):
        assert 0 < certify(errors, 0 * errors).outlook(10**12) < 10**12

    @pytest.mark.parametrize(
        ("m", "options", "message"),
        [
            (0, {}, "^m must be at least 1"),
            (10**12 + 1, {}, r"^m must be at most 1e\+12, got 1000000000001\."),
            (10, {"delta": 1.5}, r"^delta must be in \(0, 1\)"),
        ],
    )
    def test_bad_input(self, errors, m, options, message):
        with pytest.raises(InvalidInput, match=message):
            certify(errors, 0 * errors).outlook(m, **options)
