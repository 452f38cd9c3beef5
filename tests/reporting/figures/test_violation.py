"""The Beta law of the true violation."""

import numpy as np
from scipy.stats import beta

import pacband
from pacband.reporting.figures.violation import violation_numbers


def test_the_law_of_the_violation_is_drawn_only_of_what_was_chosen_beforehand(rng):
    y, errors = np.zeros(300), {"a": rng.standard_normal(300), "b": rng.standard_normal(300)}
    family = pacband.certify_family(y, errors, eps=0.1, delta=0.1)
    assert len(pacband.plot_scores(family, y, errors[family.best]).figure.axes) == 1
    assert (
        len(pacband.plot_scores(pacband.certify(y, errors["a"], eps=0.1, delta=0.1), y, errors["a"]).figure.axes) == 2
    )
    assert pacband.plot_plan(family).get_ylabel() == "r/(N + 1), if chosen beforehand"
    assert pacband.plot_plan(pacband.plan(n_candidates=3)).get_ylabel() == pacband.plot_plan(family).get_ylabel()
    assert pacband.plot_plan(pacband.plan()).get_ylabel() == "expected violation, r/(N + 1)"


def test_the_law_is_that_of_scipy(paper):
    cert = paper[-1]
    law = beta(cert.rank, cert.n_samples - cert.rank + 1)
    numbers = violation_numbers(cert)
    np.testing.assert_allclose(numbers.density, law.pdf(numbers.x), rtol=1e-9)
    np.testing.assert_allclose(numbers.density_at_mean, law.pdf(law.mean()), rtol=1e-9)
    np.testing.assert_allclose(numbers.interval, law.interval(0.95), rtol=1e-9)
    assert law.cdf(numbers.x[0]) <= 1e-5
    assert law.sf(numbers.x[-1]) <= 1e-5
