"""`Watch`: the counts, the evidence and the change detector of one stream of violations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certificate.draw_words import ROW_WORDS, DrawWords
from pacband.core.wording import figure, percent, round_up
from pacband.exceptions import CertificateError
from pacband.monitoring.detector import Detector, Levels
from pacband.monitoring.eprocess import first_crossing, log_e_value
from pacband.monitoring.sequence import confidence_sequence
from pacband.monitoring.trace import Trace

__all__ = ["STATES", "Watch"]

STATES = ("ok", "warning", "revoked")
# An upper bound for the rounding error of ln E.
_ROUNDING = 1e-6


class Watch:
    """What is known about one violation rate, in a few numbers for a stream of any length.

    Attributes
    ----------
    eps : float
        The promised rate ε.
    alpha : float
        An upper bound for the probability that the state ever becomes "revoked" although the promise holds. For a
        series whose mixing was declared, it holds within n draws up to nβ(a).
    n_rows, n_violations, n_unlabelled : int
        Rows with a label, violations among them, and rows without a label.
    warned_at, revoked_at : int or None
        The row of the warning or revocation, counted among the rows with a label.
    n_warnings : int
        How many warnings the detector gave, acknowledged or not.
    """

    __slots__ = (
        "_detector",
        "_levels",
        "_quiet",
        "_trace",
        "_words",
        "alpha",
        "eps",
        "n_rows",
        "n_unlabelled",
        "n_violations",
        "n_warnings",
        "revoked_at",
        "warned_at",
    )

    def __init__(self, eps: float, alpha: float, false_alarm_interval: float, words: DrawWords = ROW_WORDS) -> None:
        self.eps, self.alpha = eps, alpha
        # What is counted, for the words.
        self._words = words
        self.n_rows = self.n_violations = self.n_unlabelled = self.n_warnings = 0
        self.warned_at: int | None = None
        self.revoked_at: int | None = None
        self._detector = Detector(eps, false_alarm_interval)
        self._levels: Levels = self._detector.start()
        self._quiet = 0
        self._trace = Trace()

    @property
    def state(self) -> str:
        """Return "ok", "warning" or "revoked"."""
        return "revoked" if self.revoked_at is not None else "warning" if self.warned_at is not None else "ok"

    @property
    def false_alarm_interval(self) -> float:
        """A lower bound for the mean number of rows to a false warning."""
        return self._detector.threshold

    @property
    def reason(self) -> str:
        """A sentence that explains the state."""
        one, many = self._words.noun, self._words.tested
        seen = f"{self.n_violations} violations in {self.n_rows} {many}"
        if self.n_rows:
            seen += f" ({percent(self.n_violations / self.n_rows)})"
        seen += f"; at most {percent(self.eps)} are allowed"
        if self.revoked_at is not None:
            each = self._words.dependence
            dependence = f", and {figure(round_up(each, 6))} more for every draw" if each else ""
            return (
                f"The promise does not hold: at {one} {self.revoked_at} the evidence against it reached "
                f"{figure(1 / self.alpha)} to 1. If the promise holds, this ever happens with probability at most "
                f"{figure(self.alpha)}{dependence}. Since the start: {seen}."
            )
        if self.warned_at is not None:
            return (
                "Violations have lately been more frequent than promised: the detector fired at "
                f"{one} {self.warned_at}. If the promise holds, it fires on average at most once in "
                f"{figure(self.false_alarm_interval)} {many}. Since the start: {seen}."
            )
        return f"There is no evidence against the promise: {seen}."

    @property
    def violation_rate(self) -> float:
        """The share of violations among rows with a label; NaN if there are none yet."""
        return self.n_violations / self.n_rows if self.n_rows else math.nan

    @property
    def e_value(self) -> float:
        """The evidence E against the promise now. If it reaches 1/alpha, the state becomes "revoked"."""
        return math.exp(min(float(log_e_value(self.n_violations, self.n_rows, self.eps)), 700.0))

    @property
    def detector_value(self) -> float:
        """The mean of the detector's M now. If it reaches `false_alarm_interval`, the state becomes "warning"."""
        return math.fsum(self._detector.decayed(self._levels, self._quiet)) / len(self._levels)

    @property
    def trace(self) -> list[tuple[int, int]]:
        """Pairs (rows, violations) at evenly spaced rows, at most a few hundred."""
        return self._trace.points

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the violation rate. It is correct at all times at once with probability `level`.

        It assumes one rate for all rows since the start. After a change, this rate is between the old and the new one.
        For a series whose mixing was declared, `level` holds within n draws up to nβ(a).
        """
        return confidence_sequence(self.n_violations, self.n_rows, self.eps, level)

    def update(self, violated: npt.NDArray[np.bool_], unlabelled: int) -> None:
        """Count rows: for each row with a label, whether it is a violation; and the number of rows without a label."""
        positions = np.flatnonzero(violated)
        self._test(positions)
        self._detect(positions, len(violated))
        self._trace.extend(self.n_rows, self.n_violations, len(violated), positions)
        self.n_rows += len(violated)
        self.n_violations += len(positions)
        self.n_unlabelled += unlabelled

    def acknowledge(self) -> None:
        """Acknowledge a warning and reset the change detector. A revocation stays."""
        if self.warned_at is not None:
            self.warned_at, self._levels, self._quiet = None, self._detector.start(), 0

    def _test(self, positions: npt.NDArray[np.int64]) -> None:
        """Update `revoked_at`, before the new rows are counted."""
        if self.revoked_at is not None or not len(positions):
            return
        rows = self.n_rows + 1 + positions
        counts = self.n_violations + np.arange(1, len(positions) + 1)
        at = first_crossing(counts, rows, self.eps, -math.log(self.alpha))
        if at is not None:
            self.revoked_at = int(rows[at])

    def _detect(self, positions: npt.NDArray[np.int64], n_rows: int) -> None:
        """Update the detector and `warned_at`, before the new rows are counted."""
        # After a warning the detector stops until the warning is acknowledged.
        if self.warned_at is not None:
            return
        self._levels, alarm = self._detector.advance(self._levels, self._quiet, positions)
        if alarm is not None:
            self.warned_at = self.n_rows + 1 + int(positions[alarm])
            self.n_warnings += 1
            self._quiet = 0
        elif len(positions):
            self._quiet = n_rows - 1 - int(positions[-1])
        else:
            self._quiet += n_rows

    @classmethod
    def merged(cls, parts: Sequence[Watch]) -> Watch:
        """Return one watch over the rows of all parts: counts add up, and so do the values of the detectors."""
        first = parts[0]
        whole = cls(first.eps, first.alpha, first._detector.threshold, first._words)
        for name in ("n_rows", "n_violations", "n_unlabelled", "n_warnings"):
            setattr(whole, name, sum(getattr(part, name) for part in parts))
        now = [part._detector.decayed(part._levels, part._quiet) for part in parts if part.warned_at is None]
        slow, middle, fast = (math.fsum(column) for column in zip(*now, strict=True)) if now else whole._levels
        whole._levels = (slow, middle, fast)
        crossed = float(log_e_value(whole.n_violations, whole.n_rows, whole.eps)) >= -math.log(whole.alpha)
        if crossed or any(part.revoked_at is not None for part in parts):
            whole.revoked_at = whole.n_rows
        fired = math.fsum(whole._levels) >= len(whole._levels) * whole._detector.threshold
        if fired or any(part.warned_at is not None for part in parts):
            whole.warned_at = whole.n_rows
            whole.n_warnings += fired
        return whole

    def to_dict(self) -> dict[str, Any]:
        """Return the watch as JSON-ready values."""
        return {
            "n_rows": self.n_rows,
            "n_violations": self.n_violations,
            "n_unlabelled": self.n_unlabelled,
            "n_warnings": self.n_warnings,
            "warned_at": self.warned_at,
            "revoked_at": self.revoked_at,
            "detector": list(self._levels),
            "quiet": self._quiet,
            "trace": self._trace.encode(),
        }

    def restore(self, content: Mapping[str, Any]) -> None:
        """Set the values from `to_dict`, or raise `CertificateError` if no stream can lead to them."""
        for name in ("n_rows", "n_violations", "n_unlabelled", "n_warnings", "warned_at", "revoked_at"):
            setattr(self, name, content[name])
        slow, middle, fast = map(float, content["detector"])
        self._levels, self._quiet = (slow, middle, fast), content["quiet"]
        self._trace = Trace.decode(content["trace"])
        moments = {"warned_at": self.warned_at, "revoked_at": self.revoked_at, "quiet": self._quiet}
        for name, value in {"n_violations": self.n_violations, **moments}.items():
            if value is not None and value > self.n_rows:
                raise CertificateError(f"{name} must not exceed n_rows={self.n_rows}, got {value}.")
        if not self._trace.leads_to(self.n_rows, self.n_violations):
            raise CertificateError("its trace does not match its numbers of rows and violations.")
        evidence = float(log_e_value(self.n_violations, self.n_rows, self.eps))
        if self.revoked_at is None and evidence > -math.log(self.alpha) + _ROUNDING:
            raise CertificateError(
                f"it counts {self.n_violations} violations in {self.n_rows} rows, which revoke the certificate, but it "
                "is not revoked."
            )
