r"""Rows accepted by their importance: draws of the future inputs, under a covariate shift that is known.

With the importance w(x) = density of future inputs / density of calibration inputs ≤ b, a row is accepted if u·b < w(x)
for a uniform u of its own. Accepted rows are independent draws of the future rows (rejection sampling; Park, Dobriban,
Lee and Bastani, 2022).

If w(x) is known only as an interval [w⁻(x), w⁺(x)], the accepted rows A are not known, but A⁻ ⊆ A ⊆ A⁺, where A⁻ are
the rows accepted by w⁻ and A⁺ those accepted by w⁺ with the same u. Let k_A(γ) of the N_A rows of A exceed γ, and let
γ_A be the smallest γ with B(k_A(γ); N_A, ε) ≤ δ: the bound of A, which fails with a probability of at most δ.
Take γ̄, the smallest score of a row in A⁻ with B(k; N, ε) ≤ δ for

    k = number of rows of A⁺ above γ̄,    N = k + number of rows of A⁻ at or below γ̄.

Then γ̄ ≥ γ_A whichever rows A are accepted in truth, so that γ̄ fails only if γ_A fails. For B(k; k + m, ε) is the
probability that in trials with success probability ε the m-th failure comes before success k + 1. It grows with k and
falls with m, and no A between A⁻ and A⁺ has more rows above γ̄, or fewer at or below it, than were counted. For the same
reason the inequality holds at every larger γ. If the interval itself holds with confidence 1 − δ_w, the inequality is
decided at δ − δ_w.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, as_numbers, name_rows
from pacband.core.checks import check_positive
from pacband.draws.declared import Draws, check_seed, random_stream
from pacband.draws.kinds import WeightedDraws
from pacband.draws.samples import Sample
from pacband.exceptions import InvalidInput

__all__ = ["Weighted"]


class Weighted(Draws):
    """Rows accepted with probability w(x)/b: draws of the future inputs, under a covariate shift that is known.

    Parameters
    ----------
    importance : array-like of shape (n,), or pair of array-likes
        w(x), the density of future inputs over that of calibration inputs; in tables the name of a column. A tuple
        (low, high) is an interval that contains w(x).
    at_most : float
        b, a bound of w over all x, declared beforehand.
    random_state : int
        The seed of the acceptance. It is part of the certificate.
    interval_delta : float in [0, 1)
        δ_w, the probability that w(x) is outside its interval for some x, as declared. It is taken from δ. The interval
        must not depend on the calibration rows.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(2000)
    >>> y, low, high = x * rng.standard_normal(2000), 1.9 * x, np.minimum(2.1 * x, 2.0)
    >>> known = pacband.draws.Weighted(2 * x, at_most=2.0)
    >>> between = pacband.draws.Weighted((low, high), at_most=2.0)
    >>> [round(pacband.certify(y, np.zeros(2000), delta=0.01, draws=draws).gamma, 3) for draws in (known, between)]
    [1.75, 1.774]
    """

    def __init__(self, importance: Any, *, at_most: float, random_state: int = 0, interval_delta: float = 0.0) -> None:
        if isinstance(importance, tuple) and len(importance) != 2:
            raise InvalidInput(f"an interval of importance must be (low, high), got {len(importance)} parts.")
        if isinstance(importance, tuple) and isinstance(importance[0], str) != isinstance(importance[1], str):
            raise InvalidInput("an interval of importance must be two columns, or two arrays, got one of each.")
        self.importance = importance
        self.kind: WeightedDraws = WeightedDraws(
            check_positive("at_most", at_most),
            check_seed(random_state),
            isinstance(importance, tuple),
            check_positive("interval_delta", interval_delta, or_zero=True),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the importance, if they were named in place of their values."""
        return tuple(part for part in self._parts if isinstance(part, str))

    @property
    def row_values(self) -> Any:
        """The importance of every row, or both ends of its interval, unless columns were named."""
        return None if self.columns else self._parts

    def bind(self, *values: Any) -> Weighted:
        """Return the weighted draws with the values of their columns."""
        return Weighted(
            values if self.kind.interval else values[0],
            at_most=self.kind.at_most,
            random_state=self.kind.seed,
            interval_delta=self.kind.interval_delta,
        )

    def take(self, rows: npt.NDArray[np.intp]) -> Weighted:
        """Return the weighted draws of some of the rows."""
        return self.bind(*(as_numbers("importance", part)[rows] for part in self._parts))

    def sample(self, n_rows: int) -> Sample:
        """Return the accepted rows as draws."""
        accepted = self.acceptance()(*self.weights(n_rows))
        certain, possible = accepted[0], accepted[-1]
        if not certain.any():
            raise InvalidInput("no row was accepted: importance is too small against at_most.")
        rows = np.flatnonzero(possible)
        n_draws = int(np.count_nonzero(certain))
        return Sample(n_draws, lambda scores: scores[rows], rows, certain=certain[rows] if self.kind.interval else None)

    def acceptance(self) -> Callable[..., list[npt.NDArray[np.bool_]]]:
        """Return a function that accepts rows by their weights, in their order: piece by piece, or all at once."""
        random, at_most = random_stream(self.kind.seed), self.kind.at_most

        def accept(*weights: Floats) -> list[npt.NDArray[np.bool_]]:
            limit = random.random(len(weights[0])) * at_most
            return [limit < part for part in weights]

        return accept

    def weights(self, n_rows: int) -> list[Floats]:
        """Return the importance of n rows, or the ends of its interval, or raise."""
        names = ("the lower importance", "the upper importance") if self.kind.interval else ("importance",)
        found = [
            self._check(name, as_numbers(name, part).astype(np.float64), n_rows)
            for name, part in zip(names, self._parts, strict=True)
        ]
        if (crossed := found[0] > found[-1]).any():
            raise InvalidInput(f"the lower importance must not exceed the upper one: it does in {name_rows(crossed)}.")
        return found

    def _check(self, name: str, weights: Floats, n_rows: int) -> Floats:
        if weights.shape != (n_rows,):
            raise InvalidInput(f"{name} must have one value per row, {n_rows}, got shape {weights.shape}.")
        bad = ~((weights >= 0.0) & (weights <= self.kind.at_most))
        if bad.any():
            raise InvalidInput(
                f"{name} must be in [0, at_most] = [0, {self.kind.at_most:g}]: it is negative, NaN or larger in "
                f"{name_rows(bad)}."
            )
        return weights

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.importance if isinstance(self.importance, tuple) else (self.importance,)
