"""The errors pacband raises.

::

    PacbandError
    ├── InvalidInput (also a ValueError)   an argument breaks a stated rule
    │   ├── InvalidScale                   σ̂ is not a positive finite number
    │   ├── NotEnoughSamples               (ε, δ) cannot be certified with these samples
    │   └── ReusedData                     calibration rows were used to build the model
    └── CertificateError (also a ValueError)   the file of a certificate, or of a monitor's state, cannot be trusted

and the warning ``UnknownCategories``: rows hold categories that a model was not fitted on, far more than in the fit.

Every message states the rule and the offending value, and nothing has been written when one is raised.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "InvalidInput",
    "InvalidScale",
    "NotEnoughSamples",
    "PacbandError",
    "ReusedData",
    "UnknownCategories",
]


class PacbandError(Exception):
    """Base of every error pacband raises on purpose."""


class InvalidInput(PacbandError, ValueError):
    """An argument breaks a stated rule."""


class InvalidScale(InvalidInput):
    """A scale σ̂(x) is zero, negative, NaN or infinite."""


class ReusedData(InvalidInput):
    """Calibration rows were also used to build the model, so no promise can be made from them."""


class UnknownCategories(UserWarning):
    """Rows hold categories that the model was not fitted on, far more than in the fit."""


class CertificateError(PacbandError, ValueError):
    """A file is damaged, truncated, edited by hand, in use, or of a newer pacband; or it contradicts itself."""


class NotEnoughSamples(InvalidInput):
    """The samples cannot support the promise that was asked for.

    Attributes
    ----------
    n_samples : int
        The samples at hand.
    needed : int
        The samples that (ε, δ) take.
    eps_here, delta_here : float or None
        What these samples can promise instead: the smallest ε at the δ asked for, and the smallest δ at the
        ε asked for. None where nothing can be promised.
    """

    def __init__(
        self,
        message: str,
        *,
        n_samples: int,
        needed: int,
        eps_here: float | None = None,
        delta_here: float | None = None,
    ) -> None:
        super().__init__(message)
        self.n_samples = n_samples
        self.needed = needed
        self.eps_here = eps_here
        self.delta_here = delta_here

    def within(self, where: str) -> NotEnoughSamples:
        """Return the same error, said of one part: a group, or a candidate."""
        return NotEnoughSamples(
            f"{where}: {self}",
            n_samples=self.n_samples,
            needed=self.needed,
            eps_here=self.eps_here,
            delta_here=self.delta_here,
        )
