"""The curve as a value: its points are certificates, its words, and what is refused."""

from itertools import pairwise

import numpy as np

import pacband


def test_points_of_the_curve_are_certificates(rng):
    y, scale = rng.standard_normal(500), rng.uniform(1, 2, 500)
    curve = pacband.certify_curve(y, np.zeros(500), scale, delta=1e-3)
    for eps in (curve.smallest_eps, 0.03, 0.05, 0.2, 0.7):
        single = curve.certificate(eps)
        assert (single.eps, single.delta, single.gamma) == (eps, 1e-3, curve.gamma(eps))
        assert single.attained_delta <= 1e-3 * (1 + 1e-8)
        assert single.verify(y, np.zeros(500), scale)
        np.testing.assert_array_equal(curve.interval([1.0], [2.0], eps=eps), single.interval([1.0], [2.0]))
    assert all(low >= high for low, high in pairwise(curve.gammas))
    assert all(low < high for low, high in pairwise(curve.levels))


def test_readings(rng):
    curve = pacband.certify_curve(rng.standard_normal(2000), np.zeros(2000), delta=0.01)
    assert str(curve).startswith("With confidence 99 %, for every ε from 0.00")
    assert "ε = 0.05" in str(curve)
    assert "<table" in curve._repr_html_()
    content = curve.to_dict()
    assert len(content["levels"]) == len(content["gammas"]) == len(content["ranks"])


def test_a_point_of_the_curve_is_the_certificate_of_one_model(rng):
    curve = pacband.certify_curve(rng.standard_normal(500), np.zeros(500), delta=0.01)
    assert "candidates" not in curve.certificate(0.1).promise
