"""What a fitted certified estimator does after deployment: predict raw rows to be judged, and follow itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from pacband.candidates.members import Member
from pacband.certificate import About
from pacband.certification.fitted import FittedModel, PredictedRows, certificate_of
from pacband.certification.succession import Succession
from pacband.certification.terms import Terms, check_draws
from pacband.core.arrays import as_numbers, check_same_rows
from pacband.core.row_hashes import Fingerprints
from pacband.draws import Draws, Units
from pacband.estimators.division import Calibration, Division
from pacband.estimators.drawing import read_draws, refuse_seen_units, seen_units
from pacband.estimators.grouping import read_labels
from pacband.estimators.identity import identify_model
from pacband.estimators.predicting import Predicting
from pacband.estimators.seen_rows import refuse_seen_rows
from pacband.estimators.splitting import count_rows
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import DeltaShare
from pacband.scores import spread_of

__all__ = ["Deployed"]


class Deployed(Predicting, FittedModel):
    """A certified estimator that can be checked, monitored, reported on and recalibrated with raw rows."""

    members_: dict[str, Member]
    training_units_: Fingerprints | None

    @abstractmethod
    def _certify(self, terms: Terms, members: dict[str, Member], rows: Calibration) -> Any:
        """Return the certificate of fitted members."""

    @abstractmethod
    def set_fitted(self, members: dict[str, Member], certificate: Any) -> None:
        """Set the fitted attributes: from here on, this certificate belongs to these members."""

    def predict_scale(self, X: Any) -> Any:
        """Return σ̂(x) for every row, as the band uses it: the band is T(x) ± γ̄·σ̂(x), before it is clipped.

        It is one where the model has no scale, and at least the declared `min_scale`. If the scale is asymmetric, the
        result is a pair of arrays (σ̂⁻, σ̂⁺).
        """
        return self._predict_scale(X)

    def _predict_scale(self, X: Any, name: str | None = None) -> Any:
        X = self._features(X)
        member, certificate = self._select(name)
        prediction, scale = member.predict_with_scale(X)
        rule, shape = certificate.basis.scoring, as_numbers("prediction", prediction).shape
        # An ellipsoid has one size: σ̂ is one number a row.
        shape = shape[:1] if rule.matrices else shape
        parts = spread_of(rule, 1.0 if scale is None else scale, shape).block(slice(None))
        arrays = tuple(np.array(np.broadcast_to(part, shape)) for part in parts)
        return arrays if len(arrays) == 2 else arrays[0]

    def predict_rows(self, X: Any, y: Any, *, groups: Any = None, draws: Draws | None = None) -> PredictedRows:
        """Return raw rows with what the model predicts of them, as `check` and its kin take them.

        Parameters
        ----------
        X, y : array-like, dataframe
            The rows. X has the column of units, if the constructor names one.
        groups : array-like, optional
            Groups to list beside a promise about all rows. A model that promises within groups reads them from X.
        draws : Units, Spaced or Weighted, optional
            The draws of the rows, if they were passed to `fit`.
        """
        certificate_of(self)
        if isinstance(self.draws, Units) or (self.draws is not None and draws is not None):
            draws = read_draws(self.draws, draws, X)
        features = self._features(X)
        check_same_rows(X=features, y=y, draws=check_draws(draws).row_values)
        if self.grouping_ is not None:
            if groups is not None:
                raise InvalidInput("groups cannot be given: the model reads the group of every row from X.")
            groups = read_labels(self.grouping_, features)
        prediction, scale = self._select(None)[0].predict_with_scale(features)
        seen = () if draws is None else tuple(seen_units(self.training_units_, draws))
        return PredictedRows(features, y, prediction, scale, groups, draws, seen)

    def count_seen_units(self, draws: Draws | None) -> int:
        """Return how many units of these draws the model was fitted on."""
        return 0 if draws is None else len(seen_units(self.training_units_, draws))

    def recalibrate(
        self,
        X: Any,
        y: Any,
        *,
        rule: str = "exact",
        draws: Draws | None = None,
        about: About | Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a copy of this model with the next certificate of its chain, made from fresh rows.

        The models stay as they are; this estimator and its certificate do too. The δ of the k-th certificate is that of
        `pacband.recalibrate`, and all certificates of the chain hold together. A family certifies its candidates again,
        and the sharpest on the fresh rows predicts.

        Parameters
        ----------
        X, y : array-like, dataframe
            Fresh rows. They must be drawn after the decision to recalibrate: rows that raised an alarm were selected by
            it.
        rule : {"exact", "paper", "maximum"}
            See `plan`.
        draws : Units, Spaced or Weighted, optional
            The draws of the rows, as in `calibrate`.
        about : About or mapping, optional
            Who issues the successor, and what it is about; by default as its predecessor states it.

        Returns
        -------
        CertifiedRegressor or CertifiedFamily

        Raises
        ------
        NotEnoughSamples
            If the rows are too few for ε at the δ of this place in the chain.
        ReusedData
            If the rows are exactly those that the present certificate was made from, if more of them are training
            rows than chance explains, or if a unit has training rows.

        Examples
        --------
        >>> from sklearn.linear_model import LinearRegression
        >>> from pacband import CertifiedRegressor, datasets
        >>> X, y = datasets.paper_sample(4000, random_state=0)
        >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
        >>> fresh = datasets.paper_sample(1000, random_state=1)
        >>> successor = model.recalibrate(*fresh)
        >>> successor.certificate_.generation, successor.certificate_.delta
        (2, 0.005)
        >>> successor.certificate_.predecessor == model.certificate_.digest
        True
        """
        certificate = certificate_of(self)
        given = draws if self.draws is None else read_draws(self.draws, draws, X)
        # The model stays the same, so its version does too.
        stated = certificate.basis.about if about is None else about
        # A family shares δ among its candidates by itself.
        share = DeltaShare(getattr(self, "n_candidates", 1))
        succession = Succession.after(certificate, rule=rule, draws=given, about=stated, share=share)
        terms = identify_model(succession.terms, self.members_)
        refuse_seen_units(self.training_units_, terms.draws)
        X = self._features(X)
        check_same_rows(X=X, y=y, draws=terms.draws.row_values)
        labels = read_labels(self.grouping_, X)
        try:
            sizes = Division(terms, [terms.share]).count(labels, count_rows(y))
            refuse_seen_rows(self.training_rows_, X, y)
            succession.refuse_same(y, *self._select(None)[0].predict_with_scale(X), labels)
            found = self._certify(terms, self.members_, Calibration(X, y, labels, sizes))
        except NotEnoughSamples as error:
            raise succession.explain(error) from None
        if isinstance(found, dict):
            found = {name: succession.link(one) for name, one in found.items()}
        else:
            found = succession.link(found)
        successor = copy(self)
        successor.set_fitted(self.members_, found)
        return successor
