"""The tube around a predicted run."""

import numpy as np
import pytest

import pacband
from pacband.reporting.figures.tube import tube_numbers

N, H = 60, 8
PROMISE = {"eps": 0.2, "delta": 0.1}


@pytest.fixture
def y(rng):
    return rng.standard_normal((N, H, 2)).cumsum(axis=1)


def test_the_numbers_are_those_of_the_tube(y):
    cert = pacband.certify(y, 0 * y, **PROMISE)
    far = y.copy()
    far[3, 5, 1] = 100.0
    numbers = tube_numbers(cert, 0.5 * y, y=far, run=3, output=1, steps=np.arange(H) / 10)
    np.testing.assert_array_equal(np.c_[numbers.lower, numbers.upper], cert.tube(0.5 * y)[3, :, 1])
    np.testing.assert_array_equal(numbers.prediction, 0.5 * y[3, :, 1])
    assert numbers.outside[5]
    assert numbers.outside.tolist() == (np.abs(far - 0.5 * y)[3, :, 1] > cert.gamma).tolist()
    one_sided = tube_numbers(pacband.certify(y, 0 * y, side="upper", **PROMISE), 0 * y, y=-100.0 + y)
    assert one_sided.lower is None
    assert not one_sided.outside.any()
    assert not tube_numbers(cert, y).outside.any()


def test_the_run_and_its_steps_outside_are_drawn(y, axes):
    cert = pacband.certify(y[..., :1], 0 * y[..., :1], **PROMISE)
    far = y[..., 0].copy()
    far[0, 2] = 50.0
    assert pacband.plot_tube(cert, 0 * far, y=far, ax=axes, y_name="height in m") is axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["certified tube", "prediction", "run", "outside"]
    assert axes.get_ylabel() == "height in m"
    assert axes.get_xlabel() == "step t"
    named = pacband.certify(y[..., :1], 0 * y[..., :1], about={"target": "height", "unit": "m"}, **PROMISE)
    assert pacband.plot_tube(named, 0 * far).get_ylabel() == "height, in m"


def test_families_are_drawn_by_their_best_and_h_outputs_as_runs(y):
    family = pacband.certify_family(y, {"a": 0 * y, "b": 9 + y}, **PROMISE)
    assert pacband.plot_tube(family, 0 * y) is not None
    plain = pacband.certify(y[..., 0], 0 * y[..., 0], **PROMISE)
    assert len(pacband.plot_tube(plain, 0 * y[..., 0]).lines) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"run": N}, "run must be one of 0 to 59, got 60"),
        ({"run": True}, "run must be one of 0 to 59, got True"),
        ({"output": 2}, "output must be one of 0 to 1, got 2"),
        ({"steps": [1.0]}, "steps must have one number for each of 8 steps"),
        ({"y": np.zeros((N, H))}, "y must have the shape of the predicted runs"),
        ({"ax": "here"}, "ax must be matplotlib axes"),
    ],
)
def test_bad_input(options, message, y):
    with pytest.raises(pacband.InvalidInput, match=message):
        pacband.plot_tube(pacband.certify(y, 0 * y, **PROMISE), 0 * y, **options)


def test_groups_and_rows_have_no_tube(y):
    groups = pacband.certify_groups(y, 0 * y, np.arange(N) % 2, **PROMISE)
    with pytest.raises(pacband.InvalidInput, match="a tube is drawn for one certificate, got GroupCertificate"):
        pacband.plot_tube(groups, 0 * y)
    assert pacband.plot_tube(groups.groups[1], 0 * y) is not None
    with pytest.raises(pacband.InvalidInput, match="a tube is around runs"):
        pacband.plot_tube(pacband.certify(y[:, 0, 0], y[:, 1, 0], **PROMISE), y[:, 0, 0])
