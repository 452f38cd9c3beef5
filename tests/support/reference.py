"""Second opinions on the binomial tail B(r − 1; N, ε), none of which shares a line with pacband.

`exact_tail` is rational arithmetic, for small N. `tail` is 60 digits or better for any N: a sum of term ratios
while there are few terms, and else a Gauss-Legendre quadrature of the incomplete beta integral, whose cost does
not grow with N. `test_planning` checks the three against each other.
"""

import csv
import math
from fractions import Fraction
from functools import cache
from itertools import accumulate
from pathlib import Path

import mpmath

DIGITS = 85
FEW_TERMS = 3000
REFERENCE_TABLE = Path(__file__).parents[1] / "reference" / "min_samples.csv"


def reference_cases():
    """The 360 cases (ε, δ, r, N, attained δ) that came with the project."""
    with REFERENCE_TABLE.open(newline="") as file:
        return [
            (float(row["eps"]), float(row["delta"]), int(row["rank"]), int(row["min_samples"]), row["attained_delta"])
            for row in csv.DictReader(file)
        ]


def exact_tails(n_samples, eps):
    """B(0; N, ε), …, B(N − 1; N, ε) as fractions, for the rational number that the float `eps` is."""
    eps = Fraction(eps)
    masses = (math.comb(n_samples, k) * eps**k * (1 - eps) ** (n_samples - k) for k in range(n_samples))
    return list(accumulate(masses))


def exact_tail(n_samples, rank, eps):
    """B(r − 1; N, ε) as a fraction."""
    return exact_tails(n_samples, eps)[rank - 1]


def tail(n_samples, rank, eps, *, few_terms=FEW_TERMS):
    """B(r − 1; N, ε) to 60 digits or better, as an mpf."""
    with mpmath.workdps(DIGITS):
        chance = mpmath.mpf(eps)
        if rank > n_samples:
            return mpmath.mpf(1)
        if rank - 1 <= n_samples * chance:
            return +_lower_tail(n_samples, rank - 1, chance, few_terms)
        # Above the mean: P(X ≤ r − 1) = 1 − P(N − X ≤ N − r), and N − X is binomial with chance 1 − ε.
        return 1 - _lower_tail(n_samples, n_samples - rank, 1 - chance, few_terms)


def mass(n_samples, k, eps):
    """P(X = k) for X binomial (N, ε), to 60 digits or better."""
    with mpmath.workdps(DIGITS):
        chance = mpmath.mpf(eps)
        return mpmath.exp(
            mpmath.loggamma(n_samples + 1)
            - mpmath.loggamma(k + 1)
            - mpmath.loggamma(n_samples - k + 1)
            + k * mpmath.log(chance)
            + (n_samples - k) * mpmath.log1p(-chance)
        )


def at_most(value, budget):
    """Whether value ≤ budget, where sides that agree to 50 digits are equal: both may be rounded."""
    with mpmath.workdps(DIGITS):
        return value <= budget * (1 + mpmath.mpf("1e-50"))


def is_smallest_sample(n_samples, rank, eps, delta):
    """Whether B(r − 1; N, ε) ≤ δ < B(r − 1; N − 1, ε): N is the answer, and no smaller N is.

    One more trial fails to keep X ≤ r − 1 only by a success at X = r − 1, hence
    B(r − 1; N − 1, ε) = B(r − 1; N, ε) + ε·P(X_{N−1} = r − 1).
    """
    with mpmath.workdps(DIGITS):
        here = tail(n_samples, rank, eps)
        if n_samples == rank:
            return at_most(here, delta)
        before = here + mpmath.mpf(eps) * mass(n_samples - 1, rank - 1, eps)
        return at_most(here, delta) and not at_most(before, delta)


def attained_eps(n_samples, rank, delta):
    """The root ε of B(r − 1; N, ε) = δ to 40 digits, bracketed and then solved for in ln(ε/(1 − ε))."""
    with mpmath.workdps(DIGITS):
        target = mpmath.mpf(delta)

        def excess(logit):
            return mpmath.log(tail(n_samples, rank, 1 / (1 + mpmath.exp(-logit))) / target)

        centre = mpmath.log(mpmath.mpf(rank) / (n_samples - rank + 1))
        width = mpmath.mpf(1)
        low, high = centre - width, centre + width
        while excess(low) < 0:
            width *= 2
            low -= width
        while excess(high) > 0:
            width *= 2
            high += width
        root = mpmath.findroot(excess, (low, high), solver="anderson", tol=1e-45, maxsteps=200)
        return 1 / (1 + mpmath.exp(-root))


def _lower_tail(n_samples, k, chance, few_terms):
    """P(X ≤ k) for k at or below the mean of X."""
    if k < 0:
        return mpmath.mpf(0)
    spread = math.sqrt(float(n_samples * chance * (1 - chance)))
    if min(k, 18 * spread + 250) <= few_terms:
        ratio_sum = _sum_of_ratios(n_samples, k, chance)
    else:
        ratio_sum = _integral_of_ratios(n_samples, k, chance)
    return mass(n_samples, k, chance) * ratio_sum


def _sum_of_ratios(n_samples, k, chance):
    """Σ_{i ≤ k} P(X = i)/P(X = k), term by term."""
    odds = (1 - chance) / chance
    term = total = mpmath.mpf(1)
    for i in range(k, 0, -1):
        term *= odds * i / (n_samples - i + 1)
        total += term
        if term < mpmath.eps * total:
            break
    return total


def _integral_of_ratios(n_samples, k, chance):
    """The same sum as (N − k)/(1 − ε)·∫₀ (1 + u/ε)^k (1 − u/(1 − ε))^(N−k−1) du, by quadrature.

    The incomplete beta integral over t = ε + u, divided by its integrand at t = ε. The integrand is 1 at u = 0,
    log-concave, and cut off where it falls below 10⁻⁷².
    """
    failure = 1 - chance

    def log_integrand(u):
        return k * mpmath.log1p(u / chance) + (n_samples - k - 1) * mpmath.log1p(-u / failure)

    cut = -72 * mpmath.log(10)
    low, high = mpmath.mpf(0), failure
    with mpmath.workdps(40):
        while high - low > high / 100:
            middle = (low + high) / 2 if low or high < failure / 1e6 else high / 16
            low, high = (middle, high) if log_integrand(middle) > cut else (low, middle)
    value = high * sum(weight * mpmath.exp(log_integrand(node * high)) for node, weight in _gauss_legendre())
    return value * (n_samples - k) / failure


@cache
def _gauss_legendre(n_nodes=180):
    """Nodes and weights on (0, 1), to all digits, by Newton's method on the Legendre polynomial of even degree."""
    rule = []
    with mpmath.workdps(DIGITS + 10):
        for i in range(n_nodes // 2):
            x = mpmath.cos(mpmath.pi * (i + mpmath.mpf("0.75")) / (n_nodes + mpmath.mpf("0.5")))
            for _ in range(8):
                value, previous = x, mpmath.mpf(1)
                for degree in range(2, n_nodes + 1):
                    value, previous = ((2 * degree - 1) * x * value - (degree - 1) * previous) / degree, value
                slope = n_nodes * (x * value - previous) / (x * x - 1)
                step = value / slope
                x -= step
                if abs(step) < mpmath.mpf(10) ** -(DIGITS + 5):
                    break
            weight = 1 / ((1 - x * x) * slope * slope)
            rule += [((1 + x) / 2, weight), ((1 - x) / 2, weight)]
    return tuple(rule)


def relative_error(value, reference):
    """Return |value/reference − 1| from 60 digits."""
    with mpmath.workdps(60):
        return float(abs(mpmath.mpf(value) / reference - 1))


def anywhere(rng):
    """Draw N and r over the whole range, from either end of the ranks."""
    n_samples = int(10 ** rng.uniform(0, 12))
    rank = min(n_samples, int(10 ** rng.uniform(0, math.log10(n_samples + 1))))
    return n_samples, rank if rng.random() < 0.7 else n_samples + 1 - rank


def near_the_worst(rng):
    """Draw N and r where floats err most.

    Up to N = 2³¹ the error of betaincc at small ranks grows like 3e-20·N; beyond, another expansion is used.
    """
    return int(2**31 * rng.uniform(0.8, 1.1)), int(10 ** rng.uniform(0, 1.7))
