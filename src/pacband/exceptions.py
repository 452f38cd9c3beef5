"""The errors that pacband raises.

::

    PacbandError
    ├── InvalidInput (also a ValueError)         an argument breaks a stated rule
    │   ├── InvalidScale                         a scale is not a positive finite number
    │   ├── NotEnoughSamples                     these samples cannot certify (ε, δ)
    │   ├── ReusedData                           calibration rows were used to fit the model
    │   └── MissingExtra (also an ImportError)   an optional package is not installed
    └── CertificateError (also a ValueError)     a file of pacband cannot be read safely
        └── UntrustedTypes                       a model file has types that are not trusted

    UnknownCategories (a UserWarning)            categories that the model was not fitted on
    OutOfRange (a UserWarning)                   numbers beyond those that the model was fitted on
    UnlikelyPromise (a UserWarning)              ε or δ is more than half: usually a mistake
    PromiseWarning (a UserWarning)               rows do not look like independent draws

Every message states the rule and the value that breaks it. pacband raises before it writes a result.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "CertificateError",
    "InvalidInput",
    "InvalidScale",
    "MissingExtra",
    "NotEnoughSamples",
    "OutOfRange",
    "PacbandError",
    "PromiseWarning",
    "ReusedData",
    "UnknownCategories",
    "UnlikelyPromise",
    "UntrustedTypes",
]


class PacbandError(Exception):
    """Base of every error that pacband raises on purpose."""


class InvalidInput(PacbandError, ValueError):
    """An argument breaks a stated rule."""


class InvalidScale(InvalidInput):
    """A scale σ̂(x) is zero, negative, NaN or infinite."""


class ReusedData(InvalidInput):
    """Calibration rows were also used to build the model, so they cannot certify it."""


class MissingExtra(InvalidInput, ModuleNotFoundError):
    """An optional package is not installed. The message holds the pip command that installs it."""


class _OfColumn(UserWarning):
    """A warning of one column of a table.

    Attributes
    ----------
    column : str or None
        Its name.
    """

    def __init__(self, message: str = "", column: str | None = None) -> None:
        super().__init__(message)
        self.column = column


class UnknownCategories(_OfColumn):
    """Rows hold categories that the model was not fitted on, far more often than in the fit."""


class OutOfRange(_OfColumn):
    """Rows have numbers beyond the range of the fit, far more often than chance explains."""


class UnlikelyPromise(UserWarning):
    """ε or δ is more than half. The promise is valid, but a confidence of 95 % is ``delta=0.05``."""


class PromiseWarning(UserWarning):
    """Rows do not look like independent draws from one distribution, or they are not from the certified model.

    The message states what was seen, with a number such as PB003, and the cure. The page "Findings" of the
    documentation explains every number. To refuse such rows, turn the warning into an error:
    ``warnings.simplefilter("error", pacband.PromiseWarning)``.

    Attributes
    ----------
    findings : tuple
        The findings, as in `Diagnosis.findings`.
    """

    def __init__(self, message: str, findings: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class CertificateError(PacbandError, ValueError):
    """A file is damaged, truncated, edited by hand, in use, from a newer pacband, or contradicts itself."""


class UntrustedTypes(CertificateError):
    """A model file contains types that the caller did not trust.

    Attributes
    ----------
    source : str
        The file.
    types : tuple of str
        The full names of the types.
    """

    def __init__(self, source: str, types: Sequence[str]) -> None:
        super().__init__(
            f"{source} contains {len(types)} type(s) that pacband cannot check: {', '.join(types)}. If you trust the "
            f"packages they belong to, and the file, load it with trusted={list(types)}."
        )
        self.source = source
        self.types = tuple(types)


class NotEnoughSamples(InvalidInput):
    """The samples are too few for the promise.

    Attributes
    ----------
    n_samples : int
        The number of samples given.
    needed : int or None
        The number of samples that (ε, δ) needs; None if no number of such samples suffices.
    eps_here, delta_here : float or None
        What these samples can promise instead: the smallest ε at the given δ, and the smallest δ at the given ε.
        None where nothing can be promised.
    """

    def __init__(
        self,
        message: str,
        *,
        n_samples: int,
        needed: int | None,
        eps_here: float | None = None,
        delta_here: float | None = None,
    ) -> None:
        super().__init__(message)
        self.n_samples = n_samples
        self.needed = needed
        self.eps_here = eps_here
        self.delta_here = delta_here

    def within(self, where: str) -> NotEnoughSamples:
        """Return the same error about one part, such as a group or a candidate."""
        return NotEnoughSamples(
            f"{where}: {self}",
            n_samples=self.n_samples,
            needed=self.needed,
            eps_here=self.eps_here,
            delta_here=self.delta_here,
        )
