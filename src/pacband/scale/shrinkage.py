"""How far to trust a signal of σ̂(x): shrinkage towards a constant, chosen on out-of-fold errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.checks import check_probability

__all__ = ["PairShrinkage", "Shrinkage", "scale_loss"]

# With a share of one, σ̂ would be zero where the signal is. With these shares it is at least 1 % of its level.
_SHARES = np.array([*np.linspace(0.0, 0.95, 20), 0.98, 0.99, 0.999, 0.9999])
_CEILINGS = (3.0, 2.0, 1.5, 1.0, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Shrinkage:
    r"""σ̂ from a signal s(x) of the size of the error, which may be noisy, or only noise.

    .. math::

        σ̂^2(x) = ℓ^2 \left(w \frac{s^{2p}(x)}{m} + 1 - w\right),

    with m the mean of s²ᵖ over the rows. w = 0 is a constant scale and w = 1 the signal alone. The share w is
    chosen on out-of-fold pairs of a signal and an error. It is near 0 where the signal does not predict the error, so
    with constant noise the band is hardly wider. The level ℓ makes the mean of (e/σ̂)² one.

    The band that is narrowest on average is not proportional to the size of the error: with a given share of all rows
    inside, it is narrowest if the density of y is the same at both ends and at every x; else a strip of the band moved
    from where the density is less to where it is more would contain more rows. For Gaussian errors of size t, the
    half-width is then t·√(2c − 2 log t) for some c. It falls for t above e^{c − ½}. From there on `ceiling` = c keeps
    it constant, so that σ̂ never falls where the error grows. Here t is the root of the bracket above.

    Attributes
    ----------
    share, power, level : float
        w, p and ℓ. The power is 1, but in files of earlier versions.
    peak, unit : float
        The largest signal at the rows, in units of which s is taken, and m.
    floor : float
        The least σ̂: it is positive even where every error is zero.
    ceiling : float or None
        c, for the scale in units of ℓ; None if σ̂ is proportional to the size of the error.
    """

    share: float
    power: float
    level: float
    peak: float
    unit: float
    floor: float
    ceiling: float | None = None

    @classmethod
    def fit(cls, signal: Floats, errors: Floats, *, floor: float, eps: float | None = None) -> Shrinkage:
        """Choose the share and the level on out-of-fold pairs of signal and error.

        Parameters
        ----------
        signal : ndarray
            s(x) ≥ 0.
        errors : ndarray
            y − T(x), from a T and an s that were fitted without these rows.
        floor : float
            The least σ̂.
        eps : float, optional
            Without it, w minimises the `scale_loss`, which recovers the size of the error at every x. With it, w and
            the ceiling minimise the mean width of the band that ε of the errors exceed.

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
        peak = float(signal.max()) or 1.0
        unit = float(((signal / peak) ** 2).mean()) or 1.0
        best = cls(0.0, 1.0, 1.0, peak, unit, 0.0)
        if sizes.any():
            best = best._narrowest(signal, sizes, eps, [(share, None) for share in _SHARES])
            if eps is not None and best.share:
                # A ceiling takes from large signals, so the share is not less than without one.
                above = _SHARES[best.share <= _SHARES]
                tried = [(share, ceiling) for ceiling in (None, *_CEILINGS) for share in above]
                best = best._narrowest(signal, sizes, eps, tried)
        scaled = sizes / best(signal)
        largest = float(scaled.max()) or 1.0
        level = largest * math.sqrt(float(np.mean((scaled / largest) ** 2)))
        return replace(best, level=max(level, floor), floor=floor)

    def _narrowest(
        self, signal: Floats, sizes: Floats, eps: float | None, tried: list[tuple[float, float | None]]
    ) -> Shrinkage:
        """Return the best of pairs of a share and a ceiling; of equal ones the first."""
        candidates = [replace(self, share=float(share), ceiling=ceiling) for share, ceiling in tried]
        scales = (candidate(signal) for candidate in candidates)
        losses = [scale_loss(sizes, scale, scale, eps) for scale in scales]
        return candidates[int(np.argmin(losses))]

    def __call__(self, signal: Floats) -> Floats:
        """Return σ̂ of signals."""
        squares = (signal / self.peak) ** (2.0 * self.power) / self.unit
        scale = np.sqrt(self.share * squares + 1.0 - self.share)
        if self.ceiling is not None:
            bounded = np.minimum(scale, math.exp(self.ceiling - 0.5))
            scale = bounded * np.sqrt(2.0 * self.ceiling - 2.0 * np.log(bounded))
        return np.maximum(self.level * scale, self.floor)


@dataclass(frozen=True)
class PairShrinkage:
    """The same for a pair of half-widths: each side is w·σ̂(x) + (1 − w)·(its mean over the rows).

    Attributes
    ----------
    share : float
        w.
    typical : pair of float
        The mean half-widths.
    """

    share: float
    typical: tuple[float, float]

    @classmethod
    def fit(cls, lower: Floats, upper: Floats, errors: Floats, *, eps: float | None = None) -> PairShrinkage:
        """Choose the share on out-of-fold half-widths and errors."""
        sizes, above = np.abs(errors), errors > 0.0
        best = cls(0.0, (float(lower.mean()), float(upper.mean())))
        least = math.inf
        for share in _SHARES if sizes.any() else ():
            candidate = cls(float(share), best.typical)
            below_it, above_it = candidate(lower, upper)
            loss = scale_loss(sizes, np.where(above, above_it, below_it), (below_it + above_it) / 2, eps)
            if loss < least:
                best, least = candidate, loss
        return best

    def __call__(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return (σ̂⁻, σ̂⁺) of raw half-widths."""
        sides = (
            self.share * side + (1.0 - self.share) * mean
            for side, mean in zip((lower, upper), self.typical, strict=True)
        )
        below, above = np.broadcast_arrays(*sides)
        return below, above


def scale_loss(sizes: Floats, divisor: Floats, width: Floats, eps: float | None) -> float:
    r"""Return the loss of a scale at given errors. A constant factor does not change it: the certificate finds γ̄.

    By default log mean(\|e\|/σ̂) + mean(log σ̂), the negative log-likelihood of Laplace errors maximised over a constant
    factor: least, for large samples, where σ̂(x) is proportional to the mean of \|e\| given x. With ε, the mean of γσ̂
    with γ the (1 − ε)-quantile of \|e\|/σ̂: what `certify_family` minimises.

    Parameters
    ----------
    sizes : ndarray
        The absolute errors.
    divisor, width : ndarray
        The σ̂ on the side of each error, and the mean of both sides.
    eps : float or None
        ε.
    """
    if eps is None:
        return math.log(float(np.mean(sizes / divisor))) + float(np.mean(np.log(width)))
    gamma = np.quantile(sizes / divisor, 1.0 - check_probability("eps", eps), method="higher")
    return float(gamma * width.mean())
