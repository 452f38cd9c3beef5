"""What the certified estimators share: separate rows, a promise checked before any work, bands around predictions."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from pacband.candidates.fit_params import FitParams
from pacband.candidates.members import Member, copy_fitted, copy_unfitted, fit_members, is_refittable
from pacband.certificate.portable import refuse_existing
from pacband.certification.reused_rows import read_training
from pacband.certification.terms import Terms
from pacband.core.arrays import Indices
from pacband.core.column_kinds import refuse_other_kinds
from pacband.core.row_hashes import Fingerprints
from pacband.core.row_tables import take_parameters
from pacband.draws import Draws, Rows
from pacband.estimators.deployed import Deployed
from pacband.estimators.dividing import Dividing
from pacband.estimators.division import Calibration
from pacband.estimators.drawing import (
    read_draws,
    refuse_other_draws,
    refuse_seen_units,
    split_off_units,
    unit_fingerprints,
    without_column,
)
from pacband.estimators.identity import identify_model
from pacband.estimators.restoring import all_or_nothing
from pacband.estimators.routing import route_parameters, router_of
from pacband.estimators.saving import save_model
from pacband.estimators.seen_rows import fingerprints, refuse_copied_rows, refuse_seen_rows, warn_of_training_rows
from pacband.estimators.splitting import count_rows, divide_rows
from pacband.estimators.validation_rows import join_validation_rows

__all__ = ["Certified"]


class Certified(Deployed, Dividing):
    """An estimator that fits members (T, σ̂) on some rows, and is certified on others.

    What `fit` does, in order:

    1. `_declare_members`: the pairs (T, σ̂) that the user asks for;
    2. `_make_terms`: the options of the promise, checked once;
    3. `split_indices`: which rows fit, which rows calibrate. No unit is on both sides;
    4. `_count_draws`: are there enough draws for every share of δ, in every group? Then nothing is fitted in vain;
    5. `refuse_seen_rows`: no calibration row may be a training row;
    6. `_fit_members`; 7. `_certify`; 8. `set_fitted`: from here on, this certificate belongs to these members.

    If one of them raises, the estimator is as it was before.

    Subclasses define their members, how δ is shared among them, and how they are certified.

    Attributes
    ----------
    members_ : dict of str to Member
        The fitted pairs (T, σ̂), by name.
    grouping_ : str, int, function or None
        How the group of a row is read from X.
    training_rows_ : array or None
        64-bit fingerprints of the training rows, and of validation rows such as ``eval_set``; None if `fit` had nothing
        to fit.
    training_units_ : array or None
        64-bit fingerprints of the units that have training rows; None if draws are no units.
    column_kinds_ : dict of str to {"number", "category"}
        What each column of X contains. `fit` chooses it.
    """

    # What a model file calls this kind of estimator.
    file_kind: ClassVar[str]

    members_: dict[str, Member]
    training_rows_: Fingerprints | None
    training_units_: Fingerprints | None

    @abstractmethod
    def _certify(self, terms: Terms, members: dict[str, Member], rows: Calibration) -> Any:
        """Return the certificate of fitted members."""

    @abstractmethod
    def set_fitted(self, members: dict[str, Member], certificate: Any) -> None:
        """Set the fitted attributes: from here on, this certificate belongs to these members."""

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        calibration: tuple[Any, ...] | None = None,
        draws: Draws | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit predictor and scale on one part of the rows, and calibrate on the other.

        Parameters
        ----------
        X, y : array-like, dataframe
            The rows. If nothing has to be fitted (functions, frozen estimators), all of them calibrate. Estimators that
            are not fitted here are copied, as in `calibrate`.
        calibration : (X_cal, y_cal) or (X_cal, y_cal, draws), optional
            Fit on all of X, y and calibrate on these rows instead. They must be other rows, and rows of other units.
        draws : Units, Spaced or Weighted, optional
            What one independent draw is, if it is not a row, with a label or weight for every row of X; see
            `pacband.draws`. No unit is on both sides of the split. The rows of a series must be in the order of time:
            the earliest fit, the latest calibrate, and a gap lies between.
        **fit_params
            What predictor and scale get at their fit, such as ``sample_weight``: one value for every row of X, of which
            the training rows get theirs. With metadata routing, the requests of the estimators decide; otherwise every
            predictor must accept it, and the scales that accept it get it, too. Scales of pacband cross-fit the
            predictor with it. It never reaches the calibration: every calibration row is one draw. Weights of
            calibration rows are `pacband.draws.Weighted`. Validation rows, such as ``eval_set`` for early stopping,
            must be other rows than those that calibrate: pass these as `calibration`, and keep the three parts
            separate.

        Returns
        -------
        self

        Raises
        ------
        ReusedData
            If more calibration rows are copies of training rows than chance explains, or if a unit has both. If
            validation rows among `fit_params` are calibration rows.
        """
        declared, terms = copy_unfitted(self._declare_members()), self._make_terms()
        found = read_draws(self.draws, draws, X)
        X = without_column(self.draws, X)
        self._check_rows(X, y, reset=True, draws=found)
        self._refuse_outside(terms, y)
        self._refuse_nonfinite(X, y)
        n_rows = count_rows(y)
        parameters = route_parameters(self, declared, fit_params, n_rows)
        table = X, y
        fit: Indices | None = np.arange(n_rows)
        if calibration is None:
            fit, chosen = self._split(X, y, declared, replace(terms, draws=found))
            X, X_cal, y, y_cal = divide_rows(X, y, fit, chosen)
            if X is not None:
                # A calibration row must not decide how the models read a column.
                self._choose_kinds(X)
                if self.reads_categories:
                    refuse_other_kinds(X_cal, self.column_kinds_)
            fresh = found if chosen is None else found.take(chosen)
        else:
            X_cal, y_cal, fresh = self._separate(calibration, found)
        units = None if fit is None else unit_fingerprints(found, fit)
        refuse_seen_units(units, fresh)
        terms = replace(terms, draws=fresh)
        rows = self._count_draws(X_cal, y_cal, terms)
        training = None if X is None else fingerprints(X, y)
        if calibration is not None:
            refuse_seen_rows(training, X_cal, y_cal, table)
        elif training is not None:
            refuse_copied_rows(training, (X, y), (X_cal, y_cal), table)
        members = declared
        if fit is not None:
            given = take_parameters(fit_params, n_rows, fit)
            training = None if training is None else join_validation_rows(training, given, (X_cal, y_cal))
            clusters = found.clusters(n_rows)
            own = {name: part.take(n_rows, fit) for name, part in parameters.items()}
            clusters = None if clusters is None else clusters[fit]
            members = self._fit_members(declared, X, y, rows, clusters, own, plain_rows=isinstance(found, Rows))
        certificate = self._certify(identify_model(terms, members), members, rows)
        # What was fitted elsewhere may have seen the rows, whichever of them calibrate.
        frozen = {name: members[name] for name, member in declared.items() if not is_refittable(member.predictor)}
        warn_of_training_rows(frozen, *(table if calibration is None else (X_cal, y_cal)))
        self.training_rows_, self.training_units_, self.grouping_ = training, units, self.groups
        self.set_fitted(members, certificate)
        return self

    @all_or_nothing
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
        if known is not None:
            X = self._own_columns(X)
        self._check_rows(X, y, reset=known is None, draws=found)
        members = copy_fitted(self._declare_members()) if known is None else self.members_
        terms = replace(terms, draws=found)
        rows = self._count_draws(X, y, terms)
        refuse_seen_rows(known, X, y)
        if elsewhere is not None:
            refuse_seen_rows(elsewhere[0], X, y, elsewhere[1])
        certificate = self._certify(identify_model(terms, members), members, rows)
        if known is None:
            warn_of_training_rows(members, X, y)
        self.training_rows_, self.training_units_, self.grouping_ = known, units, self.groups
        self.set_fitted(members, certificate)
        return self

    def get_metadata_routing(self) -> Any:
        """Return which metadata `fit` passes to predictors and scales, for scikit-learn."""
        return router_of(self, self._declare_members())

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

    def _fit_members(
        self,
        declared: dict[str, Member],
        X: Any,
        y: Any,
        rows: Calibration,
        clusters: Any,
        parameters: Mapping[str, FitParams],
        *,
        plain_rows: bool,
    ) -> dict[str, Member]:
        """Return the declared members, fitted on training rows. Of `rows`, only the sizes may be looked at.

        Training rows of one cluster stay in one fold. `parameters` are those of the training rows. `plain_rows` is
        false if draws were declared.
        """
        return fit_members(declared, X, y, clusters, parameters)
