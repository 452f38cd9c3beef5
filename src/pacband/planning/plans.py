"""How many samples a promise takes: (ε, δ, N, r, n_F) solved for any one of them.

Property 1 of the paper: draw N scores independently and let γ̄ be the r-th largest. If

    n_F · B(r − 1; N, ε) ≤ δ,

where B is the binomial distribution function, then with probability at least 1 − δ all n_F candidates satisfy
P{score > γ̄} ≤ ε. Every function here solves this one inequality, exactly, for one of its letters. The rank
must be settled before any score is looked at; that is why planning is a module of its own.

The inequality is decided exactly for ε ≥ 1e-9, δ/n_F ≥ 1e-300 and N ≤ 1e12 (`pacband.planning.binomial`), and by
bisection on integers: each side is monotonic.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from pacband.core.checks import check_choice, check_positive_integer, check_probability
from pacband.core.floats import first, first_float
from pacband.core.wording import card, complement, confidence, figure, round_up
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning.binomial import covering_delta, special, tail_at_most

__all__ = ["Plan", "attained_delta", "attained_eps", "max_rank", "min_samples", "plan"]

SMALLEST_EPS = 1e-9
SMALLEST_BUDGET = 1e-300
LARGEST_N = 10**12
PLAN_RULES = ("exact", "paper", "maximum")

_LEMMA_1 = Decimal("7.47")
_PRECISE = Context(prec=50)


@dataclass(frozen=True, slots=True)
class Plan:
    """A settled choice of (ε, δ, n_F, N, r); made by `plan`.

    Attributes
    ----------
    eps, delta : float
        At most a share ε of future errors may exceed the bound, with confidence 1 − δ.
    n_candidates : int
        The number n_F of candidate models certified at once.
    n_samples, rank : int
        Draw N calibration samples; the r-th largest score is the bound.
    rule : {"exact", "paper", "maximum"}
        How N and r were chosen.
    """

    eps: float
    delta: float
    n_candidates: int
    n_samples: int
    rank: int
    rule: str

    @property
    def attained_delta(self) -> float:
        """n_F·B(r − 1; N, ε), the probability of failure that this plan attains; at most δ."""
        return attained_delta(self.n_samples, self.rank, self.eps, self.n_candidates)

    @property
    def expected_violation(self) -> float:
        """The mean r/(N + 1) of the true violation probability, which follows Beta(r, N − r + 1)."""
        return self.rank / (self.n_samples + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready values."""
        return {**asdict(self), "attained_delta": self.attained_delta, "expected_violation": self.expected_violation}

    def __str__(self) -> str:
        family = f" for each of {self.n_candidates} candidates" if self.n_candidates > 1 else ""
        return (
            f"Draw {self.n_samples} samples the model has not seen and take the score of rank {self.rank} from "
            f"the top: with confidence {confidence(self.delta)}, at least {complement(self.eps)} of future "
            f"errors stay within the bound{family}."
        )

    def _repr_html_(self) -> str:
        return card(
            "pacband plan",
            str(self),
            [
                ("samples N", str(self.n_samples)),
                ("rank r", str(self.rank)),
                ("ε", figure(self.eps)),
                ("δ asked, attained", f"{figure(self.delta)}, {figure(self.attained_delta)}"),
                ("candidates", str(self.n_candidates)),
                ("rule", self.rule),
                ("expected violation r/(N + 1)", figure(self.expected_violation)),
            ],
        )


def min_samples(eps: float, delta: float, rank: int = 1, n_candidates: int = 1, *, rule: str = "exact") -> int:
    r"""Return the smallest N for which the r-th largest score is a valid bound.

    Parameters
    ----------
    eps, delta : float in (0, 1)
        The promise: violation at most ε, with confidence 1 − δ.
    rank : int
        The rank r, counted from the largest score.
    n_candidates : int
        The number n_F of candidates certified at once; each gets δ/n_F.
    rule : {"exact", "corollary"}
        "exact" is the smallest N with B(r − 1; N, ε) ≤ δ/n_F. "corollary" is the closed form of [1]_,
        εN ≥ r − 1 + ln(n_F/δ) + sqrt(2(r − 1) ln(n_F/δ)): sufficient, and a little larger.

    References
    ----------
    .. [1] T. Alamo, R. Tempo, A. Luque, D. R. Ramirez, "Randomized methods for design of uncertain systems:
       sample complexity and sequential algorithms", Automatica 52, 2015, Corollary 1.

    Examples
    --------
    >>> min_samples(0.05, 1e-6)
    270
    >>> min_samples(0.05, 1e-6, rank=51)
    1827
    >>> min_samples(0.05, 1e-6, rank=51, rule="corollary")
    2020
    """
    check_choice("rule", rule, ("exact", "corollary"))
    eps, delta, rank = check_eps(eps), check_probability("delta", delta), check_positive_integer("rank", rank)
    budget = _check_budget(delta, n_candidates)
    solve = _exact_samples if rule == "exact" else _corollary_samples
    return _within_reach(solve(eps, rank, budget), eps, delta, rank)


def max_rank(n_samples: int, eps: float, delta: float, n_candidates: int = 1) -> int:
    """Return the largest rank r that is valid with N samples: the sharpest bound they allow.

    Raises
    ------
    NotEnoughSamples
        If even the largest score (r = 1) is not a valid bound; the message says how many samples (ε, δ)
        take, and what these samples can promise instead.

    Examples
    --------
    >>> max_rank(2065, 0.05, 1e-6)
    60
    >>> max_rank(2407, 0.05, 1e-6, n_candidates=10)
    69
    """
    return plan(eps, delta, n_samples=n_samples, n_candidates=n_candidates).rank


def attained_delta(n_samples: int, rank: int, eps: float, n_candidates: int = 1) -> float:
    """Return min(1, n_F·B(r − 1; N, ε)): the smallest δ that N samples certify at this rank and ε.

    Rounded towards the safe side: the value returned does satisfy the inequality.

    Examples
    --------
    >>> round(attained_delta(59, 1, 0.05), 5)
    0.04849
    """
    n_samples, rank = _check_pair(n_samples, rank)
    eps, n_candidates = check_eps(eps), check_positive_integer("n_candidates", n_candidates)
    return smallest_delta(n_samples, rank, eps, Fraction(1, n_candidates))


def attained_eps(n_samples: int, rank: int, delta: float, n_candidates: int = 1) -> float:
    """Return the smallest ε that N samples certify at this rank and δ.

    The root of n_F·B(r − 1; N, ε) = δ, rounded towards the safe side: the value returned does satisfy the
    inequality. It is 1.0 where no ε below one does.

    Examples
    --------
    >>> round(attained_eps(2065, 60, 1e-6), 6)
    0.049932
    """
    n_samples, rank = _check_pair(n_samples, rank)
    budget = _check_budget(delta, n_candidates)
    limit = float(budget)
    return first_float(
        lambda eps: tail_at_most(n_samples, rank, eps, budget),
        guess=_guess("betainccinv", (rank, n_samples - rank + 1, limit), n_samples, otherwise=rank / n_samples),
    )


def plan(
    eps: float = 0.05,
    delta: float = 1e-6,
    *,
    n_samples: int | None = None,
    rank: int | None = None,
    n_candidates: int = 1,
    rule: str = "exact",
) -> Plan:
    """Settle N and r for a promise (ε, δ), given neither, either or both of them.

    Parameters
    ----------
    eps, delta : float in (0, 1)
        The promise: violation at most ε, with confidence 1 − δ.
    n_samples, rank : int, optional
        Whichever is known. With both, the pair is only checked.
    n_candidates : int
        The number n_F of candidates certified at once.
    rule : {"exact", "paper", "maximum"}
        "exact": given N the largest valid r; given r the smallest valid N; given neither, the smallest N
        whose r = ⌊εN/2⌋ is valid, which is the paper's sharpness for fewer samples.
        "paper": Lemma 1, N ≥ 7.47/ε·ln(n_F/δ) and r = ⌊εN/2⌋.
        "maximum": r = 1 and N ≥ ln(n_F/δ)/ε, the largest score (Tempo, Bai and Dabbene, 1997).

    Examples
    --------
    >>> plan(0.05, 1e-6, rule="paper").n_samples, plan(0.05, 1e-6, rule="paper").rank
    (2065, 51)
    >>> plan(0.05, 1e-6, n_samples=2065).rank
    60
    >>> plan(0.05, 1e-6).n_samples, plan(0.05, 1e-6).rank
    (1310, 32)
    """
    check_choice("rule", rule, PLAN_RULES)
    eps, delta = check_eps(eps), check_probability("delta", delta)
    budget = _check_budget(delta, n_candidates)
    if n_samples is not None:
        n_samples = _check_n_samples(n_samples)
    if rank is not None:
        rank = check_positive_integer("rank", rank)
    if rule == "maximum" and rank not in (None, 1):
        raise InvalidInput(f"rule 'maximum' takes the largest score, so rank must be 1, got {rank}.")

    if n_samples is None:
        n_samples = _within_reach(_samples_by_rule(eps, budget, rank, rule), eps, delta, rank)
    if rank is None:
        rank = _rank_by_rule(n_samples, eps, budget, rule)
    elif rank > n_samples:
        raise InvalidInput(f"rank must not exceed the number of samples, {n_samples}, got {rank}.")
    # Lemma 1 gives rank ⌊εN/2⌋ = 0, no bound at all, where N < 2/ε.
    if rank == 0 or not tail_at_most(n_samples, rank, eps, budget):
        raise _not_enough_samples(n_samples, eps, delta, n_candidates, rank=rank, rule=rule)
    return Plan(
        eps=eps,
        delta=delta,
        n_candidates=int(n_candidates),
        n_samples=n_samples,
        rank=rank,
        rule=rule,
    )


def smallest_delta(n_samples: int, rank: int, eps: float, share: Fraction) -> float:
    """Return the smallest δ, at most 1, of which this share covers B(r − 1; N, ε)."""
    return covering_delta(n_samples, rank, eps, share)


def _largest_valid_rank(n_samples: int, eps: float, budget: Fraction) -> int:
    """Return the largest r with B(r − 1; N, ε) ≤ budget, or 0 where there is none."""
    return -1 + first(
        lambda rank: not tail_at_most(n_samples, rank, eps, budget),
        range(1, n_samples + 1),
        guess=_guess("bdtrik", (float(budget), n_samples, eps), n_samples, eps, otherwise=n_samples * eps / 2) + 1,
    )


def _guess(function: str, arguments: tuple[float, ...], n_samples: int, eps: float = 1.0, *, otherwise: float) -> float:
    """Return where a search starts: what scipy's function says, unless scipy had to be loaded for it."""
    scipy_special = special(n_samples, eps)
    return otherwise if scipy_special is None else float(getattr(scipy_special, function)(*arguments))


def _not_enough_samples(
    n_samples: int, eps: float, delta: float, n_candidates: int, *, rank: int, rule: str
) -> NotEnoughSamples:
    """Return the error that says what (ε, δ) take, and what these samples can promise instead."""
    asked = max(1, rank)
    needed = _samples_by_rule(eps, _check_budget(delta, n_candidates), asked, rule)
    here = max(1, min(rank, n_samples))
    eps_here = attained_eps(n_samples, here, delta, n_candidates)
    delta_here = attained_delta(n_samples, here, eps, n_candidates)
    shared = f", shared {n_candidates} ways," if n_candidates > 1 else ""
    at = f"at rank {asked}" if rule == "exact" else f"by rule {rule!r}"
    offers = [
        *([f"eps={_said(eps_here)} at this delta"] if eps_here < 1 else []),
        *([f"delta={_said(delta_here)} at this eps"] if delta_here < 1 else []),
    ]
    instead = f" These samples can promise {', or '.join(offers)}." if offers else ""
    return NotEnoughSamples(
        f"eps={eps:g} and delta={delta:g}{shared} need at least {needed} samples {at}, "
        f"got n_samples={n_samples}.{instead}",
        n_samples=n_samples,
        needed=needed,
        eps_here=eps_here if eps_here < 1 else None,
        delta_here=delta_here if delta_here < 1 else None,
    )


def _said(probability: float) -> str:
    """Three digits, rounded up so that they hold as they are said; all of them just below one."""
    rounded = round_up(probability, 3)
    return f"{rounded:g}" if rounded < 1 else repr(probability)


def _samples_by_rule(eps: float, budget: Fraction, rank: int | None, rule: str) -> int:
    if rule == "maximum":
        return _ceiling_over_eps(_log_inverse, budget, eps)
    if rule == "paper":
        lemma = _ceiling_over_eps(lambda b: _LEMMA_1 * _log_inverse(b), budget, eps)
        return lemma if rank is None else max(lemma, _first_with_half_rank(rank, eps))
    if rank is not None:
        return _exact_samples(eps, rank, budget)
    return _smallest_with_half_rank(eps, budget)


def _rank_by_rule(n_samples: int, eps: float, budget: Fraction, rule: str) -> int:
    if rule == "maximum":
        return 1
    if rule == "paper":
        return _half_rank(n_samples, eps)
    return _largest_valid_rank(n_samples, eps, budget)


def _half_rank(n_samples: int, eps: float) -> int:
    """⌊εN/2⌋ with ε read as the decimal it was written as: binary floats get ⌊.29·200/2⌋ = 29 wrong."""
    return int(Fraction(repr(eps)) * n_samples / 2)


def _first_with_half_rank(rank: int, eps: float) -> int:
    return math.ceil(2 * rank / Fraction(repr(eps)))


def _smallest_with_half_rank(eps: float, budget: Fraction) -> int:
    """The smallest N whose r = ⌊εN/2⌋ is valid.

    Along one rank, a stretch of N from ⌈2r/ε⌉ to ⌈2(r + 1)/ε⌉ − 1, the tail falls with N; from the end of one
    stretch to the end of the next it falls by a factor of about 2q^(s−1), q = (1 − ε)/(1 − ε/2), s the length of
    the stretch. So the first rank that is valid at the end of its stretch is found by bisection. Above ε = 2/3
    a short stretch of two can make the factor exceed one, for a rank or two; the loop covers these.
    """

    def valid_at_end(rank: int) -> bool:
        return tail_at_most(_first_with_half_rank(rank + 1, eps) - 1, rank, eps, budget)

    most = _half_rank(_ceiling_over_eps(lambda b: _LEMMA_1 * _log_inverse(b), budget, eps), eps) + 2
    rank = 1 + bisect_left(range(1, most), True, key=valid_at_end)
    while any(valid_at_end(earlier) for earlier in range(max(1, rank - 3), rank)):
        rank -= 1
    stretch = range(_first_with_half_rank(rank, eps), _first_with_half_rank(rank + 1, eps))
    return stretch[bisect_left(stretch, True, key=lambda n: tail_at_most(n, rank, eps, budget))]


def _exact_samples(eps: float, rank: int, budget: Fraction) -> int:
    """The smallest N with B(r − 1; N, ε) ≤ budget, or any number above LARGEST_N where that is out of reach."""
    # The closed form is sufficient, so it brackets the answer from above.
    ns = range(rank, min(_corollary_samples(eps, rank, budget), LARGEST_N) + 1)
    if not ns:
        return LARGEST_N + 1
    guess = _guess("bdtrin", (rank - 1, float(budget), eps), rank, otherwise=2 * rank / eps)
    return first(lambda n: tail_at_most(n, rank, eps, budget), ns, guess)


def _corollary_samples(eps: float, rank: int, budget: Fraction) -> int:
    def closed_form(budget: Fraction) -> Decimal:
        log, spare = _log_inverse(budget), rank - 1
        return spare + log + (2 * spare * log).sqrt()

    return max(rank, _ceiling_over_eps(closed_form, budget, eps))


def _ceiling_over_eps(expression: Callable[[Fraction], Decimal], budget: Fraction, eps: float) -> int:
    """⌈expression(budget)/ε⌉ in 50 digits, so that no rounding decides an integer."""
    with localcontext(_PRECISE):
        ratio = expression(budget) / Decimal(eps)
        return max(1, int(ratio.to_integral_value(ROUND_CEILING)))


def _log_inverse(budget: Fraction) -> Decimal:
    return (Decimal(budget.denominator) / Decimal(budget.numerator)).ln()


def check_eps(eps: float) -> float:
    """Return ε where the inequality is decided exactly, or raise."""
    eps = check_probability("eps", eps)
    if eps < SMALLEST_EPS:
        raise InvalidInput(f"eps must be at least {SMALLEST_EPS:g}, got {eps!r}.")
    return eps


def _check_budget(delta: float, n_candidates: int) -> Fraction:
    """Return δ/n_F, the failure probability each candidate may spend, as an exact fraction."""
    budget = Fraction(check_probability("delta", delta)) / check_positive_integer("n_candidates", n_candidates)
    if budget < SMALLEST_BUDGET:
        raise InvalidInput(
            f"delta / n_candidates must be at least {SMALLEST_BUDGET:g}, got {delta!r} / {n_candidates}."
        )
    return budget


def _check_n_samples(n_samples: int) -> int:
    n_samples = check_positive_integer("n_samples", n_samples)
    if n_samples > LARGEST_N:
        raise InvalidInput(f"n_samples must be at most {LARGEST_N:g}, got {n_samples}.")
    return n_samples


def _check_pair(n_samples: int, rank: int) -> tuple[int, int]:
    n_samples, rank = _check_n_samples(n_samples), check_positive_integer("rank", rank)
    if rank > n_samples:
        raise InvalidInput(f"rank must not exceed the number of samples, {n_samples}, got {rank}.")
    return n_samples, rank


def _within_reach(n_samples: int, eps: float, delta: float, rank: int | None) -> int:
    if n_samples > LARGEST_N:
        at_rank = "" if rank is None else f" at rank {rank}"
        raise InvalidInput(
            f"eps={eps:g} and delta={delta:g}{at_rank} take more than {LARGEST_N:g} samples, the most planned for."
        )
    return n_samples
