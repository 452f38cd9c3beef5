"""Cross-fitting: out-of-fold predictions and errors at every row.

Errors on the rows of a fit are too small, and smallest where the model is most flexible: a σ̂ learnt from them is too
small exactly there. In K folds, every row is predicted by a fit to the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from pacband.core.arrays import Floats, name_rows
from pacband.core.checks import check_positive_integer
from pacband.core.row_tables import take_parameters
from pacband.exceptions import InvalidInput

__all__ = ["NO_PARAMETERS", "Folds", "Predictor", "cross_predict", "make_folds", "predictions"]

# A fit without parameters.
NO_PARAMETERS: Mapping[str, Any] = MappingProxyType({})
# The rows to fit on and the rows to predict, of every fold.
Folds: TypeAlias = Sequence[tuple[Any, Any]]


def predictions(model: Any, X: Any) -> Any:
    """Return T(x) of an estimator or a function."""
    return model.predict(X) if hasattr(model, "predict") else model(X)


def make_folds(n_folds: int, n_rows: int, clusters: Any = None, *, random_state: Any) -> Folds:
    """Return the (train, test) rows of folds that are drawn at random, at most one a row.

    Rows of one cluster stay together: a model that has seen some rows of a machine predicts its others too well. If
    there is only one cluster, the folds ignore it.

    Examples
    --------
    >>> folds = make_folds(2, 6, ["a", "a", "b", "b", "b", "b"], random_state=0)
    >>> sorted(test.tolist() for _, test in folds)
    [[0, 1], [2, 3, 4, 5]]
    """
    n_clusters = 0 if clusters is None else len(np.unique(clusters))
    if n_clusters < 2:
        return list(KFold(min(n_folds, n_rows), shuffle=True, random_state=random_state).split(np.empty(n_rows)))
    splitter = GroupKFold(min(n_folds, n_clusters), shuffle=True, random_state=random_state)
    return list(splitter.split(np.empty(n_rows), groups=clusters))


def cross_predict(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    random_state: Any = 0,
    clusters: Any = None,
    parameters: Mapping[str, Any] = NO_PARAMETERS,
) -> Floats:
    """Return the prediction of every row by a clone of the estimator that is fitted to the other folds.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted once for each fold. Its `predict` may return one or more numbers a row.
    X, y : array-like or dataframe, array-like
        The rows, at least two.
    cv : int or splitter
        The number of folds, drawn at random, at most one a row; or a scikit-learn splitter that puts every row into one
        test fold.
    random_state : int, RandomState or None
        Seeds the draw of the folds.
    clusters : array of shape (n,), optional
        Rows with equal labels are in one fold. A splitter in `cv` makes its own folds.
    parameters : mapping of str to value
        What every `fit` gets, such as ``sample_weight``. Values for every row are indexed by the rows of the fit.

    Examples
    --------
    A model that memorises its rows has no errors on them, but has errors on others:

    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 0.0, 1.0])
    >>> y - KNeighborsRegressor(1).fit(X, y).predict(X)
    array([0., 0., 0., 0.])
    >>> y - cross_predict(KNeighborsRegressor(1), X, y, cv=4)
    array([-1.,  1., -1.,  1.])
    """
    n_rows = len(y)
    if n_rows < 2:
        raise InvalidInput(f"cross-fitting needs at least 2 rows, got n_samples={n_rows}.")
    folds = cv
    if not hasattr(cv, "split"):
        n_folds = check_positive_integer("cv", cv)
        if n_folds < 2:
            raise InvalidInput(f"cv must be at least 2 folds, got {cv!r}.")
        folds = make_folds(n_folds, n_rows, clusters, random_state=random_state)
    # An empty mapping, not None: scikit-learn 1.6 routes None nowhere, with an error.
    rows = {"rows": np.arange(n_rows)} if parameters else {}
    model = _Fold(estimator, dict(parameters), n_rows)
    return np.asarray(cross_val_predict(model, X, y, cv=folds, params=rows), dtype=np.float64)


class Predictor:
    """The predictor T whose errors a scale estimates: as the user passed it, as it was fitted, and cross-fitted.

    Scales of one predictor that are fitted on the same rows share this object, and so its cross-fits.

    Parameters
    ----------
    declared : estimator or function
        T as the user passed it.
    fitted : estimator or function, optional
        T fitted on the rows that the scale will be fitted on, if it is fitted already.
    clusters : array of shape (n,), optional
        Rows with equal labels stay in one fold.
    parameters : mapping of str to value
        What `fit` of T gets, for the rows that the scale will be fitted on.
    """

    def __init__(
        self,
        declared: Any,
        fitted: Any = None,
        clusters: Any = None,
        parameters: Mapping[str, Any] = NO_PARAMETERS,
    ) -> None:
        if not callable(getattr(declared, "predict", declared)):
            raise InvalidInput(f"an estimator must have a predict method or be a function, got {declared!r}.")
        self.declared = declared
        self._fitted = fitted
        self._clusters = clusters
        self._parameters = parameters
        self._out_of_fold: dict[Any, Floats] = {}

    @property
    def refittable(self) -> bool:
        """Whether T can be fitted again: not if it is a function or frozen."""
        return hasattr(self.declared, "fit") and not isinstance(self.declared, FrozenEstimator)

    def fitted(self, X: Any, y: Any) -> Any:
        """Return T fitted on all the rows."""
        if self._fitted is None:
            self._fitted = self.declared
            if self.refittable:
                self._fitted = clone(self.declared, safe=False).fit(X, y, **self._parameters)
        return self._fitted

    def predict(self, X: Any, y: Any, *, cv: Any, random_state: Any) -> Floats:
        """Return the out-of-fold T(x) of every row.

        A function or a frozen estimator is not fitted again: the rows must be new to it.
        """
        if not self.refittable:
            return _one_a_row(predictions(self.declared, X), y)
        key = (cv, random_state)
        if key not in self._out_of_fold:
            found = cross_predict(
                self.declared,
                X,
                y,
                cv=cv,
                random_state=random_state,
                clusters=self._clusters,
                parameters=self._parameters,
            )
            self._out_of_fold[key] = _one_a_row(found, y)
        return self._out_of_fold[key]

    def errors(self, X: Any, y: Floats, *, cv: Any, random_state: Any) -> Floats:
        """Return the out-of-fold y − T(x) of every row."""
        return y - self.predict(X, y, cv=cv, random_state=random_state)


class _Fold(BaseEstimator):
    """The estimator of one fold. Scikit-learn clones it, with a copy of an estimator that has no `get_params`.

    Scikit-learn passes the positions of the rows, whether it routes metadata or not. The parameters follow from them.
    """

    # The request that `set_fit_request(rows=True)` would make, which exists only where routing is enabled.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"rows": True}

    def __init__(self, estimator: Any, parameters: dict[str, Any], n_rows: int) -> None:
        self.estimator = estimator
        self.parameters = parameters
        self.n_rows = n_rows

    def fit(self, X: Any, y: Any, rows: Any = None) -> Self:
        parameters = {} if rows is None else take_parameters(self.parameters, self.n_rows, rows)
        self.estimator_ = self.estimator.fit(X, y, **parameters)  # in place: this object is a clone for one fold
        return self

    def predict(self, X: Any) -> Floats:
        return np.asarray(predictions(self.estimator_, X), dtype=np.float64)


def _one_a_row(values: Any, y: Floats) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.shape == (len(y), 1):
        column = column[:, 0]
    if column.shape != y.shape:
        raise InvalidInput(f"the predictor must give one number a row, {y.shape}, got shape {column.shape}.")
    if not np.isfinite(column).all():
        raise InvalidInput(
            f"predictions must be finite for a scale to be learnt: they are not in {name_rows(~np.isfinite(column))}."
        )
    return column
