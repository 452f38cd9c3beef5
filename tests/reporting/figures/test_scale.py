"""Error against σ̂ in bins."""

import numpy as np
import pytest

import pacband


def test_bins_have_the_means_of_tenths_of_the_rows(paper):
    _, y, predicted, scale, cert = paper
    numbers = pacband.report(cert, y, predicted, scale).summary.numbers["scale"]
    tenths = np.argsort(scale, kind="stable").reshape(10, -1)
    np.testing.assert_allclose(numbers.scale, scale[tenths].mean(axis=1))
    np.testing.assert_allclose(numbers.error, np.abs(y - predicted)[tenths].mean(axis=1))
    assert numbers.ratio == pytest.approx(np.abs(y - predicted).mean() / scale.mean())
    assert 1 <= numbers.unevenness < 1.3


def test_a_scale_that_is_off_in_a_tenth_of_the_rows_is_seen(rng):
    scale = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], 100)
    y = scale * np.tile([1.0, -1.0], 500)
    y[:100] *= 3
    order = rng.permutation(1000)
    y, scale = y[order], scale[order]
    numbers = pacband.report(pacband.certify(y, 0 * y, scale, eps=0.1, delta=0.1), y, 0 * y, scale).summary.numbers
    assert numbers["scale"].unevenness == pytest.approx(3 / (570 / 550))
