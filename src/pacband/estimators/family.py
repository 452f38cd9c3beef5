"""Several pairs (T, σ̂), certified at once: Theorem 1 as an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pacband.candidates.fit_params import FitParams
from pacband.candidates.members import Member, predict_members
from pacband.candidates.search_plan import SearchPlan
from pacband.certificate import About, Certificate, FamilyCertificate, GroupCertificate
from pacband.certification.arrays import certify_family_rows
from pacband.certification.terms import Terms
from pacband.core.checks import check_choice
from pacband.core.progress import Progress
from pacband.draws import Draws
from pacband.estimators.base import Certified
from pacband.estimators.declaring import declare_candidates, grid_candidates, is_auto
from pacband.estimators.division import Calibration
from pacband.estimators.group_families import certify_candidates_in_groups
from pacband.estimators.grouping import Grouping
from pacband.exceptions import InvalidInput
from pacband.planning.shares import WHOLE, DeltaShare, weighted_shares

__all__ = ["CertifiedFamily"]


class CertifiedFamily(Certified):
    """Candidate regressors certified at once; the sharpest predicts, at no loss of the promise (Theorem 1).

    Parameters
    ----------
    candidates : mapping of str to estimator or (estimator, scale), or "auto"
        Each as in `CertifiedRegressor`. "auto" tries many pairs (T, σ̂) on the training rows, for tables of numbers and
        categories with gaps, and certifies the few sharpest. ``{"auto": "auto", "mine": model}`` adds your own
        candidates to them. The automatic ones take no parameters of `fit` such as ``sample_weight``; with metadata
        routing, your own ones get what they request.
    weights : mapping or sequence of float, optional
        The part of δ that each candidate may use; positive, summing to one. "auto" chooses its own.
    eps, delta, rank, rule, side, min_scale, nonfinite, gauge, clip
        As in `certify`.
    groups, draws, calibration_size, random_state, about
        As in `CertifiedRegressor`. With groups, each of n_F candidates in each of G groups is certified at δ/(n_F·G).
    progress : function of (done, total), optional
        Called during calibration, and with "auto" during the search before it, for a progress bar.
    n_jobs : int or None
        With "auto": how many cores the search uses, as in joblib; -1 is every core. Programs beside this one then help
        to fit the models, and end with the search.
    time_budget : float
        With "auto": the seconds that the search may take. Candidates that would take longer are left out.
    search_plan : SearchPlan, optional
        With "auto": repeats the search that recorded this plan (`search_plan_`), instead of what `time_budget` allows.

    Attributes
    ----------
    auto_ : AutoFamily
        With "auto": what was tried, how sharp each was, and why it was kept or dropped. ``print`` shows a table.
    search_plan_ : SearchPlan
        With "auto": what the search fitted. A fit with this plan, the same rows and the same `random_state` gives the
        same bits, however busy the machine is.
    certificate_ : FamilyCertificate or GroupCertificate
        The promise of every candidate; with groups, that of the sharpest one.
    certificates_ : mapping of str to Certificate or GroupCertificate
        What each candidate promises; all of them hold together.
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
    >>> family.predict_interval(X[:1], candidate="linear").round(1)
    array([[-0.8, 25.6]])
    """

    file_kind = "family"
    certificate_: FamilyCertificate | GroupCertificate

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
        clip: tuple[float | None, float | None] | None = None,
        groups: Grouping = None,
        draws: Draws | None = None,
        calibration_size: int | float | None = None,
        random_state: Any = None,
        about: About | Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        n_jobs: int | None = -1,
        time_budget: float = 300.0,
        search_plan: SearchPlan | None = None,
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
        self.clip = clip
        self.groups = groups
        self.draws = draws
        self.calibration_size = calibration_size
        self.random_state = random_state
        self.about = about
        self.progress = progress
        self.n_jobs = n_jobs
        self.time_budget = time_budget
        self.search_plan = search_plan

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
        return cls(grid_candidates(estimator, param_grid, scale), **options)

    def predict(self, X: Any, *, candidate: str | None = None) -> Any:
        """Return the prediction T(x) for every row: of the sharpest candidate, or of the one named."""
        return self._predict(X, candidate)

    def predict_interval(self, X: Any, *, candidate: str | None = None, output: str = "array") -> Any:
        """Return the certified band around T(x) for every row; with groups, by the row's own group.

        Parameters
        ----------
        X : array-like, dataframe
            The rows.
        candidate : str, optional
            The candidate whose band is returned, by default the sharpest. All candidates hold together, so any may be
            used.
        output : {"array", "frame"}
            As in `CertifiedRegressor.predict_interval`.
        """
        return self._predict_interval(X, output, candidate)

    def predict_scale(self, X: Any, *, candidate: str | None = None) -> Any:
        """Return σ̂(x) for every row, as in `CertifiedRegressor`: of the sharpest candidate, or of the one named."""
        return self._predict_scale(X, candidate)

    def _declare_members(self) -> dict[str, Member]:
        if self.weights is not None and (self._automatic or self.groups is not None):
            raise InvalidInput(
                f"weights must be None with 'auto', which chooses its own, and with groups, got {self.weights!r}."
            )
        if self.search_plan is not None and not self._automatic:
            raise InvalidInput(
                f"search_plan must be None without 'auto', whose search it repeats, got {self.search_plan!r}."
            )
        return declare_candidates(self.candidates)

    @property
    def _automatic(self) -> bool:
        """Whether the automatic family is among the candidates."""
        return any(map(is_auto, self._declared_parts()))

    @property
    def reads_categories(self) -> bool:
        """Whether every candidate reads tables by the kinds of their columns: the automatic family does."""
        return all(map(is_auto, self._declared_parts()))

    def _declared_parts(self) -> list[Any]:
        return list(self.candidates.values()) if isinstance(self.candidates, Mapping) else [self.candidates]

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
        if not self._automatic:
            return super()._fit_members(declared, X, y, rows, clusters, parameters, plain_rows=plain_rows)
        from pacband.candidates.automatic import Automatic, auto_candidates

        n_groups = len(rows.sizes)
        self.auto_ = auto_candidates(
            X,
            y,
            eps=self.eps,
            # With groups: the promise of a group of average size.
            delta=self.delta / n_groups,
            side=self.side,
            n_calibration=sum(rows.sizes) // n_groups,
            n_jobs=self.n_jobs,
            time_budget=self.time_budget,
            random_state=self.random_state,
            progress=self.progress,
            kinds=self.column_kinds_,
            clusters=clusters,
            plain_rows=plain_rows,
            search_plan=self.search_plan,
            extra={name: member for name, member in declared.items() if not isinstance(member.predictor, Automatic)},
            extra_parameters=parameters,
        )
        self.search_plan_ = self.auto_.search_plan
        return dict(self.auto_.members)

    def _share_delta(self) -> list[DeltaShare]:
        if self._automatic:
            # The number of rows decides how many candidates are certified: one at least, with all of δ.
            return [WHOLE]
        return list(weighted_shares(self.weights, list(self._declare_members())).values())

    def _certify(
        self, terms: Terms, members: dict[str, Member], rows: Calibration
    ) -> FamilyCertificate | dict[str, GroupCertificate]:
        if rows.labels is not None:
            names = list(members)
            if self._automatic:
                from pacband.candidates.entrants import group_entrants

                names = group_entrants(terms, names, rows.sizes)
            return certify_candidates_in_groups(terms, {name: members[name] for name in names}, rows, self.progress)
        if self._automatic:
            from pacband.candidates.entrants import entrants

            shares = entrants(terms, list(members), sum(rows.sizes))
        else:
            shares = weighted_shares(self.weights, list(members))
        columns = predict_members({name: members[name] for name in shares}, rows.X, self.progress)
        return certify_family_rows(terms, rows.y, columns, shares, others=rows.others)

    def set_fitted(
        self, members: dict[str, Member], certificate: FamilyCertificate | dict[str, GroupCertificate]
    ) -> None:
        """Set the fitted attributes: from here on, this certificate belongs to these members."""
        self.certificates_: Mapping[str, Certificate | GroupCertificate]
        if isinstance(certificate, FamilyCertificate):
            self.certificate_, self.certificates_, best = certificate, certificate.candidates, certificate.best
        else:
            best = next(iter(certificate))
            self.certificate_, self.certificates_ = certificate[best], certificate
        self.members_, self.best_name_ = members, best
        self.estimators_ = {name: member.predictor for name, member in members.items()}

    def _select(self, name: str | None) -> tuple[Member, Certificate | GroupCertificate]:
        name = self.best_name_ if name is None else name
        check_choice("candidate", name, self.certificates_)
        return self.members_[name], self.certificates_[name]
