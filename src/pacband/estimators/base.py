"""What the certified estimators share: separate rows, a promise checked before any work, bands around predictions."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pacband.candidates.members import Member, fit_members
from pacband.certificate import About, Certificate, GroupCertificate
from pacband.certificate.portable import refuse_existing
from pacband.certification.reused_rows import read_training, refuse_copies, refuse_reused_rows
from pacband.certification.terms import Terms
from pacband.checks.frames import drop_columns, id_columns
from pacband.checks.screening import LEVEL
from pacband.checks.training import check_seen
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import as_numbers
from pacband.core.checks import check_choice
from pacband.core.column_kinds import column_kinds, is_frame
from pacband.core.row_hashes import Fingerprints, row_fingerprints
from pacband.core.row_repeats import chance_of_repeats
from pacband.draws import Draws
from pacband.estimators.columns import as_columns
from pacband.estimators.division import Calibration, Division
from pacband.estimators.drawing import (
    read_draws,
    refuse_other_draws,
    refuse_seen_units,
    split_off_units,
    unit_fingerprints,
    without_column,
)
from pacband.estimators.grouping import Grouping, Rows, read_labels
from pacband.estimators.identity import identify_model
from pacband.estimators.saving import save_model
from pacband.estimators.splitting import take_rows
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare

__all__ = ["Certified"]


class Certified(RegressorMixin, BaseEstimator, ABC):
    """An estimator that fits members (T, σ̂) on some rows, and is certified on others.

    What `fit` does, in order:

    1. `_declare_members`: the pairs (T, σ̂) that the user asks for;
    2. `_make_terms`: the options of the promise, checked once;
    3. `split_indices`: which rows fit, which rows calibrate. No unit is on both sides;
    4. `_count_draws`: are there enough draws for every share of δ, in every group? Then nothing is fitted in vain;
    5. `_refuse_seen_rows`: no calibration row may be a training row;
    6. `_fit_members`; 7. `_certify`; 8. `set_fitted`: the attributes, all at once.

    Subclasses define their members, how δ is shared among them, and how they are certified.

    Attributes
    ----------
    members_ : dict of str to Member
        The fitted pairs (T, σ̂), by name.
    grouping_ : str, int, function or None
        How the group of a row is read from X.
    training_rows_ : array or None
        64-bit fingerprints of the training rows; None if `fit` had nothing to fit.
    training_units_ : array or None
        64-bit fingerprints of the units that have training rows; None if draws are no units.
    column_kinds_ : dict of str to {"number", "category"}
        What each column of X contains. `fit` chooses it.
    """

    # What a model file calls this kind of estimator.
    file_kind: ClassVar[str]

    eps: float
    delta: float
    rank: int | None
    rule: str
    side: str
    min_scale: float | None
    nonfinite: str
    gauge: Any
    groups: Grouping
    draws: Draws | None
    about: About | Mapping[str, Any] | None
    calibration_size: int | float | None
    random_state: Any
    members_: dict[str, Member]
    grouping_: Grouping
    training_rows_: Fingerprints | None
    training_units_: Fingerprints | None
    column_kinds_: dict[str, str]

    @property
    def reads_categories(self) -> bool:
        """Whether every member reads tables by the kinds of their columns, rather than as they are."""
        return False

    @abstractmethod
    def _declare_members(self) -> dict[str, Member]:
        """Return the members that the user asks for, by name."""

    @abstractmethod
    def _share_delta(self) -> list[DeltaShare]:
        """Return the shares of δ that the certificates of this estimator need, known before any fit."""

    @abstractmethod
    def _certify(self, terms: Terms, members: dict[str, Member], rows: Calibration) -> Any:
        """Return the certificate of fitted members."""

    @abstractmethod
    def set_fitted(self, members: dict[str, Member], certificate: Any) -> None:
        """Set the fitted attributes: from here on, this certificate belongs to these members."""

    @abstractmethod
    def _select(self, name: str | None) -> tuple[Member, Certificate | GroupCertificate]:
        """Return the member of this name, or the one that predicts by default, and its certificate."""

    def fit(self, X: Any, y: Any, *, calibration: tuple[Any, ...] | None = None, draws: Draws | None = None) -> Self:
        """Fit predictor and scale on one part of the rows, and calibrate on the other.

        Parameters
        ----------
        X, y : array-like, dataframe
            The rows. If nothing has to be fitted (functions, frozen estimators), all of them calibrate.
        calibration : (X_cal, y_cal) or (X_cal, y_cal, draws), optional
            Fit on all of X, y and calibrate on these rows instead. They must be other rows, and rows of other units.
        draws : Units, Spaced or Weighted, optional
            What one independent draw is, if it is not a row, with a label or weight for every row of X; see
            `pacband.draws`. No unit is on both sides of the split. The rows of a series must be in the order of time:
            the earliest fit, the latest calibrate, and a gap lies between.

        Returns
        -------
        self

        Raises
        ------
        ReusedData
            If more calibration rows are copies of training rows than chance explains, or if a unit has both.
        """
        declared, terms = self._declare_members(), self._make_terms()
        found = read_draws(self.draws, draws, X)
        X = without_column(self.draws, X)
        self._check_rows(X, y, reset=True)
        table = X, y
        fit: Rows | None = np.arange(_length(y))
        if calibration is None:
            fit, chosen = self._split(X, y, declared, replace(terms, draws=found))
            X, X_cal, y, y_cal = _divide(X, y, fit, chosen)
            fresh = found if chosen is None else found.take(chosen)
        else:
            X_cal, y_cal, fresh = self._separate(calibration, found)
        units = None if fit is None else unit_fingerprints(found, fit)
        refuse_seen_units(units, fresh)
        terms = replace(terms, draws=fresh)
        rows = self._count_draws(X_cal, y_cal, terms)
        training = _fingerprints(X, y) if X is not None else None
        self._refuse_seen_rows(training, X_cal, y_cal, table, split=calibration is None)
        if calibration is None and X is not None and (ids := id_columns(table[0])):
            # A copy of a row may have a number of its own.
            parts = [drop_columns(part, ids) for part in (X, X_cal, table[0])]
            self._refuse_seen_rows(_fingerprints(parts[0], y), parts[1], y_cal, (parts[2], table[1]), split=True)
        members = declared
        if fit is not None:
            clusters = found.clusters(_length(table[1]))
            members = self._fit_members(declared, X, y, rows, None if clusters is None else clusters[fit])
        certificate = self._certify(identify_model(terms, members), members, rows)
        self.training_rows_, self.training_units_, self.grouping_ = training, units, self.groups
        self.set_fitted(members, certificate)
        return self

    def calibrate(self, X: Any, y: Any, *, training: Any = None, draws: Draws | None = None) -> Self:
        """Calibrate on rows the model has not seen; predictor and scale are fitted already.

        After `fit`, this renews the certificate of the fitted model from other rows. Otherwise predictor and scale are
        copied, so that the certificate holds for the copies, whatever happens to the originals later.

        Parameters
        ----------
        X, y : array-like, dataframe
            The rows that calibrate.
        training : pair (X, y), or array of fingerprints, optional
            The rows that the model was fitted on elsewhere, or `training_rows_` of a certified estimator. Calibration
            rows that are among them are refused, and units too, if X has the column of units. Without it, pacband sees
            only the rows that its own `fit` has used.
        draws : Units, Spaced or Weighted, optional
            What one independent draw is, as in `fit`. If the model was fitted with draws, they are needed again.

        Raises
        ------
        ReusedData
            If more calibration rows are copies of training rows than chance explains, or if a unit has both.
        """
        terms = self._make_terms()
        training, fitted_units = split_off_units(self.draws, training)
        elsewhere = None if training is None else read_training(training, "(X, y)")
        known, units = getattr(self, "training_rows_", None), getattr(self, "training_units_", None)
        found = read_draws(self.draws, draws, X)
        if hasattr(self, "certificate_"):
            refuse_other_draws(self._select(None)[1].basis.draws, found)
        refuse_seen_units(units, found)
        refuse_seen_units(fitted_units, found)
        X = without_column(self.draws, X)
        self._check_rows(X, y, reset=known is None)
        if known is not None:
            members = self.members_
        else:
            members = {name: member.copied() for name, member in self._declare_members().items()}
        terms = replace(terms, draws=found)
        rows = self._count_draws(X, y, terms)
        self._refuse_seen_rows(known, X, y)
        if elsewhere is not None:
            self._refuse_seen_rows(elsewhere[0], X, y, elsewhere[1])
        certificate = self._certify(identify_model(terms, members), members, rows)
        if known is None:
            _warn_of_training_rows(members, X, y)
        self.training_rows_, self.training_units_, self.grouping_ = known, units, self.groups
        self.set_fitted(members, certificate)
        return self

    def predict(self, X: Any) -> Any:
        """Return the prediction T(x) for every row."""
        return self._predict(X)

    def predict_with_scale(self, X: Any) -> tuple[Any, Any]:
        """Return T(x) and σ̂(x) for every row. σ̂ is None without a scale, and a pair if it is asymmetric."""
        X = self._features(X)
        return self._select(None)[0].predict_with_scale(X)

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

    def split_rows(self, X: Any, y: Any, *, draws: Draws | None = None) -> tuple[Any, Any, Any, Any]:
        """Return (X_fit, X_cal, y_fit, y_cal), the split that `fit` makes of these rows with an integer random_state.

        X_fit and y_fit are None if nothing has to be fitted.
        """
        fit, calibrate = self.split_indices(X, y, draws=draws)
        return _divide(without_column(self.draws, X), y, fit, calibrate)

    def split_indices(self, X: Any, y: Any, *, draws: Draws | None = None) -> tuple[Rows | None, Rows | None]:
        """Return the positions of the rows that fit and of the rows that calibrate, as in `split_rows`.

        If nothing has to be fitted, both are None: all rows calibrate.
        """
        terms = replace(self._make_terms(), draws=read_draws(self.draws, draws, X))
        return self._split(without_column(self.draws, X), y, self._declare_members(), terms)

    def save(self, path: str | os.PathLike[str], *, trusted: Sequence[str | type] = (), overwrite: bool = True) -> Path:
        """Write the fitted model and its certificate to one file, atomically; `pacband.load` reads it back.

        The file is an archive of the certificate as JSON and the models as data: JSON and arrays, never code. Models of
        pacband and the common ones of scikit-learn are saved as they are. A function, as a predictor, scale or
        grouping, cannot be saved. `progress` is not saved.

        The file holds a fingerprint of 64 bits of every training row and unit, by which `calibrate` still refuses them.
        A person who has a row, or the label of a unit, can find out from it whether the model was trained on it.

        Parameters
        ----------
        path : path
            The file.
        trusted : sequence of str or type
            Types that pacband cannot check when it loads them, such as those of ``lightgbm``, ``xgboost`` and
            ``catboost``, or your own. They are saved if you name them here. The file lists them at its top, and loading
            it needs their names again.
        overwrite : bool
            Whether an existing file is replaced, as in `Certificate.save`.

        Returns
        -------
        Path
        """
        if not overwrite:
            refuse_existing(path)
        return save_model(self, path, trusted=trusted)

    def _features(self, X: Any) -> Any:
        """Return the features of rows to predict, or raise unless the estimator is fitted and they are those of fit."""
        check_is_fitted(self, "certificate_")
        X = without_column(self.draws, X)
        self._check_rows(X, reset=False)
        return X

    def _predict(self, X: Any, name: str | None = None) -> Any:
        X = self._features(X)
        return self._select(name)[0].predict(X)

    def _predict_interval(self, X: Any, output: str, name: str | None = None) -> Any:
        check_choice("output", output, ("array", "frame"))
        X = self._features(X)
        member, certificate = self._select(name)
        labels = read_labels(self.grouping_, X)
        if isinstance(certificate, GroupCertificate):
            # A label without a certificate is refused before any work.
            certificate.gamma(labels)
        prediction, scale = member.predict_with_scale(X)
        if isinstance(certificate, GroupCertificate):
            ends = certificate.interval(prediction, labels, scale)
        else:
            ends = certificate.interval(prediction, scale)
        return ends if output == "array" else as_columns(X, prediction, ends)

    def _fit_members(
        self, declared: dict[str, Member], X: Any, y: Any, rows: Calibration, clusters: Any
    ) -> dict[str, Member]:
        """Return the declared members, fitted on training rows. Of `rows`, only the sizes may be looked at.

        Training rows of one cluster stay in one fold.
        """
        return fit_members(declared, X, y, clusters)

    def _refuse_seen_rows(
        self,
        training: Fingerprints | None,
        X: Any,
        y: Any,
        fitted: tuple[Any, Any] | None = None,
        *,
        split: bool = False,
    ) -> None:
        """Raise if calibration rows are training rows, beyond those that agree by chance.

        `fitted` are the rows given to `fit`. With `split`, the calibration rows were taken from them.
        """
        calibration = row_fingerprints(X, y)
        if training is None or calibration is None or not np.isin(calibration, training).any():
            return
        if split and fitted is not None:
            refuse_copies(training, calibration, chance_of_repeats(fitted))
            return
        refuse_reused_rows(training, calibration, (X, y), fitted=fitted)

    def _make_terms(self) -> Terms:
        """Return the options of the promise, or raise."""
        if self.groups is not None and self.rank is not None:
            raise InvalidInput(f"rank must be None with groups, because each group has its own, got {self.rank!r}.")
        names = ("eps", "delta", "rank", "rule", "side", "min_scale", "nonfinite", "gauge", "about")
        # A family shares δ among its candidates by itself.
        return Terms.create(
            **{name: getattr(self, name) for name in names}, n_candidates=getattr(self, "n_candidates", 1)
        )

    def _count_draws(self, X: Any, y: Any, terms: Terms) -> Calibration:
        """Return the rows that calibrate, or raise unless every group has enough draws."""
        labels = read_labels(self.groups, X)
        return Calibration(X, y, labels, Division(terms, self._share_delta()).count(labels, _length(y)))

    def _split(
        self, X: Any, y: Any, declared: Mapping[str, Member], terms: Terms
    ) -> tuple[Rows, Rows] | tuple[None, None]:
        """Return training and calibration rows; None if nothing has to be fitted."""
        if not any(member.trainable for member in declared.values()):
            return None, None
        # One more step of dependence: on the training rows.
        division = Division(terms, self._share_delta())
        return division.split(read_labels(self.groups, X), _length(y), self.calibration_size, self.random_state)

    def _separate(self, calibration: Any, training: Draws) -> tuple[Any, Any, Draws]:
        """Return the calibration rows that were given to `fit`, and their draws, or raise."""
        X, y, given = _calibration_parts(calibration)
        fresh = read_draws(self.draws, given, X)
        if type(fresh.kind) is not type(training.kind):
            raise InvalidInput(
                f"the calibration rows must have the same kind of draws as X: calibration=(X_cal, y_cal, draws), got "
                f"{fresh.kind.kind} and {training.kind.kind}."
            )
        X = without_column(self.draws, X)
        self._check_rows(X, y, reset=False)
        return X, y, fresh

    def _check_rows(self, X: Any, y: Any = "no_validation", *, reset: bool) -> None:
        """Check what scikit-learn checks of any X and y. Their values are left to the models."""
        flat = getattr(X, "ndim", 2) == 1
        if flat and not any(hasattr(member.predictor, "fit") for member in self._declare_members().values()):
            # A plain function may take any X, such as a vector.
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
            self.column_kinds_ = {}
            if self.reads_categories or is_frame(X):
                self.column_kinds_ = column_kinds(X, texts_only=not self.reads_categories)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            models = [member.predictor for member in self._declare_members().values()]
        except InvalidInput:
            # scikit-learn asks for tags before fit; fit raises the error.
            models = []
        inner = [get_tags(model) for model in models if isinstance(model, BaseEstimator)]
        if inner:
            tags.target_tags.multi_output = all(tag.target_tags.multi_output for tag in inner)
            tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
            tags.input_tags.allow_nan = all(tag.input_tags.allow_nan for tag in inner)
            tags.no_validation = any(tag.no_validation for tag in inner)
        return tags


def _warn_of_training_rows(members: Mapping[str, Member], X: Any, y: Any) -> None:
    """Warn if a model that was fitted elsewhere shows signs of having been fitted on these rows."""
    for member in members.values():
        if not hasattr(member.predictor, "fit"):
            continue
        model = member.predictor.estimator if isinstance(member.predictor, FrozenEstimator) else member.predictor
        last = model[-1] if hasattr(model, "named_steps") else model
        finding = check_seen(last, as_numbers("y", y), as_numbers("prediction", member.predict(X)))
        if finding is not None and finding.p_value <= LEVEL / len(members):
            warn_of_findings([finding])
            return


def _length(y: Any) -> int:
    return len(y if hasattr(y, "__len__") else np.asarray(y))


def _fingerprints(X: Any, y: Any) -> Fingerprints:
    """Return the fingerprints of training rows, or an empty array if the container is of an unknown kind."""
    found = row_fingerprints(X, y)
    return np.empty(0, dtype=np.uint64) if found is None else found


def _divide(X: Any, y: Any, fit: Rows | None, calibrate: Rows | None) -> tuple[Any, Any, Any, Any]:
    """Return (X_fit, X_cal, y_fit, y_cal); if nothing has to be fitted, all rows calibrate."""
    if fit is None or calibrate is None:
        return None, X, None, y
    return take_rows(X, fit), take_rows(X, calibrate), take_rows(y, fit), take_rows(y, calibrate)


def _calibration_parts(calibration: Any) -> tuple[Any, Any, Any]:
    if not isinstance(calibration, (tuple, list)) or len(calibration) not in (2, 3):
        raise InvalidInput(f"calibration must be a pair (X_cal, y_cal), got {type(calibration).__name__}.")
    return calibration[0], calibration[1], calibration[2] if len(calibration) == 3 else None
