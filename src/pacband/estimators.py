"""The scikit-learn face: estimators that fit, calibrate and then predict with a certified band.

No mathematics lives here. `CertifiedRegressor` is `certify` around one pair (T, σ̂); `CertifiedFamily` is
`certify_family` around several. Rows that fit a model and rows that calibrate it are kept apart, and refused
where they can be seen not to be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pacband._arrays import Floats
from pacband._checks import check_choice, check_positive_integer, check_probability
from pacband._members import Member, Progress, fit_members, predict_members, speaks_std
from pacband._rows import Fingerprints, refuse_reused_rows, row_fingerprints
from pacband.certificate import Certificate, FamilyCertificate
from pacband.certification import certify, certify_family, delta_shares
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import plan
from pacband.scores import ScoreRule

__all__ = ["CertifiedFamily", "CertifiedRegressor"]


class _Certified(RegressorMixin, BaseEstimator, ABC):
    """What both certified estimators share: keep rows apart, calibrate, predict with a band."""

    eps: float
    delta: float
    rank: int | None
    rule: str
    side: str
    min_scale: float | None
    nonfinite: str
    gauge: Any
    calibration_size: int | float | None
    random_state: Any
    _members_: dict[str, Member]
    _training_rows: Fingerprints | None

    @abstractmethod
    def _declared(self) -> dict[str, Member]:
        """The members as the user declared them, by name."""

    @abstractmethod
    def _shares(self) -> list[float]:
        """The shares of δ that the certificates of this estimator spend."""

    @abstractmethod
    def _certified(self, members: dict[str, Member], X: Any, y: Any) -> Any:
        """The certificate of fitted members, from calibration rows."""

    @abstractmethod
    def _adopt(self, members: dict[str, Member], certificate: Any) -> None:
        """Set the fitted attributes, all at once: from here on, this certificate speaks of these members."""

    @abstractmethod
    def _chosen(self) -> tuple[Member, Certificate]:
        """The member that predicts, and its certificate."""

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
        """
        declared = self._declared()
        self._check_rows(X, y, reset=True)
        if calibration is None:
            X, X_cal, y, y_cal = self._split(X, y, declared)
        else:
            X_cal, y_cal = _pair(calibration)
            self._check_rows(X_cal, y_cal, reset=False)
            self._settle(_length(y_cal))
        training = row_fingerprints(X, y) if X is not None else None
        if calibration is not None:
            refuse_reused_rows(training, row_fingerprints(X_cal, y_cal))
        members = self._fitted(declared, X, y, _length(y_cal)) if X is not None else declared
        certificate = self._certified(members, X_cal, y_cal)
        self._training_rows = training
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
        self._settle(_length(y))
        refuse_reused_rows(training, row_fingerprints(X, y))
        self._adopt(members, self._certified(members, X, y))
        return self

    def predict(self, X: Any) -> Any:
        """Return the prediction T(x) for every row."""
        check_is_fitted(self, "certificate_")
        self._check_rows(X, reset=False)
        return self._chosen()[0].predict(X)

    def predict_interval(self, X: Any, *, output: str = "array") -> Any:
        """Return the certified band around T(x) for every row.

        Parameters
        ----------
        X : array-like, dataframe
            The rows.
        output : {"array", "frame"}
            An array of shape (n, 2), lower and upper end ((n, k, 2) with k outputs); or a dataframe of the same
            library as X with the columns prediction, lower and upper.
        """
        check_choice("output", output, ("array", "frame"))
        check_is_fitted(self, "certificate_")
        self._check_rows(X, reset=False)
        member, certificate = self._chosen()
        prediction, scale = member.predict_with_scale(X)
        ends = certificate.interval(prediction, scale)
        return ends if output == "array" else _as_frame(X, prediction, ends)

    def _fitted(self, declared: dict[str, Member], X: Any, y: Any, n_calibration: int) -> dict[str, Member]:
        """The declared members, fitted on training rows."""
        return fit_members(declared, X, y)

    def _settle(self, n_samples: int | None = None) -> int:
        """Check every option of the promise before any work, and return the N that is planned for."""
        ScoreRule.create(side=self.side, gauge=self.gauge, min_scale=self.min_scale, nonfinite=self.nonfinite)
        delta = check_probability("delta", self.delta)
        return max(
            plan(self.eps, delta * share, n_samples=n_samples, rank=self.rank, rule=self.rule).n_samples
            for share in self._shares()
        )

    def _split(self, X: Any, y: Any, declared: Mapping[str, Member]) -> tuple[Any, Any, Any, Any]:
        """Return training and calibration rows; no training rows where nothing has to be fitted."""
        n_rows = _length(y)
        if not any(member.trainable for member in declared.values()):
            self._settle(n_rows)
            return None, X, None, y
        if n_rows < 2:
            raise InvalidInput(f"fit needs at least 2 rows, one to fit and one to calibrate, got n_samples={n_rows}.")
        size = self._calibration_rows(n_rows)
        try:
            self._settle(size)
        except NotEnoughSamples as error:
            raise error.within(f"{size} of {n_rows} rows were kept for calibration (see calibration_size)") from None
        X, X_cal, y, y_cal = train_test_split(X, y, test_size=size, random_state=self.random_state)
        return X, X_cal, y, y_cal

    def _calibration_rows(self, n_rows: int) -> int:
        """How many rows calibrate: as planned or a fifth, whichever is more, but at most half of them."""
        size = self.calibration_size
        if size is None:
            return max(1, min(max(self._settle(), n_rows // 5), n_rows // 2))
        if isinstance(size, float) and 0.0 < size < 1.0:
            return min(max(1, round(size * n_rows)), n_rows - 1)
        if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and 1 <= size < n_rows:
            return int(size)
        raise InvalidInput(
            f"calibration_size must be a share in (0, 1) or a number of rows below {n_rows}, got {size!r}."
        )

    def _options(self) -> dict[str, Any]:
        """The options of `certify` that every certified estimator passes on."""
        names = ("eps", "delta", "rank", "rule", "side", "min_scale", "nonfinite", "gauge")
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


class CertifiedRegressor(_Certified):
    """A regressor whose error is certified.

    Parameters
    ----------
    estimator : estimator or function
        The predictor T: anything that follows scikit-learn's conventions, a FrozenEstimator, or a function of X.
    scale : None, "std", estimator or function
        The scale σ̂: none, the predictor's own ``predict(X, return_std=True)``, an estimator with ``fit(X, y)``
        whose ``predict`` gives σ̂(x) > 0 (see `pacband.scale`), or a function of X. One that returns a tuple
        (lower, upper) makes an asymmetric band.
    eps, delta : float in (0, 1)
        The promise: with confidence 1 − δ, at least 1 − ε of future errors stay within the bound.
    rank, rule, side, min_scale, nonfinite, gauge
        As in `certify`.
    n_candidates : int
        If you will choose among several such models by their certificates, how many.
    calibration_size : int, float or None
        How many rows, or what share, `fit` keeps for calibration. None is what `plan` asks for or a fifth of the
        rows, whichever is more, but at most half.
    random_state : int, RandomState or None
        Seeds the split.

    Attributes
    ----------
    certificate_ : Certificate
        The promise.
    estimator_, scale_
        The fitted predictor and scale.

    Notes
    -----
    Put pipelines and searches *inside*: ``CertifiedRegressor(make_pipeline(...))``. A step outside, such as feature
    selection or ``GridSearchCV`` around this estimator, sees the y of rows that then calibrate, and the promise is
    void; unless `calibration` rows are passed to `fit` that nothing outside has seen.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband import CertifiedRegressor, datasets
    >>> X, y = datasets.paper_sample(5000, random_state=0)
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> print(model.certificate_.promise)
    With confidence 99 %, at least 90 % of future errors satisfy |y − T(x)| ≤ 13.0872.
    >>> model.predict_interval(X[:1]).shape
    (1, 2)
    """

    certificate_: Certificate

    def __init__(
        self,
        estimator: Any,
        *,
        scale: Any = None,
        eps: float = 0.05,
        delta: float = 1e-6,
        rank: int | None = None,
        rule: str = "exact",
        side: str = "both",
        n_candidates: int = 1,
        min_scale: float | None = None,
        nonfinite: str = "raise",
        gauge: Any = "max",
        calibration_size: int | float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.eps = eps
        self.delta = delta
        self.rank = rank
        self.rule = rule
        self.side = side
        self.n_candidates = n_candidates
        self.min_scale = min_scale
        self.nonfinite = nonfinite
        self.gauge = gauge
        self.calibration_size = calibration_size
        self.random_state = random_state

    def _declared(self) -> dict[str, Member]:
        return {"estimator": Member(self.estimator, self.scale)}

    def _shares(self) -> list[float]:
        return [1.0 / check_positive_integer("n_candidates", self.n_candidates)]

    def _certified(self, members: dict[str, Member], X: Any, y: Any) -> Certificate:
        columns = members["estimator"].predict_with_scale(X)
        return certify(y, *columns, n_candidates=self.n_candidates, **self._options())

    def _adopt(self, members: dict[str, Member], certificate: Certificate) -> None:
        self._members_, self.certificate_ = members, certificate
        self.estimator_, self.scale_ = members["estimator"].predictor, members["estimator"].scale

    def _chosen(self) -> tuple[Member, Certificate]:
        return self._members_["estimator"], self.certificate_


class CertifiedFamily(_Certified):
    """Candidate regressors certified at once; the sharpest predicts, at no loss of the promise (Theorem 1).

    Parameters
    ----------
    candidates : mapping of str to estimator or (estimator, scale), or "auto"
        Each as in `CertifiedRegressor`. "auto" tries many pairs (T, σ̂) on the training rows, for tables of numbers and
        categories with gaps, and certifies the few sharpest; as one of the candidates, ``{"auto": "auto", "mine":
        model}``, it is joined by yours.
    weights : mapping or sequence of float, optional
        How much of δ each candidate may spend; positive, summing to one. "auto" settles it by itself.
    eps, delta, rank, rule, side, min_scale, nonfinite, gauge
        As in `certify`.
    calibration_size, random_state
        As in `CertifiedRegressor`.
    progress : function of (done, total), optional
        Called as calibration goes on (and with "auto", before, as the search does), for a progress bar.
    n_jobs : int or None
        With "auto": threads, as in joblib; -1 is every core.
    time_budget : float
        With "auto": the seconds that the search may take; what would take longer is left out.

    Attributes
    ----------
    auto_ : AutoFamily
        With "auto": what was tried, how sharp each was, and what became of it; ``print`` shows it as a table.
    certificate_ : FamilyCertificate
        The promise of every candidate.
    best_name_ : str
        The sharpest candidate, which predicts.
    estimators_ : dict
        The fitted candidates, by name.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from pacband import CertifiedFamily, datasets
    >>> X, y = datasets.paper_sample(5000, random_state=0)
    >>> family = CertifiedFamily(
    ...     {"linear": LinearRegression(), "neighbours": KNeighborsRegressor(50)}, eps=0.1, delta=0.01, random_state=0
    ... ).fit(X, y)
    >>> family.best_name_
    'neighbours'
    """

    certificate_: FamilyCertificate

    def __init__(
        self,
        candidates: Mapping[str, Any] | str,
        *,
        eps: float = 0.05,
        delta: float = 1e-6,
        weights: Any = None,
        rank: int | None = None,
        rule: str = "exact",
        side: str = "both",
        min_scale: float | None = None,
        nonfinite: str = "raise",
        gauge: Any = "max",
        calibration_size: int | float | None = None,
        random_state: Any = None,
        progress: Progress | None = None,
        n_jobs: int | None = -1,
        time_budget: float = 300.0,
    ) -> None:
        self.candidates = candidates
        self.eps = eps
        self.delta = delta
        self.weights = weights
        self.rank = rank
        self.rule = rule
        self.side = side
        self.min_scale = min_scale
        self.nonfinite = nonfinite
        self.gauge = gauge
        self.calibration_size = calibration_size
        self.random_state = random_state
        self.progress = progress
        self.n_jobs = n_jobs
        self.time_budget = time_budget

    @classmethod
    def from_grid(
        cls,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        scale: Any = "auto",
        **options: Any,
    ) -> CertifiedFamily:
        """Return the family of one estimator over a grid of its parameters, as in `GridSearchCV`.

        Parameters
        ----------
        estimator : estimator
            Cloned for every point of the grid.
        param_grid : mapping of str to sequence, or a list of them
            The values to try for each parameter; all combinations become candidates, named "alpha=0.1, decay=1".
        scale : "auto", None, "std", estimator or function
            The scale of every candidate. "auto" is "std" where the estimator gives one, else None.
        **options
            As in `CertifiedFamily`.

        Examples
        --------
        >>> from sklearn.neighbors import KNeighborsRegressor
        >>> family = CertifiedFamily.from_grid(KNeighborsRegressor(), {"n_neighbors": (5, 50)})
        >>> list(family.candidates)
        ['n_neighbors=5', 'n_neighbors=50']
        """
        if isinstance(scale, str) and scale == "auto":
            scale = "std" if speaks_std(estimator) else None
        candidates: dict[str, Any] = {}
        for point in ParameterGrid(param_grid):
            name = ", ".join(f"{parameter}={value}" for parameter, value in point.items())
            if name in candidates:
                # Long values, such as matrices, may be shortened to the same words.
                name = f"{name} #{len(candidates) + 1}"
            candidates[name] = (clone(estimator).set_params(**point), scale)
        return cls(candidates, **options)

    def _declared(self) -> dict[str, Member]:
        candidates = {"auto": "auto"} if _is_auto(self.candidates) else self.candidates
        if not isinstance(candidates, Mapping) or not candidates:
            raise InvalidInput(
                "candidates must be a non-empty mapping of names to estimators or (estimator, scale), or 'auto', "
                f"got {self.candidates!r}."
            )
        if self._automatic and self.weights is not None:
            raise InvalidInput(f"weights must be None with 'auto', which settles them by itself, got {self.weights!r}.")
        return {name: _member(candidate) for name, candidate in candidates.items()}

    @property
    def _automatic(self) -> bool:
        """Whether the automatic family is among the candidates."""
        parts = self.candidates.values() if isinstance(self.candidates, Mapping) else [self.candidates]
        return any(_is_auto(part) for part in parts)

    def _fitted(self, declared: dict[str, Member], X: Any, y: Any, n_calibration: int) -> dict[str, Member]:
        if not self._automatic:
            return super()._fitted(declared, X, y, n_calibration)
        from pacband.auto import Automatic, auto_candidates

        self.auto_ = auto_candidates(
            X,
            y,
            eps=self.eps,
            delta=self.delta,
            side=self.side,
            n_calibration=n_calibration,
            n_jobs=self.n_jobs,
            time_budget=self.time_budget,
            random_state=self.random_state,
            progress=self.progress,
            extra={name: member for name, member in declared.items() if not isinstance(member.predictor, Automatic)},
        )
        return dict(self.auto_.members)

    def _shares(self) -> list[float]:
        names = list(self._declared())
        if self._automatic:
            # How many enter is settled by how many rows there are: one at least.
            return [1.0]
        return [share or 1.0 / len(names) for share in delta_shares(self.weights, names).values()]

    def _certified(self, members: dict[str, Member], X: Any, y: Any) -> FamilyCertificate:
        weights = self.weights
        if self._automatic:
            from pacband.auto import entrants

            weights = entrants(list(members), _length(y), self.eps, self.delta, rank=self.rank, rule=self.rule)
            members = {name: members[name] for name in weights}
        columns = predict_members(members, X, self.progress)
        return certify_family(y, columns, weights=weights, **self._options())

    def _adopt(self, members: dict[str, Member], certificate: FamilyCertificate) -> None:
        self._members_, self.certificate_ = members, certificate
        self.best_name_ = certificate.best
        self.estimators_ = {name: member.predictor for name, member in members.items()}

    def _chosen(self) -> tuple[Member, Certificate]:
        return self._members_[self.best_name_], self.certificate_.certificate


def _is_auto(candidate: Any) -> bool:
    return isinstance(candidate, str) and candidate == "auto"


def _member(candidate: Any) -> Member:
    if _is_auto(candidate):
        # Only here, for it loads much that other families do without.
        from pacband.auto import Automatic

        return Member(Automatic())
    return Member(*candidate) if isinstance(candidate, tuple) else Member(candidate)


def _pair(calibration: Any) -> tuple[Any, Any]:
    if not isinstance(calibration, (tuple, list)) or len(calibration) != 2:
        raise InvalidInput(f"calibration must be a pair (X_cal, y_cal), got {type(calibration).__name__}.")
    return calibration[0], calibration[1]


def _length(y: Any) -> int:
    return len(y if hasattr(y, "__len__") else np.asarray(y))


def _as_frame(X: Any, prediction: Any, ends: Floats) -> Any:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"output='frame' needs a dataframe X, got {type(X).__name__}.")
    prediction = np.asarray(prediction)
    outputs = [""] if prediction.ndim == 1 else [f"_{k}" for k in range(prediction.shape[1])]
    tables = np.dstack([prediction.reshape(len(ends), -1), ends.reshape(len(ends), -1, 2)])
    columns = {
        f"{name}{output}": np.ascontiguousarray(tables[:, k, part])
        for k, output in enumerate(outputs)
        for part, name in enumerate(("prediction", "lower", "upper"))
    }
    # Put beside X before X is dropped, the columns take over its index.
    series = [nw.new_series(name, values, backend=frame.implementation) for name, values in columns.items()]
    return frame.with_columns(*series).select(*columns).to_native()
