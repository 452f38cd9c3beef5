"""What the certified estimators share: rows kept apart, a promise settled before any work, bands around predictions."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pacband.candidates.members import Member, fit_members
from pacband.certificate import Certificate, GroupCertificate
from pacband.certification.reused_rows import refuse_copies, refuse_reused_rows
from pacband.core.checks import check_choice, check_probability
from pacband.core.column_kinds import column_kinds, is_frame
from pacband.core.labels import Label
from pacband.core.row_hashes import Fingerprints, row_fingerprints
from pacband.core.row_repeats import chance_of_repeats
from pacband.estimators.columns import as_columns
from pacband.estimators.grouping import Grouping, read_labels, rows_by_group
from pacband.estimators.splitting import calibration_rows, draw_rows, take_rows
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import plan
from pacband.scores import ScoreRule

__all__ = ["Calibration", "Certified"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The rows that calibrate, the group of each, and the number of rows of each group."""

    X: Any
    y: Any
    labels: npt.NDArray[Any] | None
    sizes: tuple[int, ...]


class Certified(RegressorMixin, BaseEstimator, ABC):
    """An estimator that fits members (T, σ̂) on some rows, and is certified on others."""

    eps: float
    delta: float
    rank: int | None
    rule: str
    side: str
    min_scale: float | None
    nonfinite: str
    gauge: Any
    groups: Grouping
    calibration_size: int | float | None
    random_state: Any
    _members_: dict[str, Member]
    _grouping_: Grouping
    _training_rows: Fingerprints | None
    # What each column of X holds, "number" or "category", by its name; chosen where the model is fitted.
    _columns_: dict[str, str]

    @property
    def _reads_categories(self) -> bool:
        """Whether every member reads tables by the kinds of their columns, rather than as they are."""
        return False

    @abstractmethod
    def _declared(self) -> dict[str, Member]:
        """The members as the user declared them, by name."""

    @abstractmethod
    def _shares(self) -> list[float]:
        """The shares of δ that the certificates of this estimator spend."""

    @abstractmethod
    def _certified(self, members: dict[str, Member], rows: Calibration) -> Any:
        """The certificate of fitted members."""

    @abstractmethod
    def _adopt(self, members: dict[str, Member], certificate: Any) -> None:
        """Set the fitted attributes, all at once: from here on, this certificate speaks of these members."""

    @abstractmethod
    def _chosen(self, name: str | None) -> tuple[Member, Certificate | GroupCertificate]:
        """The member of this name, or the one that predicts by default, and its certificate."""

    def fit(self, X: Any, y: Any, *, calibration: tuple[Any, Any] | None = None) -> Self:
        """Fit predictor and scale on one part of the rows, and calibrate on the other.

        Parameters
        ----------
        X, y : array-like, dataframe
            The rows. Where nothing has to be fitted (functions, frozen estimators) all of them calibrate.
        calibration : (X_cal, y_cal), optional
            Fit on all of X, y and calibrate on these rows instead; they must be others.

        Returns
        -------
        self

        Raises
        ------
        ReusedData
            If calibration rows are copies of training rows, more of them than agree by chance.
        """
        declared = self._declared()
        self._check_rows(X, y, reset=True)
        table = X, y
        if calibration is None:
            X, X_cal, y, y_cal = self._split(X, y, declared)
        else:
            X_cal, y_cal = _pair(calibration)
            self._check_rows(X_cal, y_cal, reset=False)
        rows = self._settled_rows(X_cal, y_cal)
        training = _fingerprints(X, y) if X is not None else None
        self._refuse_seen_rows(training, X_cal, y_cal, table, split=calibration is None)
        members = self._fitted(declared, X, y, rows) if X is not None else declared
        certificate = self._certified(members, rows)
        self._training_rows, self._grouping_ = training, self.groups
        self._adopt(members, certificate)
        return self

    def calibrate(self, X: Any, y: Any) -> Self:
        """Calibrate on rows the model has not seen; predictor and scale are fitted already.

        After `fit`, this renews the certificate of what was fitted from other rows. Otherwise the parts are copied
        as they are now, so that the certificate keeps speaking of them whatever becomes of the originals.
        """
        training = getattr(self, "_training_rows", None)
        self._check_rows(X, y, reset=training is None)
        if training is not None:
            members = self._members_
        else:
            members = {name: member.copied() for name, member in self._declared().items()}
        rows = self._settled_rows(X, y)
        self._refuse_seen_rows(training, X, y)
        certificate = self._certified(members, rows)
        self._grouping_ = self.groups
        self._adopt(members, certificate)
        return self

    def predict(self, X: Any) -> Any:
        """Return the prediction T(x) for every row."""
        return self._predict(X)

    def predict_interval(self, X: Any, *, output: str = "array") -> Any:
        """Return the certified band around T(x) for every row; with groups, by the row's own group.

        Parameters
        ----------
        X : array-like, dataframe
            The rows.
        output : {"array", "frame"}
            An array of shape (n, 2), lower and upper end ((n, k, 2) with k outputs); or a dataframe of the same
            library as X with the columns prediction, lower and upper.
        """
        return self._predict_interval(X, output)

    def save(self, path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()) -> Path:
        """Write the fitted model and its certificate to one file, atomically; `pacband.load` reads it back.

        The file is an archive of the certificate as JSON and the models as data: JSON and arrays, never code. Models of
        pacband and the common ones of scikit-learn are saved as they are. A function, as a predictor, scale or
        grouping, cannot be saved. `progress` is not saved.

        Of the training rows the file holds a fingerprint of 64 bits each, by which `calibrate` still refuses them;
        whoever has a row can tell from it whether the model was trained on it.

        Parameters
        ----------
        path : path
            The file.
        trusted : sequence of str or type
            Types that pacband cannot check when it loads them, such as those of ``lightgbm``, ``xgboost`` and
            ``catboost``, or your own. They are saved if you name them here; the file says so at its top, and whoever
            loads it has to name them again.

        Returns
        -------
        Path
        """
        from pacband.estimators.files import save_model

        return save_model(self, path, trusted=trusted)

    def _predict(self, X: Any, name: str | None = None) -> Any:
        check_is_fitted(self, "certificate_")
        self._check_rows(X, reset=False)
        return self._chosen(name)[0].predict(X)

    def _predict_interval(self, X: Any, output: str, name: str | None = None) -> Any:
        check_choice("output", output, ("array", "frame"))
        check_is_fitted(self, "certificate_")
        self._check_rows(X, reset=False)
        member, certificate = self._chosen(name)
        labels = read_labels(self._grouping_, X)
        if isinstance(certificate, GroupCertificate):
            # A label without a certificate is refused before any work.
            certificate.gamma(labels)
        prediction, scale = member.predict_with_scale(X)
        if isinstance(certificate, GroupCertificate):
            ends = certificate.interval(prediction, labels, scale)
        else:
            ends = certificate.interval(prediction, scale)
        return ends if output == "array" else as_columns(X, prediction, ends)

    def _fitted(self, declared: dict[str, Member], X: Any, y: Any, rows: Calibration) -> dict[str, Member]:
        """The declared members, fitted on training rows; of the others, only the numbers may be looked at."""
        return fit_members(declared, X, y)

    def _refuse_seen_rows(
        self,
        training: Fingerprints | None,
        X: Any,
        y: Any,
        fitted: tuple[Any, Any] | None = None,
        *,
        split: bool = False,
    ) -> None:
        """Raise where calibration rows are training rows, beyond those that agree by chance.

        `fitted` are the rows of a fit that is going on: all rows of the table where they were `split` off it.
        """
        calibration = row_fingerprints(X, y)
        if training is None or calibration is None or not np.isin(calibration, training).any():
            return
        if split and fitted is not None:
            refuse_copies(training, calibration, chance_of_repeats(fitted))
            return
        refuse_reused_rows(training, calibration, (X, y), fitted=fitted)

    def _settle(self, n_samples: int | None = None, n_groups: int = 1) -> int:
        """Check every option of the promise before any work, and return the N that is planned for in each group."""
        ScoreRule.create(side=self.side, gauge=self.gauge, min_scale=self.min_scale, nonfinite=self.nonfinite)
        delta = check_probability("delta", self.delta)
        if self.groups is not None and self.rank is not None:
            raise InvalidInput(f"rank must be None with groups, for each group has its own, got {self.rank!r}.")
        return max(
            plan(
                self.eps, delta * share, n_samples=n_samples, rank=self.rank, n_candidates=n_groups, rule=self.rule
            ).n_samples
            for share in self._shares()
        )

    def _settled_rows(self, X: Any, y: Any) -> Calibration:
        """Return the rows that calibrate, once every group has rows enough."""
        labels = read_labels(self.groups, X)
        parts = rows_by_group(labels, _length(y))
        for label, rows in parts.items():
            try:
                self._settle(len(rows), len(parts))
            except NotEnoughSamples as error:
                raise _within(label, error) from None
        return Calibration(X, y, labels, tuple(map(len, parts.values())))

    def _split(self, X: Any, y: Any, declared: Mapping[str, Member]) -> tuple[Any, Any, Any, Any]:
        """Return training and calibration rows; no training rows where nothing has to be fitted."""
        if not any(member.trainable for member in declared.values()):
            return None, X, None, y
        parts = rows_by_group(read_labels(self.groups, X), _length(y))
        sizes = {label: self._calibration_rows(label, len(rows), len(parts)) for label, rows in parts.items()}
        fit, calibrate = draw_rows(parts, sizes, self.random_state)
        return take_rows(X, fit), take_rows(X, calibrate), take_rows(y, fit), take_rows(y, calibrate)

    def _calibration_rows(self, label: Label | None, n_rows: int, n_groups: int) -> int:
        """Return how many of the rows of a group calibrate, once they are enough."""
        if n_rows < 2:
            where = "" if label is None else f" in group {label!r}"
            raise InvalidInput(
                f"fit needs at least 2 rows, one to fit and one to calibrate, got n_samples={n_rows}{where}."
            )
        planned = self._settle(n_groups=n_groups)
        size = calibration_rows(self.calibration_size, n_rows, planned)
        try:
            self._settle(size, n_groups)
        except NotEnoughSamples as error:
            kept = error.within(f"{size} of {n_rows} rows were kept for calibration (see calibration_size)")
            raise _within(label, kept) from None
        return size

    def _options(self) -> dict[str, Any]:
        """The options of `certify` and `certify_groups` that every certified estimator passes on."""
        names = ("eps", "delta", "rule", "side", "min_scale", "nonfinite", "gauge")
        return {name: getattr(self, name) for name in names}

    def _check_rows(self, X: Any, y: Any = "no_validation", *, reset: bool) -> None:
        """Check what scikit-learn checks of any X and y, and leave their values to the models."""
        flat = getattr(X, "ndim", 2) == 1
        if flat and not any(hasattr(member.predictor, "fit") for member in self._declared().values()):
            # A plain function may take any X it likes, such as a vector.
            return
        if flat and not reset and hasattr(self, "n_features_in_"):
            raise InvalidInput(
                f"X must have shape (n, {self.n_features_in_}), got a vector of {len(X)} values. "
                "Reshape your data: X.reshape(1, -1) is one row, X.reshape(-1, 1) is one feature."
            )
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        if not isinstance(y, str):
            check_consistent_length(X, y)
        if reset:
            self._columns_ = {}
            if self._reads_categories or is_frame(X):
                self._columns_ = column_kinds(X, texts_only=not self._reads_categories)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            models = [member.predictor for member in self._declared().values()]
        except InvalidInput:
            # Tags are asked for before fit, which is the one to complain.
            models = []
        inner = [get_tags(model) for model in models if isinstance(model, BaseEstimator)]
        if inner:
            tags.target_tags.multi_output = all(tag.target_tags.multi_output for tag in inner)
            tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
            tags.input_tags.allow_nan = all(tag.input_tags.allow_nan for tag in inner)
            tags.no_validation = any(tag.no_validation for tag in inner)
        return tags


def _length(y: Any) -> int:
    return len(y if hasattr(y, "__len__") else np.asarray(y))


def _within(label: Label | None, error: NotEnoughSamples) -> NotEnoughSamples:
    return error if label is None else error.within(f"group {label!r}")


def _fingerprints(X: Any, y: Any) -> Fingerprints:
    """The fingerprints of training rows; none, but known to be training rows, where the container is unknown to us."""
    found = row_fingerprints(X, y)
    return np.empty(0, dtype=np.uint64) if found is None else found


def _pair(calibration: Any) -> tuple[Any, Any]:
    if not isinstance(calibration, (tuple, list)) or len(calibration) != 2:
        raise InvalidInput(f"calibration must be a pair (X_cal, y_cal), got {type(calibration).__name__}.")
    return calibration[0], calibration[1]
