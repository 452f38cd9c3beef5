"""`Monitor`: watch the promise of a certificate after deployment."""

from __future__ import annotations

import copy
import math
import os
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from pacband.certificate import AnyCertificate, groups_overlap
from pacband.certificate.draw_words import DrawWords, draw_words
from pacband.certification.fitted import FittedModel, PredictedRows, certificate_of, raw_rows
from pacband.core.arrays import check_same_rows
from pacband.core.checks import check_positive, check_probability
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label
from pacband.core.wording import card, figure, percent
from pacband.draws import Draws
from pacband.draws.kinds import SpacedDraws, UnitDraws
from pacband.exceptions import CertificateError, InvalidInput
from pacband.judging.judge import Judge
from pacband.monitoring.counting import Counted, Counting, EveryRow, SpacedRows
from pacband.monitoring.ledger import Ledger
from pacband.monitoring.merging import merge_monitors
from pacband.monitoring.sequence import confidence_sequence
from pacband.monitoring.training import Training
from pacband.monitoring.unit_counting import WholeUnits
from pacband.monitoring.watch import Watch
from pacband.monitoring.watches import Watches
from pacband.scores.clip import left_range_words

__all__ = ["Batch", "Monitor"]

# The false alarm interval is at least this number divided by ε: a detector must not fire at the first few violations.
_FEWEST_VIOLATIONS = 10.0
# For a smaller alpha, 1/alpha or its share for a group is not a float.
_SMALLEST_ALPHA = 1e-300
# A warning repeats at most this many characters of a batch id.
_LONGEST_SHOWN = 80


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What `Monitor.update` counted: rows with a label, violations among them, and rows without a label.

    If the certificate is about other draws than rows, `rows` counts these draws: the units that are complete now.
    `state` is the state after the batch. If `repeated` is true, the batch id was known, and nothing was counted.
    """

    rows: int
    violations: int
    unlabelled: int
    repeated: bool
    state: str


class Monitor:
    """Watch whether violations stay as rare as a certificate promised.

    A row is a violation if its score exceeds γ̄, by the certificate's own rule. If the certificate is about other draws
    than rows, its draws are counted (see the notes), and "row" means a draw everywhere below. Two instruments read the
    stream:

    - an e-process against P(violation) ≤ ε. If it reaches 1/α, the state becomes
      "revoked" for good. While the promise holds, this ever happens with probability at most α.
    - an e-detector for a rate that rises late. If it fires, the state becomes
      "warning". `acknowledge` ends the warning and resets the detector. While the promise holds, the mean number of
      rows from a reset to a false warning is at least `false_alarm_interval`.

    Both are valid however often one looks, and the result does not depend on how the stream is cut into batches. Memory
    does not grow. (The promise itself fails with probability δ over calibrations; then a revocation is correct.)
    Threads may share a monitor: a lock lets one call at a time use it.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate, GroupCertificate or fitted model
        With a `CertifiedRegressor` or `CertifiedFamily`, pass raw rows to `update`: the model predicts them. Of a
        family, the best candidate is watched. Every group has a watch of its own, at α/G (a union bound: any group
        is ever revoked falsely with probability at most α). The false alarm interval holds over the rows of all groups.
    alpha : float in (0, 1)
        An upper bound for the probability that the certificate is ever revoked falsely.
    false_alarm_interval : float
        A lower bound for the mean number of rows to a false warning. A value below 10/ε is replaced by 10/ε.

    Notes
    -----
    *Labels that come late or out of order.* Pass a row when its label is known, in any order. The guarantee needs that
    the next label is a violation with probability at most ε, whatever came before. Labels that come sooner, or at all,
    *because* the prediction was wrong break this condition. Labels that are late for other reasons do not.

    *Labels that never come.* A row whose y is NaN is counted in `n_unlabelled` and nowhere else, even if its prediction
    is not finite. Pass the row again when its label is known.

    *Units.* Pass the unit of every row as ``draws=Units(labels)``. A unit is counted when it is complete, all its rows
    as one draw. By default the units of a stream follow each other: a unit is complete as soon as a row of another unit
    comes, and more rows of it are then an error (the last 1024 units are known). The last unit is held until `finish`,
    and the state file holds it too. If units arrive in turns, `complete` names those that are complete; all others are
    held. Rows whose labels are not known when their unit is counted are left out of it. For ``within="one"`` and
    ``within="average"``, one row of every unit is counted. It is drawn at random, by the label of the unit and the seed
    of the certificate; for "average" the seed is 0.

    *A series.* Pass all rows in the order of time. Every gap-th row is a draw, across batches and restarts. If mixing
    coefficients β(a) were declared, n draws are independent up to nβ(a): the probability of a false revocation within
    n draws is at most α + nβ(a). A draw whose label is not known is left out.

    *Weights.* Every fresh row is a draw of the future distribution, so that fresh rows need no weights.

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

    Of units, each is counted when the next one begins, or at the end:

    >>> units = pacband.draws.Units(np.repeat(np.arange(400), 5), name="machine")
    >>> cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.1, delta=1e-3, draws=units)
    >>> monitor = pacband.Monitor(cert)
    >>> monitor.update([0.5, 0.1, 9.0], [0.0, 0.0, 0.0], draws=pacband.draws.Units([1001, 1001, 1002])).rows
    1
    >>> monitor.open_units, monitor.finish().violations
    ((1002,), 1)

    Of a model, raw rows:

    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = pacband.datasets.paper_sample(4000, random_state=0)
    >>> model = pacband.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> pacband.Monitor(model).update(*pacband.datasets.paper_sample(500, random_state=1)).state
    'ok'
    """

    def __init__(
        self,
        certificate: AnyCertificate | FittedModel,
        *,
        alpha: float = 0.01,
        false_alarm_interval: float = 1e5,
    ) -> None:
        self.model = certificate if isinstance(certificate, FittedModel) else None
        self.certificate = watched = certificate_of(certificate)
        self.training = None if self.model is None else Training(self.model)
        self._judge = Judge(watched)
        if groups_overlap(watched):
            raise InvalidInput(
                f"a monitor counts every row once, and the groups of this certificate overlap: watch each of its "
                f"{len(watched.groups)} groups by a monitor of its own, at alpha/{len(watched.groups)}: "
                "Monitor(certificate.groups[name])."
            )
        self.counting = _counting_of(self._judge)
        # A certificate never changes, so its digest is computed once.
        self._digest: str | None = None
        self.alpha = check_probability("alpha", alpha)
        if self.alpha < _SMALLEST_ALPHA:
            raise InvalidInput(f"alpha must be at least {_SMALLEST_ALPHA:g}, got {alpha!r}.")
        interval = check_positive("false_alarm_interval", false_alarm_interval)
        if interval < 1.0:
            raise InvalidInput(f"false_alarm_interval must be at least 1 row, got {false_alarm_interval!r}.")
        self.false_alarm_interval = max(interval, _FEWEST_VIOLATIONS / watched.eps)
        self.ledger = Ledger()
        # Rows whose y left the range that the certificate declares by `clip`. Each is a violation.
        self.n_out_of_range = 0
        # The fingerprint of the state that this monitor last read or wrote, for every path; see StateFile.
        self.saved: dict[str, str] = {}
        # Held while a call uses the monitor. It is reentrant, because such a call may make others.
        self.lock = threading.RLock()
        self.watches = Watches(self._judge.parts, watched.eps, self.alpha, self.false_alarm_interval, self.draw_words)

    def __getstate__(self) -> dict[str, Any]:
        # What other threads may change while it is pickled is copied; what never changes is not.
        kept = {id(part): part for part in (self.model, self.certificate, self._judge)}
        with self.lock:
            return copy.deepcopy({name: value for name, value in self.__dict__.items() if name != "lock"}, kept)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock = threading.RLock()

    def update(
        self,
        y: Any,
        y_pred: Any = None,
        scale: Any = None,
        *,
        groups: Any = None,
        draws: Draws | None = None,
        complete: Any = None,
        batch_id: str | int | None = None,
    ) -> Batch:
        """Count one row or many. If an error is raised, nothing is counted.

        Parameters
        ----------
        y, y_pred, scale
            As in `certify`; raw rows, ``update(X, y)``, if the monitor has a model. A NaN in y is a label that is not
            known yet. A single row may be given as numbers. For a certificate of own scores, y holds the scores, and
            nothing else is given. A NaN is then a score that is not known yet; if the certificate counts such scores as
            infinite, it is a violation.
        groups : array-like, label
            The group of every row, if the certificate has groups.
        draws : Units, optional
            The unit of every row, if the certificate makes a promise about units. Other draws are refused, except
            those of the certificate's own series.
        complete : array-like of labels, optional
            The units that are complete with these rows; all other units are held. For whole units, pass the labels
            themselves. Without it, a unit is complete when a row of another unit follows.
        batch_id : str or int, optional
            A name for these rows. A batch with a known name (of the last 1024) is skipped with a warning. If several
            threads pass the same batch, it is counted once.

        Returns
        -------
        Batch
            What was counted, and the state now.

        Warns
        -----
        PromiseWarning
            Once, if a model was fitted on some of the rows or units. They are counted all the same.
        """
        with self.lock:
            if batch_id is not None and str(batch_id) in self.ledger:
                name = repr(str(batch_id)[:_LONGEST_SHOWN])
                warnings.warn(f"batch {name} was already counted: it is skipped.", UserWarning, stacklevel=2)
                return Batch(rows=0, violations=0, unlabelled=0, repeated=True, state=self.state)
            given: PredictedRows | None = None
            if self.model is not None:
                X, target = raw_rows("update(X, y)", self.model, y, y_pred, scale=scale)
                given = self.model.predict_rows(X, target, groups=groups, draws=draws)
                y, y_pred, scale, groups, draws = given.y, given.y_pred, given.scale, given.groups, given.draws
            if groups is not None and not self._judge.grouped:
                raise InvalidInput("groups were given, but the certificate has none.")
            if isinstance(draws, Draws):
                check_same_rows(y=y, draws=draws.row_values)
            judged = self._judge.judge_rows(y, y_pred, scale, groups)
            found = 0 if self.training is None or given is None else self.training.find(given)
            counted = self.counting.count(judged, draws, complete)
            if self.training is not None and given is not None:
                self.training.add(found, given)
            if batch_id is not None:
                self.ledger.note_batch(str(batch_id))
            self.n_out_of_range += judged.n_outside
            return self._add(counted)

    def finish(self) -> Batch:
        """Count the units that are held: they are complete."""
        with self.lock:
            return self._add(self.counting.finish())

    def _add(self, counted: Counted) -> Batch:
        """Count draws, and return what was counted."""
        for label, (violated, without) in counted.items():
            self.watches.update(label, violated, without)
        return Batch(
            rows=sum(len(violated) for violated, _ in counted.values()),
            violations=sum(int(np.count_nonzero(violated)) for violated, _ in counted.values()),
            unlabelled=sum(without for _, without in counted.values()),
            repeated=False,
            state=self.state,
        )

    @property
    def open_units(self) -> tuple[Label, ...]:
        """The units that are held, because they are not complete yet."""
        return self.counting.open_units

    @property
    def state(self) -> str:
        """Return "ok", "warning" or "revoked". With groups, it is the worst state of all groups."""
        return self.watches.state

    @property
    def reason(self) -> str:
        """What explains the state; and in how many rows y left its declared range, if it did."""
        with self.lock:
            return " ".join(filter(None, (self.watches.reason, left_range_words(self.n_out_of_range))))

    @property
    def scale_kind(self) -> str:
        """The kind of scale that `update` needs: "none", "symmetric" or "asymmetric"."""
        return self._judge.basis.scale_kind

    @property
    def draw_words(self) -> DrawWords:
        """What one draw of the certificate is called, and several."""
        return draw_words(self._judge.basis)

    @property
    def groups(self) -> FrozenMap[Label, Watch]:
        """The watch of each group; empty if the certificate has no groups."""
        return FrozenMap({label: watch for label, watch in self.watches.items() if label is not None})

    @property
    def n_rows(self) -> int:
        """Rows with a label."""
        return self.watches.n_rows

    @property
    def n_violations(self) -> int:
        """Rows beyond the bound."""
        return self.watches.n_violations

    @property
    def n_unlabelled(self) -> int:
        """Rows without a label."""
        return self.watches.n_unlabelled

    @property
    def n_training_rows(self) -> int:
        """Rows that the model was fitted on, since this monitor was made or loaded. They cannot test the promise."""
        return 0 if self.training is None else self.training.n_rows

    @property
    def n_training_units(self) -> int:
        """Units that the model was fitted on, since this monitor was made or loaded. They cannot test the promise."""
        return 0 if self.training is None else len(self.training.units)

    @property
    def violation_rate(self) -> float:
        """The share of violations among rows with a label; NaN if there are none yet."""
        with self.lock:
            return self.n_violations / self.n_rows if self.n_rows else math.nan

    @property
    def e_value(self) -> float:
        """The evidence E against the promise now; 1/alpha revokes the certificate. With G groups, the largest E/G."""
        with self.lock:
            return self.watches.e_value

    @property
    def detector_value(self) -> float:
        """The value of the change detector now: it warns at `false_alarm_interval`. With groups, the largest value."""
        with self.lock:
            return self.watches.detector_value

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the violation rate. It is correct at all times at once with probability `level`.

        It assumes one rate for all rows since the start. After a change, this rate is between the old and the new one.
        For a series whose mixing was declared, `level` holds within n draws up to nβ(a).
        With groups, it is the overall rate; `groups` has the interval of each group.
        """
        with self.lock:
            n_violations, n_rows = self.n_violations, self.n_rows
        return confidence_sequence(n_violations, n_rows, self.certificate.eps, level)

    def acknowledge(self) -> None:
        """Acknowledge all warnings and reset their change detectors. A revocation stays."""
        with self.lock:
            self.watches.acknowledge()

    def merge(self, *others: Monitor) -> Monitor:
        """Return one monitor over the rows of this monitor and of others with the same certificate.

        Each monitor (a shard) must have watched different rows. Counts add up. E of the summed counts is the evidence
        of the whole stream now, in whatever order its rows came. Merging the same shards again as they grow looks at
        one e-process at some of its moments, so that it crosses 1/α falsely with probability at most α. The moments
        must not be chosen by the counts of single shards. The values of the detectors add up, and the false alarm
        interval holds over the rows of all shards.

        Units that are held stay held; each unit must be in one shard. Monitors of a series cannot be merged.

        If a shard is in the state "warning" or "revoked", so is the result. Each of k shards may be revoked falsely
        with probability α as well. So the probability of any false revocation is at most (k + 1)·α: give each α/(k + 1)
        to keep α. The result has no streams and no traces, and the last 1024 batch ids.

        Rows that two monitors have both counted would count twice. So monitors are refused if they share a batch id, if
        they have read a stream equally far, or if one was saved with rows and loaded as the other. Only the last 1024
        batch ids, 1024 saved states and 64 streams are known. Older ones, and rows without a batch id, cannot be
        recognised: make sure yourself that they are different.
        """
        return merge_monitors([self, *others])

    def note_saved(self, path: str, fingerprint: str) -> None:
        """Remember that the state with this fingerprint was read from, or written to, this path."""
        self.saved[path] = fingerprint
        if self.n_rows or self.n_unlabelled or self.open_units:
            self.ledger.note_state(fingerprint)

    def plot(self, ax: Any = None) -> Any:
        """Draw the violation rate with its confidence sequence over time. Return the matplotlib axes."""
        from pacband.monitoring.figure import draw

        with self.lock:
            return draw(self, ax)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the state to a JSON file, atomically.

        If the file contains another state than this monitor last read or wrote there, another process has changed it.
        Then it is not overwritten, and `CertificateError` is raised.
        """
        from pacband.monitoring.state import StateFile

        with self.lock, StateFile(path) as file:
            file.write(self)
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], certificate: AnyCertificate | FittedModel) -> Self:
        """Read a saved state. It must be undamaged and belong to this certificate, or to that of this model.

        Another process may be writing the file: the state is the last one that it has written.
        """
        from pacband.monitoring.state import StateFile

        return StateFile(path).read(certificate, kind=cls)

    @property
    def certificate_digest(self) -> str:
        """The digest of the certificate."""
        if self._digest is None:
            self._digest = self.certificate.digest
        return self._digest

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON-ready values, as `save` writes them."""
        with self.lock:
            return {
                "certificate": self.certificate_digest,
                "alpha": self.alpha,
                "false_alarm_interval": self.false_alarm_interval,
                "state": self.state,
                "watches": self.watches.to_list(),
                **({"out_of_range": self.n_out_of_range} if self.n_out_of_range else {}),
                **self.counting.to_dict(),
                **self.ledger.to_dict(),
            }

    @classmethod
    def from_dict(cls, content: dict[str, Any], certificate: AnyCertificate | FittedModel) -> Self:
        """Return the monitor of a certificate and of the values from `to_dict`."""
        digest = certificate_of(certificate).digest
        if content["certificate"] != digest:
            raise CertificateError(
                f"this is the state of another certificate: its digest is {content['certificate'][:16]}…, the "
                f"certificate's is {digest[:16]}…."
            )
        monitor = cls(certificate, alpha=content["alpha"], false_alarm_interval=content["false_alarm_interval"])
        monitor.watches.restore(content["watches"])
        monitor.counting.restore(content.get("held"))
        if monitor.state != content["state"]:
            raise CertificateError(f"its state must be {monitor.state!r} by its counts, got {content['state']!r}.")
        monitor.ledger = Ledger.from_dict(content)
        monitor.n_out_of_range = content.get("out_of_range", 0)
        return monitor

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}"

    def __repr__(self) -> str:
        return f"<Monitor {self.state}: {self.n_violations} violations in {self.n_rows} {self.draw_words.tested}>"

    def _repr_html_(self) -> str:
        low, high = self.violation_interval(0.95)
        rows = [
            (f"{self.draw_words.tested} with a label", str(self.n_rows)),
            ("rows without a label", str(self.n_unlabelled)),
            *([("open", f"{len(self.open_units)} {self.draw_words.tested}")] if self.open_units else []),
            *([("training rows", str(self.n_training_rows))] if self.n_training_rows else []),
            *([("training units", str(self.n_training_units))] if self.n_training_units else []),
            ("violations", f"{self.n_violations}; the rate is {percent(low)} to {percent(high)} with 95 % confidence"),
            ("evidence, revoked at", f"{figure(self.e_value)}, {figure(1 / self.alpha)}"),
            ("detector, warns at", f"{figure(self.detector_value)}, {figure(self.false_alarm_interval)}"),
        ]
        return card(f"pacband monitor: {self.state}", self.reason, rows)


def _counting_of(judge: Judge) -> Counting:
    """Return how the rows of a stream make the draws of a certificate."""
    kind = judge.basis.draws
    if isinstance(kind, UnitDraws):
        return WholeUnits(kind, judge)
    return SpacedRows(kind.gap, judge) if isinstance(kind, SpacedDraws) else EveryRow()
