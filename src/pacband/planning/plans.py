"""How many samples a promise takes: (ε, δ, N, r, n_F) solved for any one of them.

Property 1 of the paper: draw N scores independently and let γ̄ be the r-th largest. If

    n_F · B(r − 1; N, ε) ≤ δ,

where B is the binomial distribution function, then with probability at least 1 − δ all n_F candidates satisfy
P{score > γ̄} ≤ ε. Every function here solves this one inequality, exactly, for one of its letters. The rank
must be chosen before any score is looked at; that is why planning is a room of its own.

The inequality is decided exactly for ε ≥ 1e-9, δ/n_F ≥ 1e-300 and N ≤ 1e12 (`pacband.planning.binomial`), and by
bisection on integers: each side is monotonic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pacband.core.checks import check_choice, check_positive_integer, check_probability
from pacband.core.wording import card, complement, confidence, figure
from pacband.planning.binomial import covering_delta
from pacband.planning.limits import check_eps, check_n_samples, check_pair, check_reach, check_share
from pacband.planning.ranks import check_choice_of_rank, choose_rank, choose_samples
from pacband.planning.shares import DeltaShare
from pacband.planning.solving import corollary_samples, exact_samples, smallest_eps

__all__ = ["Plan", "attained_delta", "attained_eps", "max_rank", "min_samples", "plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A valid choice of (ε, δ, n_F, N, r); made by `plan`.

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
                ("δ promised, attained", f"{figure(self.delta)}, {figure(self.attained_delta)}"),
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
    share = check_share(delta, n_candidates)
    solve = exact_samples if rule == "exact" else corollary_samples
    return check_reach(solve(eps, rank, share.budget(delta)), eps, delta, rank)


def max_rank(n_samples: int, eps: float, delta: float, n_candidates: int = 1) -> int:
    """Return the largest rank r that is valid with N samples: the sharpest bound they allow.

    Raises
    ------
    NotEnoughSamples
        If even the largest score (r = 1) is not a valid bound; the message states how many samples (ε, δ)
        need, and what these samples can promise instead.

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
    n_samples, rank = check_pair(n_samples, rank)
    eps, share = check_eps(eps), DeltaShare(check_positive_integer("n_candidates", n_candidates))
    return covering_delta(n_samples, rank, eps, share.fraction)


def attained_eps(n_samples: int, rank: int, delta: float, n_candidates: int = 1) -> float:
    """Return the smallest ε that N samples certify at this rank and δ.

    The root of n_F·B(r − 1; N, ε) = δ, rounded towards the safe side: the value returned does satisfy the
    inequality. It is 1.0 where no ε below one does.

    Examples
    --------
    >>> round(attained_eps(2065, 60, 1e-6), 6)
    0.049932
    """
    n_samples, rank = check_pair(n_samples, rank)
    delta = check_probability("delta", delta)
    return smallest_eps(n_samples, rank, check_share(delta, n_candidates).budget(delta))


def plan(
    eps: float = 0.05,
    delta: float = 1e-6,
    *,
    n_samples: int | None = None,
    rank: int | None = None,
    n_candidates: int = 1,
    rule: str = "exact",
) -> Plan:
    """Choose N and r for a promise (ε, δ), given neither, either or both of them.

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
        whose r = ⌊εN/2⌋ is valid: as sharp as the paper's rule, with fewer samples.
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
    eps, delta, rank = check_choice_of_rank(eps, delta, rank, rule)
    share = check_share(delta, n_candidates)
    n_samples = (
        choose_samples(eps, delta, share, rank=rank, rule=rule) if n_samples is None else check_n_samples(n_samples)
    )
    return Plan(
        eps=eps,
        delta=delta,
        n_candidates=share.n_candidates,
        n_samples=n_samples,
        rank=choose_rank(n_samples, eps, delta, share, rank=rank, rule=rule),
        rule=rule,
    )
