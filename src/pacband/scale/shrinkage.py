"""How far to trust a signal of σ̂(x): shrinkage towards a constant, settled on honest errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pacband._checks import check_probability
from pacband.scale.crossfit import Floats

__all__ = ["Shrinkage", "disorder", "mean_band"]

# A share of one would leave σ̂ = 0 where the signal is; so it never falls below 1 % of its level.
_SHARES = np.array([*np.linspace(0.0, 0.95, 20), 0.98, 0.99, 0.999, 0.9999])
_POWERS = (1.0, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Shrinkage:
    r"""σ̂ from a signal s(x) that rises and falls with the error, but may be noisy, or mere noise.

    .. math::

        σ̂^2(x) = ℓ^2 \left(w \frac{s^{2p}(x)}{m} + 1 - w\right),

    with m the mean of s²ᵖ over the rows. w = 0 is a constant scale and w = 1 the signal alone. The share w is
    settled on pairs of a signal and an error, neither of which has seen the other, and so is near 0 where the
    signal says nothing: with constant noise it costs next to nothing. The level ℓ makes the mean of (e/σ̂)² one.

    Attributes
    ----------
    share, power, level : float
        w, p and ℓ.
    unit : float
        m.
    floor : float
        The least σ̂, so that it is positive even where every error is zero.
    """

    share: float
    power: float
    level: float
    unit: float
    floor: float

    @classmethod
    def fit(cls, signal: Floats, errors: Floats, *, floor: float, eps: float | None = None) -> Shrinkage:
        """Settle the share, and the level, on honest pairs of signal and error.

        Parameters
        ----------
        signal : ndarray
            s(x) ≥ 0.
        errors : ndarray
            y − T(x), from a T and an s that have not seen y.
        floor : float
            The least σ̂.
        eps : float, optional
            Without it, w minimises `disorder` (p = 1), which recovers the size of the error at every x. With it,
            w and p minimise `mean_band`, the mean width of the band that ε of the errors leave.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> noise, signal = rng.standard_normal(1000), rng.uniform(1, 3, 1000)
        >>> Shrinkage.fit(signal, signal * noise, floor=1e-9).share > 0.9
        True
        >>> Shrinkage.fit(signal, noise, floor=1e-9).share < 0.1
        True
        """
        sizes = np.abs(errors)
        best = (math.inf, 0.0, 1.0, 1.0)
        if sizes.any():
            powers = _POWERS[:1] if eps is None else _POWERS
            for power in powers:
                squares = signal ** (2.0 * power)
                unit = float(squares.mean())
                if not 0.0 < unit < math.inf:
                    continue
                for share in _SHARES:
                    scale = np.sqrt(share * squares / unit + 1.0 - share)
                    loss = disorder(sizes, scale) if eps is None else mean_band(sizes, scale, eps)
                    # A larger share has to earn its keep: of equals the first, which is the smaller, stays.
                    best = min(best, (loss, float(share), power, unit), key=lambda found: found[0])
        _, share, power, unit = best
        plain = cls(share, power, 1.0, unit, 0.0)
        level = math.sqrt(float(np.mean((sizes / plain(signal)) ** 2)))
        return cls(share, power, max(level, floor), unit, floor)

    def __call__(self, signal: Floats) -> Floats:
        """Return σ̂ of signals."""
        squares = signal ** (2.0 * self.power) / self.unit
        return np.maximum(self.level * np.sqrt(self.share * squares + 1.0 - self.share), self.floor)


def disorder(sizes: Floats, scale: Floats) -> float:
    r"""Return how badly a scale orders errors by size: log mean(\|e\|/σ̂) + mean(log σ̂).

    It is the negative log-likelihood of Laplace errors, maximised over a constant factor: a certificate finds
    that factor by itself, so it must not count. Least, for large samples, where σ̂(x) is proportional to the mean
    of \|e\| given x.
    """
    return math.log(float(np.mean(sizes / scale))) + float(np.mean(np.log(scale)))


def mean_band(sizes: Floats, scale: Floats, eps: float) -> float:
    r"""Return the mean of γσ̂ with γ the (1 − ε)-quantile of \|e\|/σ̂: what `certify_family` minimises."""
    gamma = np.quantile(sizes / scale, 1.0 - check_probability("eps", eps), method="higher")
    return float(gamma * scale.mean())
