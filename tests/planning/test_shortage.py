"""The error for too few samples: only what can be promised is offered."""

import pytest

from pacband.planning import WHOLE
from pacband.planning.shortage import not_enough_samples


@pytest.mark.parametrize(
    ("eps_here", "delta_here", "offers"),
    [
        (0.25, 0.5, " These samples can promise eps=0.25 at this delta, or delta=0.5 at this eps."),
        (0.25, 1.0, " These samples can promise eps=0.25 at this delta."),
        (1.0, 0.5, " These samples can promise delta=0.5 at this eps."),
        (1.0, 1.0, ""),
    ],
)
def test_only_probabilities_below_one_are_offered(eps_here, delta_here, offers):
    error = not_enough_samples(
        0.1, 0.01, WHOLE, "need 44 samples", n_samples=3, needed=44, eps_here=eps_here, delta_here=delta_here
    )
    assert str(error) == f"eps=0.1 and delta=0.01 need 44 samples, got n_samples=3.{offers}"
    assert error.eps_here == (eps_here if eps_here < 1.0 else None)
    assert error.delta_here == (delta_here if delta_here < 1.0 else None)
