"""Acceptance plans: how many samples decide between a good model and a bad one, and how many may violate.

A tolerance is fixed first. N samples are drawn, and the model is accepted if at most c of them violate. If the true
violation probability is p, it is accepted with probability B(c; N, p), where B is the binomial distribution function.
A plan keeps both risks:

    B(c; N, ε₁) ≤ δ        a model that violates with probability ε₁ or more is accepted with probability at most δ,
    1 − B(c; N, ε₀) ≤ β    one that violates with probability ε₀ or less is rejected with probability at most β.

With c = 0 this is success-run testing. N for given c alone is `min_samples(eps, delta, rank=c + 1)`: Wilks' 59, 93 and
124 for ε = δ = 0.05.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from pacband.core.checks import check_probability
from pacband.core.floats import first
from pacband.core.wording import card, figure, percent, round_up
from pacband.exceptions import InvalidInput
from pacband.planning.binomial import binomial_tail, covering_delta, tail_at_least
from pacband.planning.limits import check_eps
from pacband.planning.mistakes import warn_of_mistakes
from pacband.planning.plans import min_samples
from pacband.planning.shares import WHOLE
from pacband.planning.solving import LARGEST_N, exact_samples

__all__ = ["AcceptancePlan", "plan_acceptance"]

# Below this β, the digits of the binomial tail do not decide 1 − B ≤ β.
SMALLEST_BETA = 1e-20


@dataclass(frozen=True, slots=True)
class AcceptancePlan:
    """Draw N samples and accept if at most c of them violate; made by `plan_acceptance`.

    Attributes
    ----------
    n_samples : int
        The number N of samples to draw.
    max_violations : int
        The largest number c of violations with which the model is accepted.
    eps, delta : float
        A model that violates with probability ε or more is accepted with probability at most δ.
    eps_good, beta : float
        A model that violates with probability `eps_good` or less is rejected with probability at most β.
    """

    n_samples: int
    max_violations: int
    eps: float
    delta: float
    eps_good: float
    beta: float

    def accept_probability(self, p: float) -> float:
        """Return B(c; N, p): the probability of acceptance if the true violation probability is p.

        Examples
        --------
        >>> round(plan_acceptance(0.05, 0.05, eps_good=0.01).accept_probability(0.02), 4)
        0.6337
        """
        try:
            p = float(p)
        except (TypeError, ValueError):
            raise InvalidInput(f"p must be a number in [0, 1], got {p!r}.") from None
        if not 0.0 <= p <= 1.0:
            raise InvalidInput(f"p must be in [0, 1], got {p!r}.")
        # With c < N, a model that always violates is never accepted.
        return 1.0 - p if p in (0.0, 1.0) else binomial_tail(self.n_samples, self.max_violations + 1, p)

    @property
    def attained_delta(self) -> float:
        """B(c; N, ε): the probability that a model with violation ε is accepted; at most δ."""
        return covering_delta(self.n_samples, self.max_violations + 1, self.eps, WHOLE.fraction)

    @property
    def attained_beta(self) -> float:
        """1 − B(c; N, eps_good): the probability that a model with this violation is rejected; at most β."""
        n_samples, c = self.n_samples, self.max_violations
        # More than c violations are fewer than N − c rows without one. 1 − eps_good is exact as a fraction only.
        kept: Any = 1 - Fraction(self.eps_good)
        return min(self.beta, covering_delta(n_samples, n_samples - c, kept, WHOLE.fraction))

    @property
    def characteristic(self) -> tuple[tuple[float, float], ...]:
        """The operating characteristic at some violation probabilities: pairs (p, probability of acceptance)."""
        good, bad = self.eps_good, self.eps
        between = [good + (bad - good) * part for part in (0.25, 0.5, 0.75)]
        points = [0.5 * good, good, *between, bad, 1.5 * bad, 2.0 * bad]
        return tuple((p, self.accept_probability(p)) for p in points if p < 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready values."""
        return {
            **asdict(self),
            "attained_delta": self.attained_delta,
            "attained_beta": self.attained_beta,
            "characteristic": [{"p": p, "accept_probability": accepted} for p, accepted in self.characteristic],
        }

    @property
    def procedure(self) -> str:
        """What to do, and what it guarantees, in words."""
        c = self.max_violations
        allowed = "none of them violates" if c == 0 else f"at most {c} of them violate{'s' if c == 1 else ''}"
        return (
            f"Fix the tolerance, draw {self.n_samples} samples the model has not seen, and accept the model if "
            f"{allowed}. A model that violates with probability {_percent_up(self.eps)} or more is accepted with "
            f"probability at most {_risk(self.delta)}. A model that violates with probability "
            f"{_percent_down(self.eps_good)} or less is rejected with probability at most {_risk(self.beta)}."
        )

    def __str__(self) -> str:
        lines = [f"  {percent(p):>8}  {percent(accepted):>8}" for p, accepted in self.characteristic]
        return "\n".join([self.procedure, "violation probability, probability of acceptance:", *lines])

    def _repr_html_(self) -> str:
        return card(
            "pacband acceptance plan",
            self.procedure,
            [
                ("samples N", str(self.n_samples)),
                ("violations allowed c", str(self.max_violations)),
                ("δ promised, attained", f"{figure(self.delta)}, {figure(self.attained_delta)}"),
                ("β promised, attained", f"{figure(self.beta)}, {figure(self.attained_beta)}"),
                *((f"accepted if p = {percent(p)}", percent(accepted)) for p, accepted in self.characteristic),
            ],
        )


def plan_acceptance(eps: float, delta: float, *, eps_good: float, beta: float = 0.1) -> AcceptancePlan:
    """Return the smallest N, and its c, that separate a good model from a bad one.

    Parameters
    ----------
    eps, delta : float in (0, 1)
        A model that violates with probability ε or more must be accepted with probability at most δ.
    eps_good : float in (0, eps)
        The violation probability of a model that is good enough.
    beta : float in (0, 1)
        A model that violates with probability `eps_good` or less must be rejected with probability at most β.

    Returns
    -------
    AcceptancePlan
        `n_samples` is N and `max_violations` is c. Both inequalities are decided exactly, ties included.

    Examples
    --------
    >>> plan = plan_acceptance(0.05, 0.05, eps_good=0.01, beta=0.1)
    >>> plan.n_samples, plan.max_violations
    (153, 3)
    """
    eps, eps_good = check_eps(eps), _check_eps_good(eps_good, eps)
    delta, beta = check_probability("delta", delta), check_probability("beta", beta)
    if beta < SMALLEST_BETA:
        raise InvalidInput(f"beta must be at least {SMALLEST_BETA:g}, got {beta!r}.")
    # Raises for a δ that is not decided exactly, and if even c = 0 needs too many samples.
    min_samples(eps, delta)
    warn_of_mistakes(eps=eps, delta=delta)
    budget, level = WHOLE.budget(delta), 1 - Fraction(beta)

    def smallest(c: int) -> int:
        return exact_samples(eps, c + 1, budget)

    def keeps_beta(c: int, n_samples: int) -> bool:
        return n_samples <= c or tail_at_least(n_samples, c + 1, eps_good, level)

    def may_keep_beta(c: int) -> bool:
        n_samples = smallest(c)
        return n_samples > LARGEST_N or keeps_beta(c, n_samples - 1)

    # N grows with c, so the first c for which the smallest N also keeps β gives the smallest plan. As c grows, the plan
    # gets easier, except that N is rounded up to an integer. With one sample less there is no such rounding: no c is
    # valid unless one sample less keeps β. So bisection finds about the first c, the search steps back by more than
    # rounding can move it, and then tries one c after the other.
    quantiles = _quantile(delta) + _quantile(beta)
    c = first(may_keep_beta, range(LARGEST_N), guess=_guess(eps, delta, eps_good, beta))
    if smallest(c) > LARGEST_N:
        raise InvalidInput(
            f"eps={eps!r} at delta={delta:g} and eps_good={eps_good!r} at beta={beta:g} need more than {LARGEST_N:g} "
            "samples, the most planned for. Choose a smaller eps_good, or a larger delta or beta."
        )
    c = max(0, c - 8 - math.ceil(2.0 * eps * math.sqrt(c) / max(0.05, quantiles)))
    while not keeps_beta(c, n_samples := smallest(c)):
        c += 1
    return AcceptancePlan(n_samples, c, eps, delta, eps_good, beta)


def _check_eps_good(eps_good: Any, eps: float) -> float:
    number = check_probability("eps_good", eps_good)
    if number < 1e-9:
        raise InvalidInput(f"eps_good must be at least 1e-09, got {number!r}.")
    if number >= eps:
        raise InvalidInput(f"eps_good must be smaller than eps={eps:g}, got {number!r}.")
    return number


def _guess(eps: float, delta: float, eps_good: float, beta: float) -> float:
    """Return about the c of the plan, from normal laws."""
    bad, good = _quantile(delta), _quantile(beta)
    root = bad * math.sqrt(eps * (1 - eps)) + good * math.sqrt(eps_good * (1 - eps_good))
    n_samples = (max(0.0, root) / (eps - eps_good)) ** 2
    return min(float(LARGEST_N), n_samples * eps_good + good * math.sqrt(n_samples * eps_good))


def _quantile(risk: float) -> float:
    """Return the upper quantile of the normal law."""
    return -NormalDist().inv_cdf(min(max(risk, 1e-300), 1.0 - 1e-16))


def _percent_up(probability: float) -> str:
    """Format up to six digits in percent, rounded up: what holds from this probability on holds as printed."""
    return f"{figure(100 * round_up(probability, 6))} %"


def _percent_down(probability: float) -> str:
    """Format up to six digits in percent, rounded down."""
    return f"{figure(-100 * round_up(-probability, 6))} %"


def _risk(probability: float) -> str:
    """Format a risk in percent, or as a number below 0.01 %, rounded up."""
    rounded = round_up(probability, 3)
    return percent(rounded) if rounded >= 1e-4 else f"{rounded:g}"
