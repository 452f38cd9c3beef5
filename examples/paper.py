"""The paper's numerical example: Algorithm 1, with every figure beside the one the paper prints.

y = (10 + n₁)x + 10 sin(4x) + 5 + n₂ with x uniform on [−2.5, 2.5]; the best predictor is known, so that the true
violation probability of every bound can be computed instead of estimated.
"""

from __future__ import annotations

from unicodedata import combining

import numpy as np

import pacband
from pacband import baselines, datasets

EPS, DELTA = 0.05, 1e-6
SEEDS = range(20)


def algorithm_1() -> None:
    """Print Algorithm 1 with the paper's rank and with the exact one, and the bounds to compare with."""
    paper = pacband.plan(EPS, DELTA, rule="paper")
    exact = pacband.plan(EPS, DELTA, n_samples=paper.n_samples)
    print(f"Algorithm 1: one bound for every x  (ε = {EPS:g}, δ = {DELTA:g}, N = {paper.n_samples})\n")
    rows = [("", "rank r", "bound ρ", "over seeds", "true violation", "the paper")]
    for name, rule, quoted in (
        ("paper's rank ⌊εN/2⌋", "paper", "r = 51, ρ = 10.77"),
        ("exact rank", "exact", "sharper, same promise"),
        ("largest error", "maximum", "r = 1"),
    ):
        certificates = [_certify(seed, paper.n_samples, rule) for seed in SEEDS]
        bounds = np.array([certificate.gamma for certificate in certificates])
        violations = [datasets.paper_violation(bound) for bound in bounds]
        rows.append(
            (
                name,
                str(certificates[0].rank),
                f"{bounds[0]:.2f}",
                f"{bounds.mean():.2f} ± {bounds.std(ddof=1):.2f}",
                f"{np.mean(violations):.4f} (≤ {max(violations):.4f})",
                quoted,
            )
        )
    _print_table(rows)
    print(f"\n{_certify(0, paper.n_samples, 'exact')}\n")
    print(
        f"The exact rank needs {pacband.min_samples(EPS, DELTA, paper.rank)} samples for the paper's r = {paper.rank}"
    )
    print(f"(the paper: {paper.n_samples}), and with {exact.n_samples} it takes r = {exact.rank} instead.\n")


def comparison() -> None:
    """Print the mean width of each bound, and whether it is certified."""
    X, y = datasets.paper_sample(2065, random_state=0)
    predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
    fixed = pacband.certify(y, predicted, eps=EPS, delta=DELTA)
    conditioned = pacband.certify(y, predicted, scale, eps=EPS, delta=DELTA)
    print("The same errors under other bounds, with the true σ(x) = sqrt(7x² + 3) where one is needed\n")

    def true_violation(factor: float) -> float:
        return datasets.paper_violation(lambda x: factor * datasets.paper_scale(x))

    markov, gauss = float(baselines.markov_bound(1.0, EPS)), float(baselines.gaussian_bound(1.0, EPS))
    rows = [("", "mean half-width", "true violation", "what it rests on")]
    for name, width, violation, basis in (
        ("Algorithm 1", fixed.gamma, datasets.paper_violation(fixed.gamma), "certified from data"),
        (
            "Algorithm 2, σ̂ = σ",
            conditioned.gamma * scale.mean(),
            true_violation(conditioned.gamma),
            "certified from data",
        ),
        ("Markov σ/√ε", markov * scale.mean(), true_violation(markov), "σ known: no such guarantee"),
        ("Gaussian 1.96σ", gauss * scale.mean(), true_violation(gauss), "σ known, Gaussian: no such guarantee"),
    ):
        rows.append((name, f"{width:.2f}", f"{violation:.4f}", basis))
    _print_table(rows)


def _certify(seed: int, n_samples: int, rule: str) -> pacband.Certificate:
    X, y = datasets.paper_sample(n_samples, random_state=seed)
    return pacband.certify(y, datasets.paper_predictor(X), eps=EPS, delta=DELTA, rule=rule)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    def columns(text: str) -> int:
        return sum(not combining(character) for character in text)

    widths = [max(columns(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = (cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True))
        print("  " + "  ".join(cells).rstrip())


if __name__ == "__main__":
    algorithm_1()
    comparison()
