"""The automatic family: try many pairs (T, σ̂) on training rows, and keep the few sharpest for the certificate.

A certificate pays for a candidate with log n_F, so few candidates are certified. Trying one on training rows costs the
certificate nothing, so many are tried. Predictors are cross-fitted and blended, and scales are learnt from the
out-of-fold errors of the blend. Every pair is then ranked by what `certify_family` minimises, the mean width of the
band, on rows that neither T nor σ̂ has seen. Calibration rows are not used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.utils import check_random_state

from pacband.candidates.fit_params import FitParams
from pacband.candidates.ledger import Ledger, Tried
from pacband.candidates.members import Member, fit_members
from pacband.candidates.names import explain_names
from pacband.candidates.pairs import Goal
from pacband.candidates.screening import screen
from pacband.candidates.search_plan import SearchPlan, training_digest
from pacband.candidates.workers import Workers
from pacband.certificate.family import sharpness_name
from pacband.core.arrays import Floats, as_numbers, refuse_nonfinite
from pacband.core.checks import check_jobs, check_positive, check_probability
from pacband.core.frozen import FrozenMap
from pacband.core.progress import Progress
from pacband.core.wording import significant
from pacband.exceptions import InvalidInput
from pacband.planning import plan
from pacband.scores import ScoreRule

__all__ = ["AutoFamily", "Automatic", "auto_candidates"]

# At most this many screened pairs become members of the family.
_MOST_MEMBERS = 5
_FEWEST_ROWS = 10
# What a status means, beside the words of the certificate, which chooses one of the candidates.
_STATUS = {"chosen": "candidate", "given": "candidate of yours", "wider": "left out: larger"}
# A printed record shows at most this many of the pairs that were not chosen.
_MOST_WIDER = 8


@dataclass(frozen=True)
class AutoFamily:
    """Fitted members, and the record of all that was tried.

    Attributes
    ----------
    members : mapping of str to Member
        The pairs that may be certified: the sharpest one, then the user's own, then the next sharpest.
    tried : tuple of Tried
        All pairs, the sharpest first, and then what was dropped. ``print(family)`` shows them as a table.
    search_plan : SearchPlan or None
        What was fitted, by which the search can be repeated. None in a file of an earlier version.
    side : str
        The side of the promise. With one side, the width is the mean distance from y to the bound.
    ended : str
        A sentence that says why the search ended: nothing more was to try, the budget, or an interrupt. Empty if a plan
        decided, and in a file of an earlier version.
    """

    members: Mapping[str, Member]
    tried: tuple[Tried, ...]
    search_plan: SearchPlan | None = None
    side: str = "both"
    ended: str = ""

    def __str__(self) -> str:
        wider = [record for record in self.tried if record.status == "wider"]
        shown = [record for record in self.tried if record not in wider[_MOST_WIDER:]]
        sharpness = sharpness_name(self.side)
        rows = [("tried", sharpness, "seconds", ""), *map(_cells, shown)]
        if len(wider) > _MOST_WIDER:
            rows.append((f"and {len(wider) - _MOST_WIDER} more", "", "", "left out: larger still"))
        sizes = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            f"{name:<{sizes[0]}}  {width:>{sizes[1]}}  {seconds:>{sizes[2]}}  {status}".rstrip()
            for name, width, seconds, status in rows
        ]
        first, *words = explain_names([record.name for record in shown]) or [""]
        explained = [first, *(f"  {word}" for word in words)] if first else []
        return "\n".join(
            [
                *table,
                *explained,
                f"The {sharpness} of this table is estimated on training rows, to choose the candidates. Calibration "
                "rows decide: the certificate is about as many candidates as they allow, and names the best.",
                *([self.ended] if self.ended else []),
            ]
        )


def auto_candidates(
    X: Any,
    y: Any,
    *,
    eps: float = 0.05,
    delta: float = 1e-6,
    side: str = "both",
    n_calibration: int | None = None,
    n_jobs: int | None = -1,
    time_budget: float = 300.0,
    random_state: Any = 0,
    progress: Progress | None = None,
    extra: Mapping[str, Member] | None = None,
    extra_parameters: Mapping[str, FitParams] | None = None,
    predictors: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    clusters: npt.NDArray[Any] | None = None,
    plain_rows: bool = True,
    search_plan: SearchPlan | None = None,
) -> AutoFamily:
    """Try many pairs (T, σ̂) on training rows, and return the sharpest, fitted.

    Parameters
    ----------
    X : array or dataframe of shape (n, columns)
        Training rows: numbers, texts and booleans, some of them missing. They must contain no calibration row.
    y : array-like of shape (n,)
        Their targets.
    eps, delta, side
        The promise of the later certificate, as in `certify_family`.
    n_calibration : int, optional
        The number of calibration rows. Widths are measured at the rank that this number allows.
    n_jobs : int or None
        How many cores to use, as in joblib; -1 is every core. With more than one, programs beside this one fit boosting
        and processes: they end with the search.
    time_budget : float
        Seconds. A predictor or scale is dropped if a short trial predicts that it would take too long. If
        the time is enough for all, the result depends on `random_state` alone. A fit of a fold that has begun is not
        ended by the budget. An interrupt (Ctrl-C) ends the search after the fits that run in parallel: the best so far
        is returned, with a warning. Before the first predictor is fitted, and during the last fits, there is no result.
    random_state : int, RandomState or None
        Seeds the folds and the models.
    progress : function of (done, total), optional
        Called after every step.
    extra : mapping of str to Member, optional
        Pairs of the user. They are fitted first, whatever time it takes, and join the family without screening.
    extra_parameters : mapping of str to FitParams, optional
        What the fits of these pairs get beside X and y, such as ``sample_weight``.
    predictors : mapping of str to estimator, optional
        The predictors to try instead of the default ones. They receive a matrix: categories are codes, and missing
        values are NaN.
    kinds : mapping of str to {"number", "category"}, optional
        The kinds of the columns, by name, or by "x0", "x1" and so on in an array. By default a column of numbers or
        booleans is a number, any other column a category.
    clusters : array of shape (n,), optional
        Rows with equal labels, such as those of one machine, stay in one fold.
    plain_rows : bool
        Whether these rows and those to come are independent draws of one distribution. Only then there are warnings of
        numbers that chance does not explain, `OutOfRange`.
    search_plan : SearchPlan, optional
        What to fit, as `AutoFamily.search_plan` of an earlier search recorded it. `time_budget` is then ignored.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (500, 1))
    >>> y = X[:, 0] + np.where(X[:, 0] > 0, 1.0, 0.1) * rng.standard_normal(500)
    >>> family = auto_candidates(X, y, eps=0.1, delta=0.05, predictors={"linear": LinearRegression()})
    >>> [record.status for record in family.tried].count("chosen")
    5
    """
    eps, delta = check_probability("eps", eps), check_probability("delta", delta)
    scoring = ScoreRule.create(side=side, gauge="max", min_scale=None, nonfinite="raise")
    time_budget = check_positive("time_budget", time_budget)
    check_jobs(n_jobs)
    target = _check_target(y)
    training = training_digest(X, y)
    if search_plan is not None:
        if not isinstance(search_plan, SearchPlan):
            raise InvalidInput(f"search_plan must be a SearchPlan or None, got {type(search_plan).__name__}.")
        search_plan.warn_of_other_rows(random_state, training)
    # The user's own come first: an error of theirs need not wait for the search.
    given, records = _fit_given(extra or {}, X, y, clusters, extra_parameters)
    ledger = Ledger(time_budget if search_plan is None else math.inf, progress)
    done = SearchPlan((), (), all_rows=True, rows=len(target), columns=0)
    if np.ptp(target) == 0.0:
        members = {"constant": Member(DummyRegressor().fit(np.zeros((len(target), 1)), target))}
        tried = [Tried("constant", 0.0, 0.0, "chosen")]
    else:
        with Workers(n_jobs) as workers:
            bands, tried, done = screen(
                X,
                target,
                Goal(_expected_level(n_calibration, eps, delta), scoring),
                ledger,
                most=_MOST_MEMBERS,
                random=check_random_state(random_state),
                workers=workers,
                predictors=predictors,
                kinds=kinds,
                clusters=clusters,
                plain_rows=plain_rows,
                plan=search_plan,
            )
        members = {name: Member(band, "std") for name, band in bands.items()}
    if taken := given.keys() & members:
        raise InvalidInput(f"extra must not use the name of a screened candidate, got {min(taken)!r}.")
    sharpest = next(iter(members))
    return AutoFamily(
        FrozenMap({sharpest: members.pop(sharpest), **given, **members}),
        (*tried, *records),
        done.of_search(random_state, training),
        scoring.side,
        ledger.describe_end(),
    )


class Automatic(BaseEstimator):
    """The placeholder of the automatic family among declared candidates."""

    def fit(self, X: Any, y: Any) -> NoReturn:
        """Raise: `CertifiedFamily` replaces the placeholder by the family and fits that."""
        raise InvalidInput("the automatic family is fitted by CertifiedFamily, not alone.")

    predict = fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _check_target(y: Any) -> Floats:
    target = as_numbers("y", y).astype(np.float64)
    if target.ndim != 1:
        raise InvalidInput(f"the automatic family takes one target a row, got y of shape {target.shape}.")
    refuse_nonfinite("y", target)
    if len(target) < _FEWEST_ROWS:
        raise InvalidInput(f"the automatic family needs at least {_FEWEST_ROWS} training rows, got {len(target)}.")
    return target


def _fit_given(
    extra: Mapping[str, Member], X: Any, y: Any, clusters: Any, parameters: Mapping[str, FitParams] | None
) -> tuple[dict[str, Member], list[Tried]]:
    """Fit the user's own pairs, and return them with their records."""
    given: dict[str, Member] = {}
    records = []
    for name, member in extra.items():
        start = perf_counter()
        given |= fit_members({name: member}, X, y, clusters, parameters)
        records.append(Tried(name, None, perf_counter() - start, "given"))
    return given, records


def _expected_level(n_calibration: int | None, eps: float, delta: float) -> float:
    """Return the expected share of scores above the bound: ε, or less if there are few calibration rows."""
    if n_calibration is None:
        return eps
    return plan(eps, delta, n_samples=n_calibration).expected_violation


def _cells(tried: Tried) -> tuple[str, str, str, str]:
    width = "" if tried.width is None else significant(tried.width, 4)
    return tried.name, width, f"{tried.seconds:.1f}", _STATUS.get(tried.status, tried.status)
