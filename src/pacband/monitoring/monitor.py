"""`Monitor`: watch the promise of a certificate after deployment."""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.core.checks import check_probability
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label
from pacband.core.wording import card, figure, percent
from pacband.exceptions import CertificateError, InvalidInput
from pacband.judging.judge import Judge
from pacband.monitoring.ledger import Ledger
from pacband.monitoring.sequence import confidence_sequence
from pacband.monitoring.watch import STATES, Watch

__all__ = ["Batch", "Monitor"]

# A detector that fires at the first violations is of no use, however short the interval asked for.
_FEWEST_VIOLATIONS = 10.0
# Below it, 1/α and its share for a group are no floats any more.
_SMALLEST_ALPHA = 1e-300
# Characters of a batch id that a warning repeats.
_LONGEST_SHOWN = 80
# Saved states that a monitor remembers, so that it is not merged with a copy of itself.
_MOST_SAVED = 1024


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What `Monitor.update` saw: rows with a label, violations among them, rows without; and the state since.

    `repeated` says that the batch id was known, and nothing was counted.
    """

    rows: int
    violations: int
    unlabelled: int
    repeated: bool
    state: str


class Monitor:
    """Watch whether violations stay as rare as a certificate promised.

    A row is a violation where its score exceeds γ̄, by the certificate's own rule. Two instruments read the stream:

    - an e-process against P(violation) ≤ ε (`pacband.monitoring.eprocess`): where it reaches 1/α, the state is
      "revoked", for good. While the promise holds, that ever happens with probability α at most.
    - an e-detector for a rise that comes late (`pacband.monitoring.detector`): where it fires, the state is
      "warning", until `acknowledge` is called, after which the detector starts afresh. While the promise holds, the
      mean time from one start to a false warning is `false_alarm_interval` rows at least.

    Both hold however often one looks, and nothing depends on how the stream is cut into batches. Memory does not
    grow. (The promise itself fails with probability δ over calibrations; a revocation is then no false one.) Threads
    may share a monitor: a lock lets one call at a time work on it.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        Of a family, the best candidate is watched. Every group is watched by itself, each at α/G (a union bound:
        any group is ever falsely revoked with probability α at most). The detectors need no such correction: their
        values add up to one that grows by at most one a row, so that the interval holds over the rows of all groups.
    alpha : float in (0, 1)
        The probability of ever being revoked falsely.
    false_alarm_interval : float
        The mean number of rows to a false warning, at least; no less than 10/ε is used.

    Notes
    -----
    *Labels that come late or out of order.* Pass a row when its label is there, in any order. What must hold is
    that the next label to come is a violation with probability ε at most, whatever came before: labels that come
    sooner, or at all, *because* the prediction was wrong break it, labels delayed for other reasons do not.

    *Labels that never come.* A row whose y is NaN is counted in `n_unlabelled` and in nothing else, also where its
    prediction is broken. Pass it again with its label, should it come.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    >>> monitor = pacband.Monitor(cert)
    >>> monitor.update(rng.standard_normal(5000), np.zeros(5000)).state
    'ok'
    >>> monitor.update(1.5 * rng.standard_normal(500), np.zeros(500)).state
    'warning'
    >>> [round(end, 3) for end in monitor.violation_interval(0.95)]
    [0.04, 0.061]
    """

    def __init__(
        self,
        certificate: Certificate | FamilyCertificate | GroupCertificate,
        *,
        alpha: float = 0.01,
        false_alarm_interval: float = 1e5,
    ) -> None:
        self._judge = Judge(certificate)
        self.certificate = certificate
        # Kept, for a certificate never changes and every save writes it.
        self._digest: str | None = None
        self.alpha = check_probability("alpha", alpha)
        if self.alpha < _SMALLEST_ALPHA:
            raise InvalidInput(f"alpha must be at least {_SMALLEST_ALPHA:g}, got {alpha!r}.")
        self.false_alarm_interval = max(_check_interval(false_alarm_interval), _FEWEST_VIOLATIONS / certificate.eps)
        self.ledger = Ledger()
        # Fingerprints of the states this monitor read or wrote, by path: see StateFile.
        self.saved: dict[str, str] = {}
        # Those of them that held rows, whatever their path, the last one last.
        self._ancestors: dict[str, None] = {}
        # Held while a call works on the monitor; a call may make others.
        self.lock = threading.RLock()
        self._watches = {
            label: Watch(certificate.eps, self.alpha / len(self._judge.parts), self.false_alarm_interval)
            for label in self._judge.parts
        }
        self._state = STATES[0]
        # The watches whose content no schema has checked yet.
        self.unchecked: set[Label | None] = set(self._watches)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock = threading.RLock()

    def update(
        self,
        y: Any,
        y_pred: Any,
        scale: Any = None,
        *,
        groups: Any = None,
        batch_id: str | int | None = None,
    ) -> Batch:
        """Take in one row or many; nothing is counted where an error is raised.

        Parameters
        ----------
        y, y_pred, scale
            As in `certify`; a NaN in y is a label that has not come. A single row may be given as numbers.
        groups : array-like, label
            The group of every row, where the certificate has groups.
        batch_id : str or int, optional
            A name for these rows. A batch whose name is known already (the last 1024 are) is skipped with a warning.
            Of several threads that bring the same batch, one is counted.

        Returns
        -------
        Batch
            What was seen, and the state now.
        """
        with self.lock:
            if batch_id is not None and str(batch_id) in self.ledger:
                name = repr(str(batch_id)[:_LONGEST_SHOWN])
                warnings.warn(f"batch {name} was taken in before: it is skipped.", UserWarning, stacklevel=2)
                return Batch(rows=0, violations=0, unlabelled=0, repeated=True, state=self._state)
            if groups is not None and not self._judge.grouped:
                raise InvalidInput("groups were given, but the certificate has none.")
            judged = self._judge.judge(y, y_pred, scale, groups, unlabelled=True)
            violated = judged.violations_by_part()
            for label, without in zip(judged.labels, judged.unlabelled.tolist(), strict=True):
                watch = self._watches[label]
                watch.update(violated[label], without)
                # Rows can make a state worse only.
                self._state = max(self._state, watch.state, key=STATES.index)
            self.unchecked.update(judged.labels)
            if batch_id is not None:
                self.ledger.note_batch(str(batch_id))
            return Batch(
                rows=len(judged.scores),
                violations=sum(int(np.count_nonzero(rows)) for rows in violated.values()),
                unlabelled=int(judged.unlabelled.sum()),
                repeated=False,
                state=self._state,
            )

    @property
    def state(self) -> str:
        """Return "ok", "warning" or "revoked": of several groups, the worst."""
        return self._state

    def _worst_state(self) -> str:
        return max((watch.state for watch in self._watches.values()), key=STATES.index)

    @property
    def reason(self) -> str:
        """Why it is in this state, in words."""
        with self.lock:
            if len(self._watches) == 1:
                return next(iter(self._watches.values())).reason
            state = self.state
            if state == "ok":
                return (
                    f"Nothing speaks against the promise in any of {len(self._watches)} groups: {self.n_violations} "
                    f"violations in {self.n_rows} rows, at most {percent(self.certificate.eps)} promised in each."
                )
            return " ".join(f"Group {label!r}: {w.reason}" for label, w in self._watches.items() if w.state == state)

    @property
    def scale_kind(self) -> str:
        """Which scale `update` takes: "none", "symmetric" or "asymmetric"."""
        return self._judge.basis.scale_kind

    @property
    def groups(self) -> FrozenMap[Label, Watch]:
        """The watch over each group; empty where the certificate has none."""
        return FrozenMap({label: watch for label, watch in self._watches.items() if label is not None})

    @property
    def watches(self) -> FrozenMap[Label | None, Watch]:
        """The watch over each group, or the only one under the name None."""
        return FrozenMap(self._watches)

    @property
    def n_rows(self) -> int:
        """Rows with a label."""
        return sum(watch.n_rows for watch in self._watches.values())

    @property
    def n_violations(self) -> int:
        """Rows beyond the bound."""
        return sum(watch.n_violations for watch in self._watches.values())

    @property
    def n_unlabelled(self) -> int:
        """Rows whose label had not come."""
        return sum(watch.n_unlabelled for watch in self._watches.values())

    @property
    def violation_rate(self) -> float:
        """The share of violations among rows with a label; NaN before the first."""
        with self.lock:
            return self.n_violations / self.n_rows if self.n_rows else math.nan

    @property
    def e_value(self) -> float:
        """The evidence E against the promise now: revoked where it reaches 1/alpha. Of G groups, the largest E/G."""
        with self.lock:
            return max(watch.e_value for watch in self._watches.values()) / len(self._watches)

    @property
    def detector_value(self) -> float:
        """The detector's value now: a warning where it reaches `false_alarm_interval`. Of groups, the largest."""
        with self.lock:
            return max(watch.detector_value for watch in self._watches.values())

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return where the violation rate lies: an interval that holds at all times at once with this probability.

        The rate is that of all rows since the start, taken to be one; after a change it lies between the old
        rate and the new. Over groups it is the overall rate; each group has its own in `groups`.
        """
        with self.lock:
            n_violations, n_rows = self.n_violations, self.n_rows
        return confidence_sequence(n_violations, n_rows, self.certificate.eps, level)

    def acknowledge(self) -> None:
        """Acknowledge warnings: the state is "ok" again, and the detectors are reset. A revocation stays."""
        with self.lock:
            for label, watch in self._watches.items():
                if watch.warned_at is not None:
                    watch.acknowledge()
                    self.unchecked.add(label)
            self._state = self._worst_state()

    def merge(self, *others: Monitor) -> Monitor:
        """Return one monitor over the rows of this and others, which watched other rows under the same certificate.

        Counts add up, and E of the summed counts is the evidence of the whole stream at this moment, in whatever
        order its rows came: merging the same shards again and again, as they grow, reads one e-process at some of
        its moments, and crosses 1/α falsely with probability α at most. The moments must not be chosen by the counts
        of single shards. The detectors' sums add up, and keep the interval over the rows of all shards.

        A shard's own warning or revocation is carried over. Each of k shards may be revoked falsely with
        probability α too, so that all looks together make (k + 1)·α at most: give each α/(k + 1) to keep α.
        Streams and traces are not carried over; of batch ids, the last 1024.

        Rows that two monitors have both taken in would count twice. So monitors are refused that have a batch id in
        common, that have read a stream equally far, or one of which was saved with rows and read back as the other. The
        last 1024 batch ids and saved states and the last 64 streams are known; what is older, and rows that came
        without a batch id, cannot be told apart: it is for you to keep them apart.
        """
        for other in others:
            mine = (self._certificate_digest(), self.alpha, self.false_alarm_interval)
            if mine != (other._certificate_digest(), other.alpha, other.false_alarm_interval):
                raise InvalidInput(
                    "monitors that are merged must have one certificate, alpha and false_alarm_interval, got different "
                    "ones."
                )
        monitors = (self, *others)
        if len({id(monitor) for monitor in monitors}) < len(monitors):
            raise InvalidInput("monitors that are merged must have watched different rows, got one of them twice.")
        with ExitStack() as locks:
            # In one order for all threads, so that no two of them wait for each other.
            for monitor in sorted(monitors, key=id):
                locks.enter_context(monitor.lock)
            _refuse_shared(monitors)
            whole = type(self)(self.certificate, alpha=self.alpha, false_alarm_interval=self.false_alarm_interval)
            for label in whole._watches:
                whole._watches[label] = Watch.merged([monitor._watches[label] for monitor in monitors])
            whole._state = whole._worst_state()
            for monitor in monitors:
                whole.ledger = whole.ledger.merged(monitor.ledger)
                for fingerprint in monitor._ancestors:
                    whole._remember(fingerprint)
            return whole

    def note_saved(self, path: str, fingerprint: str) -> None:
        """Remember that the state with this fingerprint was read from, or written to, this path."""
        self.saved[path] = fingerprint
        if self.n_rows or self.n_unlabelled:
            self._remember(fingerprint)

    def _remember(self, fingerprint: str) -> None:
        self._ancestors.pop(fingerprint, None)
        self._ancestors[fingerprint] = None
        if len(self._ancestors) > _MOST_SAVED:
            del self._ancestors[next(iter(self._ancestors))]

    def plot(self, ax: Any = None) -> Any:
        """Draw the violation rate with its confidence sequence over time; return matplotlib's axes."""
        from pacband.monitoring.figure import draw

        return draw(self, ax)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the state to a JSON file, atomically; see `pacband.monitoring.state.StateFile`.

        A file that holds another state than this monitor last read or wrote there is not overwritten: another
        process has been at work.
        """
        from pacband.monitoring.state import StateFile

        with self.lock, StateFile(path) as file:
            file.write(self)
        return Path(path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], certificate: Certificate | FamilyCertificate | GroupCertificate
    ) -> Self:
        """Read the state back: it must be that of this certificate, and whole."""
        from pacband.monitoring.state import StateFile

        with StateFile(path) as file:
            return file.read(certificate, kind=cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON-ready values, as `save` writes them."""
        with self.lock:
            return {
                "certificate": self._certificate_digest(),
                "alpha": self.alpha,
                "false_alarm_interval": self.false_alarm_interval,
                "state": self.state,
                "watches": [{"label": label, **watch.to_dict()} for label, watch in self._watches.items()],
                **self.ledger.to_dict(),
            }

    def _certificate_digest(self) -> str:
        if self._digest is None:
            self._digest = self.certificate.digest
        return self._digest

    @classmethod
    def from_dict(
        cls, content: dict[str, Any], certificate: Certificate | FamilyCertificate | GroupCertificate
    ) -> Self:
        """Rebuild a monitor from `to_dict` and its certificate."""
        digest = certificate.digest
        if content["certificate"] != digest:
            raise CertificateError(
                f"this is the state of another certificate: its digest is {content['certificate'][:16]}…, the "
                f"certificate's is {digest[:16]}…."
            )
        monitor = cls(certificate, alpha=content["alpha"], false_alarm_interval=content["false_alarm_interval"])
        labels = [watch["label"] for watch in content["watches"]]
        if labels != list(monitor._watches):
            raise CertificateError("the groups of the state are not those of its certificate.")
        for watch in content["watches"]:
            monitor._watches[watch["label"]].restore(watch)
        monitor._state = monitor._worst_state()
        if monitor.state != content["state"]:
            raise CertificateError(f"its state must be {monitor.state!r} by its counts, got {content['state']!r}.")
        monitor.ledger = Ledger.from_dict(content)
        return monitor

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}"

    def __repr__(self) -> str:
        return f"<Monitor {self.state}: {self.n_violations} violations in {self.n_rows} rows>"

    def _repr_html_(self) -> str:
        low, high = self.violation_interval(0.95)
        rows = [
            ("rows with a label", str(self.n_rows)),
            ("rows without", str(self.n_unlabelled)),
            ("violations", f"{self.n_violations}, at 95 % a rate of {percent(low)} to {percent(high)}"),
            ("evidence, revoked at", f"{figure(self.e_value)}, {figure(1 / self.alpha)}"),
            ("detector, warns at", f"{figure(self.detector_value)}, {figure(self.false_alarm_interval)}"),
        ]
        return card(f"pacband monitor: {self.state}", self.reason, rows)


def _refuse_shared(monitors: Sequence[Monitor]) -> None:
    """Raise where rows are known to have been taken in by more than one of the monitors."""
    shared = Ledger.shared([monitor.ledger for monitor in monitors])
    states = Counter(fingerprint for monitor in monitors for fingerprint in monitor._ancestors)
    if not shared and any(times > 1 for times in states.values()):
        shared = ["a state that one of them saved and another read"]
    if shared:
        named = ", ".join(shared[:5]) + (f" and {len(shared) - 5} more" if len(shared) > 5 else "")
        raise InvalidInput(
            f"monitors that are merged must have watched different rows; several of them have taken in {named}."
        )


def _check_interval(value: Any) -> float:
    try:
        interval = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"false_alarm_interval must be a number of rows, got {value!r}.") from None
    if not 1.0 <= interval < math.inf:
        raise InvalidInput(f"false_alarm_interval must be a finite number of rows, at least 1, got {value!r}.")
    return interval
