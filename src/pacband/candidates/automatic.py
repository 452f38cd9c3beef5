"""The automatic family: many pairs (T, σ̂) tried on training rows, the few sharpest kept for the certificate.

A family costs only log n_F, so trying much is cheap; certifying much is not free, so few are certified. Predictors are
cross-fitted and blended, and the blend's honest errors teach the scales. Every pair is then judged by what
`certify_family` will minimise, the mean width of the band, on rows that neither T nor σ̂ has seen. Calibration
rows have no part in any of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.utils import check_random_state

from pacband.candidates.members import Member, Progress, fit_members
from pacband.candidates.screening import Clock, Screening, Tried
from pacband.certification.terms import Terms
from pacband.core.arrays import Floats, as_numbers, name_rows
from pacband.core.checks import check_probability
from pacband.core.frozen import FrozenMap
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import WHOLE, Share, plan
from pacband.planning.binomial import covering_delta
from pacband.planning.shares import rounded_down
from pacband.scores import ScoreRule

__all__ = ["AutoFamily", "Automatic", "Tried", "auto_candidates", "entrants", "group_entrants"]

# How many pairs of ours reach the certificate.
_MOST_MEMBERS = 5
_FEWEST_ROWS = 10
# How many of those that were not chosen a printed record shows.
_MOST_WIDER = 8
# The sharpest one may spend up to this share of δ, the others live on the rest.
_FIRST_SHARE = 0.9


@dataclass(frozen=True)
class AutoFamily:
    """Fitted members, and the record of all that was tried.

    Attributes
    ----------
    members : mapping of str to Member
        The pairs that may go into the certificate: the sharpest, those of one's own, and then the next sharpest.
    tried : tuple of Tried
        All pairs, the sharpest first, and then what did not come to a pair. ``print(family)`` shows them as a table.
    """

    members: Mapping[str, Member]
    tried: tuple[Tried, ...]

    def weights(self, n_samples: int, eps: float, delta: float) -> dict[str, float]:
        """Return the members that N calibration rows can certify, and the share of δ of each; see `entrants`."""
        terms = Terms.create(eps=eps, delta=delta, side="both", min_scale=None, nonfinite="raise", gauge="max")
        shares = entrants(terms, list(self.members), n_samples)
        return {name: float(share.fraction) for name, share in shares.items()}

    def __str__(self) -> str:
        wider = [record for record in self.tried if record.status == "wider"]
        shown = [record for record in self.tried if record not in wider[_MOST_WIDER:]]
        rows = [("candidate", "width", "seconds", ""), *map(_cells, shown)]
        if len(wider) > _MOST_WIDER:
            rows.append((f"and {len(wider) - _MOST_WIDER} more", "", "", "wider still"))
        sizes = [max(len(row[k]) for row in rows) for k in range(3)]
        return "\n".join(
            f"{name:<{sizes[0]}}  {width:>{sizes[1]}}  {seconds:>{sizes[2]}}  {status}".rstrip()
            for name, width, seconds, status in rows
        )


def entrants(terms: Terms, names: Sequence[str], n_samples: int) -> dict[str, Share]:
    """Return which candidates N calibration rows can certify, and the share of δ of each.

    A rank is an integer, so the first candidate rarely needs all of δ for its rank. It gets what it needs, and as many
    others as can be certified share the rest. This looks at nothing but (N, ε, δ): it is chosen before looking at the
    rows.

    Parameters
    ----------
    terms : Terms
        The promise.
    names : sequence of str
        The candidates, the most promising first.
    n_samples : int
        N.

    Raises
    ------
    NotEnoughSamples
        If not even the first can be certified.

    Examples
    --------
    >>> terms = Terms.create(eps=0.1, delta=0.05, side="both", min_scale=None, nonfinite="raise", gauge="max")
    >>> {name: round(share.weight, 2) for name, share in entrants(terms, ["a", "b", "c"], 88).items()}
    {'a': 0.39, 'b': 0.3, 'c': 0.3}
    """
    first, *others = names
    terms.choose_rank(n_samples, WHOLE)
    for kept in range(len(others), 0, -1):
        try:
            rank = terms.choose_rank(n_samples, Share(1, _FIRST_SHARE))
            # What the first needs of δ for its rank, as a part of it.
            needed = covering_delta(n_samples, rank, terms.eps, Fraction(terms.delta))
            share = Share(kept + 1, rounded_down((1 - Fraction(needed)) / kept))
            terms.choose_rank(n_samples, share)
        except NotEnoughSamples:
            continue
        return {first: Share(kept + 1, needed), **dict.fromkeys(others[:kept], share)}
    return {first: WHOLE}


def group_entrants(terms: Terms, names: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return which candidates can be certified within every group, in even shares of δ.

    Parameters
    ----------
    terms : Terms
        The promise.
    names : sequence of str
        The candidates, the most promising first.
    sizes : sequence of int
        The number of calibration rows of each group.

    Raises
    ------
    NotEnoughSamples
        If not even the first can be certified.

    Examples
    --------
    >>> terms = Terms.create(eps=0.1, delta=0.05, side="both", min_scale=None, nonfinite="raise", gauge="max")
    >>> group_entrants(terms, ["a", "b", "c"], [40, 90])
    ['a']
    >>> group_entrants(terms, ["a", "b", "c"], [90, 90])
    ['a', 'b', 'c']
    """
    smallest = min(sizes)
    for kept in range(len(names), 1, -1):
        try:
            terms.choose_rank(smallest, Share(kept).among(len(sizes)))
        except NotEnoughSamples:
            continue
        return list(names[:kept])
    terms.choose_rank(smallest, Share(len(sizes)))
    return list(names[:1])


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
    predictors: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> AutoFamily:
    """Try many pairs (T, σ̂) on training rows, and return the sharpest, fitted.

    Parameters
    ----------
    X : array or dataframe of shape (n, columns)
        Training rows: numbers, texts and booleans, with gaps. Not one calibration row may be among them.
    y : array-like of shape (n,)
        Their targets.
    eps, delta, side
        The promise to come, as in `certify_family`.
    n_calibration : int, optional
        How many rows will calibrate: widths are judged at the rank that they allow.
    n_jobs : int or None
        Threads, as in joblib; -1 is every core.
    time_budget : float
        Seconds. A predictor or scale is left out where, going by a trial on few rows, it would take too long. The
        budget can only leave out: where it is ample, the result depends on `random_state` alone. A fit that has
        begun is not interrupted.
    random_state : int, RandomState or None
        Seeds the folds and the models.
    progress : function of (done, total), optional
        Called after every step.
    extra : mapping of str to Member, optional
        Pairs of one's own. They are fitted, and join the family unscreened.
    predictors : mapping of str to estimator, optional
        The predictors to try instead of the default ones. They see a matrix: categories as codes, gaps as NaN.
    kinds : mapping of str to {"number", "category"}, optional
        What the columns hold, by name, or by "x0", "x1" and so on in an array. By default a column of numbers and
        booleans holds numbers, any other one categories.

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
    if isinstance(time_budget, bool) or not isinstance(time_budget, (int, float)) or not time_budget > 0:
        raise InvalidInput(f"time_budget must be a positive number of seconds, got {time_budget!r}.")
    target = _checked_target(y)
    clock = Clock(float(time_budget), progress)
    if np.ptp(target) == 0.0:
        members = {"constant": Member(DummyRegressor().fit(np.zeros((len(target), 1)), target))}
        tried = [Tried("constant", 0.0, 0.0, "chosen")]
    else:
        search = Screening(
            X,
            target,
            level=_level(n_calibration, eps, delta),
            scoring=scoring,
            random=check_random_state(random_state),
            clock=clock,
            n_jobs=n_jobs,
            predictors=predictors,
            kinds=kinds,
        )
        bands, tried = search.run(_MOST_MEMBERS)
        members = {name: Member(band, "std") for name, band in bands.items()}
    given: dict[str, Member] = {}
    for name, member in (extra or {}).items():
        if name in members:
            raise InvalidInput(f"a candidate of one's own needs a name of its own, got {name!r}.")
        start = perf_counter()
        given |= fit_members({name: member}, X, y)
        tried.append(Tried(name, None, perf_counter() - start, "given"))
    sharpest = next(iter(members))
    return AutoFamily(FrozenMap({sharpest: members.pop(sharpest), **given, **members}), tuple(tried))


class Automatic(BaseEstimator):
    """What stands for the automatic family among declared candidates, until it is found."""

    def fit(self, X: Any, y: Any) -> NoReturn:
        """Raise: a family is found by `CertifiedFamily`, not fitted alone."""
        raise InvalidInput("the automatic family is fitted by CertifiedFamily, not alone.")

    predict = fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _checked_target(y: Any) -> Floats:
    target = as_numbers("y", y).astype(np.float64)
    if target.ndim != 1:
        raise InvalidInput(f"the automatic family takes one target a row, got y of shape {target.shape}.")
    if not np.isfinite(target).all():
        raise InvalidInput(f"y must be finite: it is NaN or infinite in {name_rows(~np.isfinite(target))}.")
    if len(target) < _FEWEST_ROWS:
        raise InvalidInput(f"the automatic family needs at least {_FEWEST_ROWS} training rows, got {len(target)}.")
    return target


def _level(n_calibration: int | None, eps: float, delta: float) -> float:
    """Return the share of scores above the bound to come: ε, or less where few rows calibrate."""
    if n_calibration is None:
        return eps
    return plan(eps, delta, n_samples=n_calibration).expected_violation


def _cells(tried: Tried) -> tuple[str, str, str, str]:
    width = "" if tried.width is None else f"{tried.width:.4g}"
    return tried.name, width, f"{tried.seconds:.1f}", tried.status
