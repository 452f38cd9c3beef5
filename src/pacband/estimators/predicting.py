"""What a fitted certified estimator does with rows: it checks them, predicts, and puts a band around predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pacband.candidates.members import Member
from pacband.certificate import Certificate, GroupCertificate
from pacband.core.arrays import check_same_rows
from pacband.core.checks import check_choice
from pacband.core.column_kinds import column_kinds, is_frame
from pacband.draws import Draws
from pacband.estimators.columns import as_columns, pick_columns
from pacband.estimators.drawing import without_column
from pacband.estimators.grouping import Grouping, read_labels
from pacband.exceptions import InvalidInput

__all__ = ["Predicting"]


class Predicting(RegressorMixin, BaseEstimator, ABC):
    """Predictions and bands of members (T, σ̂) that are fitted and certified."""

    draws: Draws | None
    grouping_: Grouping
    column_kinds_: dict[str, str]
    # The columns of the targets in the file that the model was fitted on; none if it was fitted in Python.
    target_columns_: tuple[str, ...] = ()

    @property
    def reads_categories(self) -> bool:
        """Whether every member reads tables by the kinds of their columns, rather than as they are."""
        return False

    @abstractmethod
    def _declare_members(self) -> dict[str, Member]:
        """Return the members that the user asks for, by name."""

    @abstractmethod
    def _select(self, name: str | None) -> tuple[Member, Certificate | GroupCertificate]:
        """Return the member of this name, or the one that predicts by default, and its certificate."""

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

    def _features(self, X: Any) -> Any:
        """Return the features of rows to predict, or raise unless the estimator is fitted and they are those of fit."""
        check_is_fitted(self, "certificate_")
        X = self._own_columns(without_column(self.draws, X))
        self._check_rows(X, reset=False)
        if getattr(X, "shape", (1,))[0] == 0 and any(hasattr(part.predictor, "fit") for part in self.members_.values()):
            raise InvalidInput("X must have at least one row, got none: there is nothing to predict.")
        return X

    def _own_columns(self, X: Any) -> Any:
        """Return the columns of a dataframe that the model was fitted on, by name, or raise if one is missing."""
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pick_columns(X, [str(name) for name in names])

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

    def _check_rows(self, X: Any, y: Any = "no_validation", *, reset: bool, draws: Draws | None = None) -> None:
        """Check what scikit-learn checks of any X and y, and that row labels match. Values are left to the models."""
        if not isinstance(y, str):
            check_same_rows(X=X, y=y, draws=None if draws is None else draws.row_values)
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
            self.target_columns_ = ()
            self._choose_kinds(X)

    def _choose_kinds(self, X: Any) -> None:
        """Choose the kind of every column, from the rows on which the models are fitted."""
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
